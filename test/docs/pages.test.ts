import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { errorFor } from '#acuity/client/answer.js';
import { VARIABLES, type Variable } from '#acuity/config/variables.js';
import { FINDING_TYPES, MALFORMED, PROBLEMS, UNPROCESSABLE } from '#acuity/contract/problems.js';
import { requestSchema, sessionSchema } from '#acuity/contract/request.js';
import { PredictionResponseSchema } from '#acuity/contract/response.js';
import { filesBelow, REPOSITORY, textOf } from '../fixtures/repository.js';

const PAGES = [
  ...readdirSync(REPOSITORY),
  ...(
    await Promise.all(
      ['docs', 'examples', 'packages/client-ts', 'packages/client-python'].map(async (folder) =>
        (await filesBelow(folder))
          .filter((path) => !/(^|\/)(build|dist)\//.test(path))
          .map((path) => join(folder, path)),
      ),
    )
  ).flat(),
].filter((path) => path.endsWith('.md'));

/** Links of Markdown, and the pictures of HTML. */
const LINK = /(?:\]\(|\b(?:src|srcset|href)=")([^)"\s]+)[)"]/g;
/** Packages that are published apart link to the repository by its address. */
const { repository } = JSON.parse(textOf('package.json')) as { repository: { url: string } };
const ADDRESS = repository.url.replace(/^git\+|\.git$/g, '');
const FENCE = /^```[^]*?^```/gm;
/** In backticks, as the pages name files of the repository. */
const PATH = /`((?:test|src|scripts|packages|native-models|deploy|docs|bench)\/[\w./-]+)`/g;
/** Paths that are not of this repository. */
const FOREIGN_PATHS = ['src/vital/types'];

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const headings = page.replace(FENCE, '').matchAll(/^#{1,6} +(.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) => {
      const words = heading.replace(/\]\([^)]*\)/g, '').toLowerCase();
      const anchor = words.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
      const times = seen.get(anchor) ?? 0;
      seen.set(anchor, times + 1);
      return times === 0 ? anchor : `${anchor}-${times}`;
    }),
  );
}

t.test('links lead to a page and to a heading of it, and files that pages name exist', async (t) => {
  t.ok(PAGES.length > 20);
  for (const path of PAGES) {
    const page = textOf(path).replace(FENCE, '');
    for (const [, target = ''] of page.matchAll(LINK)) {
      const ours = target.startsWith(ADDRESS) ? target.slice(ADDRESS.length) : undefined;
      if (ours === undefined && /^[a-z]+:/.test(target)) continue;
      const [file = '', anchor] = (ours ?? target).split('#');
      const beside = file === '' ? path : join(dirname(path), file);
      const found = ours === undefined ? beside : file.replace(/^\/(?:blob|tree)\/main\//, '');
      if (!existsSync(join(REPOSITORY, found))) t.fail(`${path}: ${target}`);
      else if (anchor !== undefined && found.endsWith('.md'))
        t.ok(anchorsOf(textOf(found)).has(anchor), `${path}: ${target}`);
    }
    if (path === 'CHANGELOG.md' || path.startsWith('examples/')) continue;
    for (const [, name = ''] of page.matchAll(PATH)) {
      const names = [name, `${name}.test.ts`, join('native-models/acuity-base', name)];
      const isThere = FOREIGN_PATHS.includes(name) || names.some((one) => existsSync(join(REPOSITORY, one)));
      t.ok(isThere, `${path}: ${name}`);
    }
  }
});

t.test('words after `npm test --` are parts of paths of tests', async (t) => {
  const tests = (await filesBelow('test')).filter((path) => path.endsWith('.test.ts'));
  const paths = tests.map((path) => `.build/test/${path.replace(/ts$/, 'js')}`);
  for (const page of PAGES) {
    const commands = textOf(page).matchAll(/`[^`\n]*npm test -- ([^`\n|]+)`/g);
    const words = [...commands].flatMap(([, given = '']) => given.trim().split(/\s+/));
    for (const word of words) {
      if (word === word.toUpperCase()) continue; // NAME stands for any
      const isThere = paths.some((path) => path.includes(word));
      t.ok(isThere, `${page}: ${word}`);
    }
  }
});

/** Rows of a page's tables, by the names in the first cell. */
function rowsOf(path: string): ReadonlyMap<string, readonly string[]> {
  const rows = textOf(path)
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('|---'));
  return new Map(
    rows.flatMap((line) => {
      const cells = line.slice(2, -2).split(' | ');
      return (cells[0] ?? '').split(', ').map((name) => [name.replaceAll('`', ''), cells] as const);
    }),
  );
}

t.test('every field has its row in API, with its range', async (t) => {
  const rows = rowsOf('docs/API.md');
  for (const { properties } of [requestSchema(), sessionSchema(), PredictionResponseSchema])
    for (const [name, schema] of Object.entries(properties)) {
      const [, range = ''] = rows.get(name) ?? [];
      t.ok(rows.has(name), name);
      const { minimum, maximum, maxItems } = schema as Readonly<Record<string, number | undefined>>;
      if (maximum !== undefined) t.match(range, `${minimum} to ${maximum}`, name);
      if (maxItems !== undefined && name.includes('R_'))
        t.match(range, maxItems.toLocaleString('en-US'), name);
    }
});

t.test('every refusal stands in ERRORS with its remedy and the SDK’s error, and no other', async (t) => {
  const page = textOf('docs/ERRORS.md');
  const listed = [...page.matchAll(/^\| (\d{3}) \| `?(.+?)`? \| (.+?) \| `(\w+)`.*\|$/gm)];
  for (const [, status, detail = '', , error] of listed) {
    const refusal = { status: Number(status), detail, findings: [], requestId: '', retryAfterS: undefined, limit: undefined, headers: {} }; // prettier-ignore
    t.equal(errorFor(refusal).name, error, detail);
  }
  const lines = listed.map(([, status, detail, remedy]) => `${status} ${detail} ${remedy}`);
  const known = Object.values(PROBLEMS).map(({ status, detail, remedy }) => `${status} ${detail} ${remedy}`);
  for (const line of known) t.ok(lines.includes(line), line);
  const others = lines.filter((line) => !known.includes(line)).map((line) => Number(line.slice(0, 3)));
  t.strictSame(others, [MALFORMED.status, UNPROCESSABLE.status]);
  const rows = rowsOf('docs/ERRORS.md');
  for (const type of FINDING_TYPES) t.ok((rows.get(type)?.[2] ?? '').length > 8, type);
});

t.test(
  'each variable with an address that the service connects to is in the list of connections',
  async (t) => {
    const addresses = Object.values<Variable>(VARIABLES).filter(({ secret = false }) => secret);
    t.ok(addresses.length > 2);
    for (const { env } of addresses) t.match(textOf('docs/SECURITY.md'), `\`${env}\``, env);
  },
);
