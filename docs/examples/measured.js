import { readFileSync } from 'node:fs';
import { AcuityClient, History, memoryStorage, SessionBuilder } from 'acuity/client';

const answers = [2, 3, 1, 2, 1, 3, 2, 2, 1, 2]; // to the ten questions, as they were given

const night = JSON.parse(readFileSync('docs/examples/wearable.json', 'utf8'));
const builder = new SessionBuilder(night.at)
  .person({ age: 34, sex: 'F' })
  .heartRate(night.heartRate)
  .respiratoryRate(night.respiratoryRate)
  .sleepStages(night.stages);
const history = new History(AcuityClient.fromEnvironment(process.env), memoryStorage());
const { scores, unmeasured } = await history.score('person-1', night.at, builder.build(), {
  night: builder.wokeOn(),
  measurements: [{ test: 'pss10', answers, on: '2025-02-28' }], // once: the history keeps it
});
console.log({ stress: scores.stress, unmeasured: unmeasured?.stress });
