import { readFileSync } from 'node:fs';
import { AcuityClient } from 'acuity/client';
import { fromOura } from 'acuity/client/adapters';

const request = JSON.parse(readFileSync('docs/examples/adapters/recording.json', 'utf8'));
const { recording, age, sex } = request.current_session; // what the API answered
const { session, left } = fromOura({ ...recording, person: { age, sex } });
for (const { what, why } of left) console.warn(what, why); // what was sent and not used
const client = AcuityClient.fromEnvironment(process.env);
const { scores } = await client.predict({ current_session: session });
console.log(scores);
await client.close();
