/**
 * `npm run check`: finds words, and beginnings of files and docstrings, that make sentences hard to read, with the
 * remedy (docs/internals/CONTRIBUTING.md). `--count` counts folders, long files and those beginnings.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
  'docs/internals/CONTRIBUTING.md',
  'package-lock.json',
  'LICENSE',
  'packages/cases',
  'native-models/acuity-base',
];

const git = (...args) => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout.trimEnd();
const PATHS = git('ls-files', '--cached', '--others', '--exclude-standard')
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)));
const textOf = (path) => readFileSync(join(ROOT, path), 'utf8');
/** Paths and texts of our sources. */
const OURS = PATHS.filter((path) => /\.(ts|js|cjs)$/.test(path)).map((path) => [path, textOf(path)]);
const SRC = OURS.filter(([path]) => path.startsWith('src/'));

/** Files of `src` whose first docstring says something else than what the file is. */
const heads = () =>
  SRC.filter(([path, text]) => !saysWhatItIs(path, text)).map(([path, text]) => {
    const [first = 'no docstring'] = /\/\*\*.*/.exec(text) ?? [];
    return `${path}: ${first.trim()}`;
  });

/**
 * The first docstring stands before the imports or apart from what follows; or it belongs to the only export, or to
 * the export that the file is named after (`batch.ts`: Batch, openBatch).
 */
function saysWhatItIs(path, text) {
  const first = /^( *)\/\*\*[^]*?\*\/\n/m.exec(text);
  if (first === null || first[1] !== '') return false;
  const after = text.slice(first.index + first[0].length);
  if (/^(\n|import )/.test(after)) return true;
  const EXPORT =
    /^export (?:(?:declare|abstract|async) )*(?:const|let|class|function|interface|type)\*? (\w+)/;
  const [, name] = EXPORT.exec(after) ?? [];
  if (name === undefined) return false;
  const names = new Set([...text.matchAll(new RegExp(EXPORT, 'gm'))].map(([, each]) => each));
  const file = path.replace(/^.*\/|\.ts$/g, '');
  return names.size === 1 || name.toLowerCase().endsWith(file.toLowerCase());
}

/** Docstrings that open with a clause, which a reader must finish before the sentence has a subject. */
const clauses = () =>
  OURS.filter(([path]) => /^(src|assembly|packages\/(adapters|rules)|test\/fixtures)\//.test(path)).flatMap(
    ([path, text]) =>
      [...text.matchAll(/^ *\/\*\*\s+(?:\* )?((?:What|Of|So many|As many|That)\b.*)/gm)].map(
        ({ index, 1: sentence }) => `${path}:${text.slice(0, index).split('\n').length}: ${sentence}`,
      ),
  );

const COMMENT = /\/\*[^]*?\*\/|(?<=^|\s)\/\/ .*$/gm;
const CODE_SPAN = /(?<!`)`[^`\n]+`/g;
const FILE = /(?<![\w/.:@#-])(?:[\w.-]+\/)*[\w.-]+\.(?:md|ts|js|cjs|py|rs|sh)\b(?![\w(/])/g;
/** Packages, and what is built or installed. */
const ELSEWHERE = /^uWebSockets\.js$|^(node_modules|dist|\.build)\/|\/dist\//;

/** Files that comments or `docs/internals` name, by the end of a path, compiled or not, and that the repository has not. */
function citations() {
  const known = new Set(
    PATHS.flatMap((path) => path.split('/').map((_, first, parts) => parts.slice(first).join('/'))),
  );
  const isKnown = (name) => known.has(name) || known.has(name.replace(/js$/, 'ts')) || ELSEWHERE.test(name);
  const pages = PATHS.filter((path) => path.startsWith('docs/internals/'));
  return [
    ...OURS.map(([path, text]) => [path, text.match(COMMENT)]),
    ...pages.map((path) => [path, textOf(path).match(CODE_SPAN)]),
  ].flatMap(([path, texts]) => {
    const names = (texts ?? [])
      .flatMap((text) => text.match(FILE) ?? [])
      .map((name) => name.replace(/^(\.\.?\/)+/, ''));
    return names.filter((name) => !isKnown(name)).map((name) => `${path}: ${name}`);
  });
}

const countIn = (found) => found.filter((line) => line.startsWith('src/')).length;
if (process.argv.includes('--count')) {
  const counts = {
    'rooms (folders) of src': new Set(SRC.flatMap(([path]) => path.split('/').slice(1, -1)[0] ?? [])).size,
    'files of src': SRC.length,
    'files of src over 300 lines': SRC.filter(([, text]) => text.split('\n').length > 301).length,
    'files of src whose first sentence is about something else': countIn(heads()),
    'docstrings of src that open with a clause': countIn(clauses()),
  };
  for (const [name, count] of Object.entries(counts)) process.stdout.write(`${count} ${name}\n`);
  process.exit();
}

const words = [...Object.entries(WORDS).map(([any, instead]) => [`\\b(${any})\\b`, instead]), [BEHIND, '"after", for time and order']]; // prettier-ignore
const files = ['--', '.', ...LEFT_OUT.map((path) => `:!${path}`)];
const findings = [
  ...words.map(([pattern, instead]) => [git('grep', '-nIiP', pattern, ...files), instead]),
  [citations().join('\n'), 'a file of this repository, or a sentence'],
  [heads().join('\n'), 'at the head what the file is, or first the export that it is named after'],
  [clauses().join('\n'), 'the thing or the verb first'],
];
for (const [found, instead] of findings)
  if (found !== '') process.stderr.write(`${found}\ninstead: ${instead}\n\n`);
process.exitCode = findings.some(([found]) => found !== '') ? 1 : 0;
