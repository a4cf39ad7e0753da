import { readFileSync } from 'node:fs';
import { AcuityClient, History, memoryStorage } from 'acuity/client';
import { fromTerra } from 'acuity/client/adapters';

const sent = JSON.parse(readFileSync('docs/examples/adapters/terra.json', 'utf8')); // the bodies of two webhooks
const { night, session } = fromTerra({ ...sent, at: '2026-03-02T06:30:00Z', zone: 'Europe/Berlin' });
const history = new History(AcuityClient.fromEnvironment(process.env), memoryStorage());
const { scores } = await history.score('person-1', session, { night });
console.log(scores);
