import { readFileSync } from 'node:fs';
import { AcuityClient, History, memoryStorage } from 'acuity/client';
import { fromOura } from 'acuity/client/adapters';

const request = JSON.parse(readFileSync('docs/examples/adapters/recording.json', 'utf8'));
const { recording, age, sex } = request.current_session; // what the API answered
const { at, night, session, left } = fromOura({ ...recording, person: { age, sex } });
const history = new History(AcuityClient.fromEnvironment(process.env), memoryStorage());
const { scores } = await history.score('person-1', at, session, { night });
for (const { what, why } of left) console.warn(what, why); // what was sent and not used
console.log(scores);
