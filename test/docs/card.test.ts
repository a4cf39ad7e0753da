import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { firstPage, MEANING_OF_40 } from '#training/evaluation/card.js';
import { anchorOf } from '#training/evaluation/cardAppendix.js';
import type { Section } from '#training/evaluation/section.js';
import { REPOSITORY } from '../fixtures/repository.js';
import { manifestOf } from '../fixtures/model.js';

const FOLDER = 'native-models/acuity-base';
const FIRST_PAGE_WORDS_MAX = 900;
const page = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');
const CARD = page(`${FOLDER}/MODEL_CARD.md`);
const APPENDIX = page(`${FOLDER}/MODEL_CARD_APPENDIX.md`);
const MANIFEST = manifestOf(join(REPOSITORY, FOLDER));
const words = (text: string): string => text.replace(/\s+/g, ' ');
const countWords = (text: string): number => words(text).trim().split(' ').length;
const imagesOf = (text: string): string[] =>
  [...text.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, file = '']) => file);
/** The rows of a section's tables, without their heads. */
function rowsBelow(text: string, heading: string): string[] {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| what |'));
}

t.test('card and appendix are those of the network beside them', async (t) => {
  const { name, version, featuresHash } = MANIFEST;
  t.ok(CARD.startsWith(`# ${name} ${version}\n`), version);
  t.ok(APPENDIX.startsWith(`# Appendix to the card of ${name} ${version}\n`), version);
  t.ok(APPENDIX.includes(`\`${featuresHash.slice(0, 16)}…\``));
});

t.test('the card is one page: what it is, what for, what not, six figures, one plot', async (t) => {
  t.ok(countWords(CARD) <= FIRST_PAGE_WORDS_MAX, `${countWords(CARD)} words`);
  for (const heading of ['What it is', 'What it is for', 'What it is not for', 'In real people'])
    t.match(CARD, new RegExp(`^## ${heading}$`, 'm'));
  const figures = rowsBelow(CARD, 'Six figures');
  t.equal(figures.length, 6);
  for (const row of figures) t.match(row, /\d/);
  t.equal(imagesOf(CARD).length, 1);
  t.notMatch(CARD, /\bNaN\b| – %/);
});

t.test('the page stays one page where every point falls short', async (t) => {
  const sections = Array.from({ length: 24 }, (_, index) => fallenShort(index + 1));
  const text = firstPage({ manifest: MANIFEST, sections, people: 0, table: undefined });
  for (const { title } of sections) t.ok(text.includes(title));
  t.ok(countWords(text) <= FIRST_PAGE_WORDS_MAX, `${countWords(text)} words`);
});

function fallenShort(number: number): Section {
  return {
    number,
    title: `A title as long as those of points, ${number}`,
    demands: [{ demand: 'something', found: 'less', holds: false }],
    tables: [],
    figures: [{ file: 'dose-one-night.svg', caption: 'A caption of a plot, of usual length', svg: '' }],
    notes: [],
  };
}

t.test('plots are there, and links into the appendix lead to its headings', async (t) => {
  for (const file of imagesOf(CARD + APPENDIX)) t.ok(existsSync(join(REPOSITORY, FOLDER, file)), file);
  const headings = [...APPENDIX.matchAll(/^## (\d+)\. (.+)$/gm)].map(([, number = '', title = '']) => ({
    ...fallenShort(Number(number)),
    title,
  }));
  const anchors = headings.map(({ number }) => anchorOf(headings, number));
  const links = [...`${CARD}${APPENDIX}`.matchAll(/\]\((?:MODEL_CARD_APPENDIX\.md)?(#\d[^)]*)\)/g)];
  t.ok(links.length >= headings.length);
  for (const [, link = ''] of links) t.ok(anchors.includes(link), link);
});

t.test('every point has a verdict, and each demand that falls short is told at the top', async (t) => {
  const points = Array.from({ length: 22 }, (_, index) => index + 1);
  for (const number of points) {
    t.match(
      APPENDIX,
      new RegExp(`^\\| ${number} \\| .+ \\| (holds|falls short) \\|$`, 'm'),
      `point ${number}`,
    );
    t.match(APPENDIX, new RegExp(`^## ${number}\\. `, 'm'));
  }
  const short = APPENDIX.split('\n').filter((line) => /^\| .+ \| \*\*falls short\*\* \|/.test(line));
  for (const line of short) {
    const [, demand = ''] = line.split(' | ')[0]?.split('| ') ?? [];
    t.ok(APPENDIX.includes(`falls short: ${demand}; found`), demand);
  }
});

t.test('the card and docs/SCORES.md agree on what a 40 means', async (t) => {
  t.ok(words(CARD).includes(MEANING_OF_40));
  t.ok(words(page('docs/SCORES.md')).includes(MEANING_OF_40));
});

t.test('the README’s figure is the card’s', async (t) => {
  const said = /off by ([\d.]+) points of attention on average, this network by ([\d.]+)/;
  const row = rowsBelow(CARD, 'Six figures').find((line) => line.includes('Mean error of attention')) ?? '';
  const [error, always50] = row.split(' | ')[1]?.split('; ') ?? [];
  t.strictSame(said.exec(words(page('README.md')))?.slice(1), [always50, error]);
});

t.test('tables of docs/SCORES.md are the card’s', async (t) => {
  const blocks = [
    ...page('docs/SCORES.md').matchAll(
      /<!-- (\w+): generated by npm run model:evaluate -->\n([^]*?)\n<!-- \/\1 -->/g,
    ),
  ];
  t.strictSame(
    blocks.map(([, name]) => name),
    ['nights', 'sendings'],
  );
  for (const [, name = '', table = ''] of blocks) t.ok(APPENDIX.includes(table), name);
});

t.test('what tests buy is told in docs/MEASURED.md as in the card', async (t) => {
  const block = /<!-- tests: generated by npm run model:evaluate -->\n([^]*?)\n<!-- \/tests -->/;
  const [, table = ''] = block.exec(page('docs/MEASURED.md')) ?? [];
  t.match(table, /\d/);
  t.ok(APPENDIX.includes(table));
});

t.test('what README.md and docs/SCORES.md say of real people is what the card found', async (t) => {
  const found = APPENDIX.split('\n').filter((line) =>
    /^\| (PMData, within a person: scores say more|SleepyBrain: speed|NHANES 60\+)/.test(line),
  );
  t.ok(found.length >= 5, 'made with the data of point 20');
  for (const line of found) {
    const [, correlation = NaN] = (/\| (−?[\d.]+) \[/.exec(line) ?? []).map(Number);
    const isNextToNothing = line.includes('**falls short**') || correlation < 0.1;
    t.ok(isNextToNothing, 'else renew “no more … than minutes asleep do” and “next to nothing about single tests”'); // prettier-ignore
  }
  for (const path of ['README.md', 'docs/SCORES.md', `${FOLDER}/MODEL_CARD.md`])
    t.notMatch(words(page(path)), /no open data pair/i, path);
  for (const path of ['README.md', 'docs/SCORES.md'])
    t.match(words(page(path)), /than minutes asleep do, and next to nothing about single tests/, path);
});
