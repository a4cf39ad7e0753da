import { readFileSync } from 'node:fs';
import { AcuityClient, History, memoryStorage } from 'acuity/client';
import { fromOura } from 'acuity/client/adapters';

const sent = JSON.parse(readFileSync('docs/examples/adapters/oura.json', 'utf8')); // what the API answered
const { night, session, left } = fromOura({
  ...sent,
  at: '2026-03-02T06:30:00Z',
  person: { age: 34, sex: 'F' },
});
const history = new History(AcuityClient.fromEnvironment(process.env), memoryStorage());
const { scores } = await history.score('person-1', session, { night });
for (const { what, why } of left) console.warn(what, why); // what was sent and not used
console.log(scores);
