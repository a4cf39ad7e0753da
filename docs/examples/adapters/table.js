import { readFileSync } from 'node:fs';
import { AcuityClient, History, memoryStorage } from 'acuity/client';
import { SessionBuilder } from 'acuity/client/adapters';

const [, ...lines] = readFileSync('docs/examples/adapters/night.csv', 'utf8').trim().split('\n');
const rows = lines.map((line) => line.split(',')); // from, to, what, value
const of = (name) => rows.filter((row) => row[2] === name).map((row) => ({ at: row[0], value: +row[3] }));
const stages = rows.filter((row) => row[1]).map(([from, to, stage]) => ({ stage, from, to }));
const at = '2026-03-02T06:30:00Z';
const builder = new SessionBuilder(at)
  .heartRate(of('heart'))
  .respiratoryRate(of('breath'))
  .sleepStages(stages);
const history = new History(AcuityClient.fromEnvironment(process.env), memoryStorage());
const { scores } = await history.score('person-1', builder.build(), { night: '2026-03-02' });
console.log(scores);
