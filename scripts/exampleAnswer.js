import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './prepare.js';

/**
 * What the default model answers to `docs/examples/request.json`, as a fenced block for a document.
 * @param {NodeJS.ProcessEnv} env
 */
export function exampleAnswer(env = process.env) {
  const request = JSON.stringify(JSON.parse(readFileSync(join(ROOT, 'docs/examples/request.json'), 'utf8')));
  const args = [join(ROOT, 'dist/main.js'), 'score'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    input: `${request}\n`,
    encoding: 'utf8',
    env,
  });
  if (status !== 0) throw new Error(`the example request was not scored: ${stderr}`);
  // Rows have a number and name their model, which an HTTP response has in a header.
  const answer = Object.entries(JSON.parse(stdout)).filter(([field]) => !/^(row|model)/.test(field));
  return `\`\`\`json\n${JSON.stringify(Object.fromEntries(answer))}\n\`\`\`\n`;
}
