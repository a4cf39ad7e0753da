import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MEANING_OF_40 } from '#training/evaluation/card.js';
import { REPOSITORY } from '../fixtures/repository.js';
import { manifestOf } from '../fixtures/model.js';

const page = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');
const CARD = page('native-models/acuity-base/MODEL_CARD.md');
const TOP = CARD.slice(0, CARD.indexOf('## The points'));
const words = (text: string): string => text.replace(/\s+/g, ' ');

t.test('the card is that of the network beside it', async (t) => {
  const { name, version, featuresHash } = manifestOf(join(REPOSITORY, 'native-models/acuity-base'));
  t.ok(CARD.startsWith(`# ${name} ${version}\n`), version);
  t.ok(CARD.includes(`\`${featuresHash.slice(0, 16)}…\``));
});

t.test('every point has a verdict, and each demand that falls short is told at the top', async (t) => {
  for (const number of Array.from({ length: 16 }, (_, index) => index + 1)) {
    t.match(CARD, new RegExp(`^\\| ${number} \\| .+ \\| (holds|falls short) \\|$`, 'm'), `point ${number}`);
    t.match(CARD, new RegExp(`^## ${number}\\. `, 'm'));
  }
  const short = CARD.split('\n').filter((line) => /^\| .+ \| \*\*falls short\*\* \|/.test(line));
  for (const line of short) {
    const [, demand = ''] = line.split(' | ')[0]?.split('| ') ?? [];
    t.ok(CARD.includes(`falls short: ${demand}; found`), demand);
  }
});

t.test('the card and docs/SCORES.md agree on what a 40 means', async (t) => {
  t.ok(words(CARD).includes(MEANING_OF_40));
  t.ok(words(page('docs/SCORES.md')).includes(MEANING_OF_40));
});

t.test('the README’s figure is the card’s', async (t) => {
  const found = /off by ([\d.]+) points of attention on average, this network by ([\d.]+)/;
  t.strictSame(found.exec(words(page('README.md')))?.slice(1), found.exec(words(TOP))?.slice(1));
  t.ok(found.test(words(TOP)));
});

for (const path of ['docs/SCORES.md', 'CHANGELOG.md']) {
  t.test(`what moves by how much since 0.2.0 stands in ${path} as in the card`, async (t) => {
    const rows = page(path)
      .split('\n')
      .filter((line) => /^\|.*[+−]\d+\.\d/.test(line));
    t.ok(rows.length >= 8);
    for (const row of rows) t.ok(CARD.includes(row), row);
  });
}
