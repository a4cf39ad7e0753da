/** `npm run check`: finds words that make sentences hard to read, with their usual replacements (docs/CONTRIBUTING.md). */
import { spawnSync } from 'node:child_process';
import { ROOT } from './prepare.js';

const WORDS = {
  nobody: 'say who or what does not: "without a reader", "an unused bucket"',
  'whatever|whoever': 'name it: "any", "every"; the caller, the operator, the reader',
  'so long as|as ever': '"while", "if"; "as usual"',
  'told of': '"learns of", "called with", "reported"',
  'thereby|whereby|wherein|therein|lest': 'an ordinary conjunction',
};
/** A server stands behind a proxy, and something is left behind; for time and order it is "after". */
const BEHIND = String.raw`(?<!left |leave |leaves |leaving |nothing |data )\bbehind (?!((an?|the|one|its|each) )?([\w-]+ )?(prox|HAProxy|nginx|load balancer|gateway))(?=\w)`;
/** Text that names the words, or that is generated. */
const LEFT_OUT = [
  'scripts/words.js',
  'docs/CONTRIBUTING.md',
  'package-lock.json',
  'LICENSE',
  'packages/cases',
  'native-models/acuity-base',
];

let isFound = false;
for (const [pattern, instead] of [
  ...Object.entries(WORDS).map(([words, instead]) => [`\\b(${words})\\b`, instead]),
  [BEHIND, '"after", for time and order'],
]) {
  const files = ['--', '.', ...LEFT_OUT.map((path) => `:!${path}`)];
  const { stdout } = spawnSync('git', ['grep', '-nIiP', pattern, ...files], { cwd: ROOT, encoding: 'utf8' });
  if (stdout === '') continue;
  isFound = true;
  process.stderr.write(`${stdout}instead: ${instead}\n\n`);
}
process.exitCode = isFound ? 1 : 0;
