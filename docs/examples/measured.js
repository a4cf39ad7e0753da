import { readFileSync } from 'node:fs';
import { AcuityClient, History, memoryStorage } from 'acuity/client';

const answers = [2, 3, 1, 2, 1, 3, 2, 2, 1, 2]; // to the ten questions, as they were given

const recording = JSON.parse(readFileSync('docs/examples/callers/oura.json', 'utf8'));
const history = new History(AcuityClient.fromEnvironment(process.env), memoryStorage());
const { scores, unmeasured, measured } = await history.score(
  'person-1',
  { recording, age: 34, sex: 'F' },
  { measurements: [{ test: 'pss10', answers, on: '2026-03-01' }] }, // once: the history keeps it
);
console.log({ stress: scores.stress, unmeasured: unmeasured?.stress, percentile: measured?.[0]?.value });
