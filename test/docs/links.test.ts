import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { REPOSITORY } from '../fixtures/repository.js';

const DOCUMENTS = [
  ...readdirSync(REPOSITORY),
  ...['docs', 'examples', 'packages/client-ts', 'packages/client-python'].flatMap((folder) =>
    readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => !/(^|\/)(node_modules|build|dist)\//.test(path))
      .map((path) => join(folder, path)),
  ),
].filter((path) => path.endsWith('.md'));

/** Links of Markdown, and the pictures of HTML. */
const LINK = /(?:\]\(|\b(?:src|srcset|href)=")([^)"\s]+)[)"]/g;
/** Packages that are published apart link to the repository by its address. */
const ADDRESS = (
  JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as { repository: { url: string } }
).repository.url.replace(/^git\+|\.git$/g, '');

const FENCE = /^```[^]*?^```/gm;

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

t.test('links between the documents lead to a page and to a heading of it', async (t) => {
  t.ok(DOCUMENTS.length > 20);
  for (const path of DOCUMENTS) {
    const page = readFileSync(join(REPOSITORY, path), 'utf8');
    for (const [, target = ''] of page.replace(FENCE, '').matchAll(LINK)) {
      const ours = target.startsWith(ADDRESS) ? target.slice(ADDRESS.length) : undefined;
      if (ours === undefined && /^[a-z]+:/.test(target)) continue;
      const [file = '', anchor] = (ours ?? target).split('#');
      const beside = file === '' ? path : join(dirname(path), file);
      const found = ours === undefined ? beside : file.replace(/^\/(?:blob|tree)\/main\//, '');
      if (!existsSync(join(REPOSITORY, found))) t.fail(`${path}: ${target}`);
      else if (anchor !== undefined && found.endsWith('.md'))
        t.ok(anchorsOf(readFileSync(join(REPOSITORY, found), 'utf8')).has(anchor), `${path}: ${target}`);
    }
  }
});
