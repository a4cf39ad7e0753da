import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const [, , stored = ''] = process.argv; // the person's history: empty before the first night
const recording = JSON.parse(readFileSync('docs/examples/callers/oura.json', 'utf8'));
const current_session = { recording, age: 34, sex: 'F' };
const history = existsSync(stored) ? readFileSync(stored, 'utf8') : '';
const answer = await fetch(`${process.env.ACUITY_URL}/predict`, {
  method: 'POST',
  headers: { 'X-API-Key': `${process.env.ACUITY_API_KEY}`, 'Content-Type': 'application/json' },
  body: JSON.stringify({ current_session, history, explain: true }),
});
if (!answer.ok) throw new Error(await answer.text());
const said = await answer.json();
writeFileSync(stored, said.history);
console.log(`${said.recording.night}\n${said.explanation.scores.stress.text}`);
