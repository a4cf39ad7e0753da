import { readFileSync } from 'node:fs';
import { AcuityClient, History, memoryStorage } from 'acuity/client';

const night = JSON.parse(readFileSync('docs/examples/wearable.json', 'utf8'));
const history = new History(AcuityClient.fromEnvironment(process.env), memoryStorage());
const { scores } = await history.score('person-1', {
  recording: {
    provider: 'intervals', // or 'oura', 'terra', … and what its API answered, unchanged
    at: night.at,
    stages: night.stages, // [{ stage: 'deep', from: '…', to: '…' }, …]
    heart_rate: night.heartRate, // [{ at: '2025-03-01T06:45:00Z', value: 71 }, …]
    respiratory_rate: night.respiratoryRate,
  },
  age: 34,
  sex: 'F',
});
console.log(scores);
