import { readFileSync } from 'node:fs';
import { AcuityClient, History, memoryStorage, SessionBuilder } from 'acuity/client';

const night = JSON.parse(readFileSync('docs/examples/wearable.json', 'utf8'));
const builder = new SessionBuilder(night.at)
  .person({ age: 34, heightCm: 178, weightKg: 74, sex: 'F' })
  .heartRate(night.heartRate) // [{ at: '2025-03-01T06:45:00Z', value: 71 }, …]
  .respiratoryRate(night.respiratoryRate)
  .sleepStages(night.stages); // [{ stage: 'deep', from: '…', to: '…' }, …]
const history = new History(AcuityClient.fromEnvironment(process.env), memoryStorage());
const { scores } = await history.score('person-1', night.at, builder.build(), { night: builder.wokeOn() });
console.log(scores);
