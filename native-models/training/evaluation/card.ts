import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '#acuity/model/manifest.js';
import { anchorOf, appendix, APPENDIX, type Card } from './cardAppendix.js';
import { markdown } from './markdown.js';
import { measuredError } from './measured.js';
import { decisiveOf, told } from './nightsTable.js';
import { signed, type Section } from './section.js';
import { verdictOf } from './summary.js';

const PLOT = 'dose-one-night.svg';

/** Rewrites the card of `folder`, a first page and its appendix: the fixed text is here, every number is from the sections. */
export function writeCard(folder: string, judged: Omit<Card, 'manifest'>): void {
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  const card = { ...judged, manifest };
  writeFileSync(join(folder, 'MODEL_CARD.md'), firstPage(card));
  writeFileSync(join(folder, APPENDIX), appendix(card));
}

/** The same sentence stands in docs/SCORES.md. */
export const MEANING_OF_40 =
  'A score of 40 does not say that this person is at the 40th percentile. It says that people of the same age and sex with such recordings are there on average, while each of them may be anywhere between 0 and 100.';

/** What everybody should read: what it is, what for, what not, six figures, one plot. */
export function firstPage({ manifest: { name, version }, sections }: Card): string {
  const figures = decisiveOf(sections);
  const of = (figure: string, digits = 1): string => told(figures.get(figure) ?? NaN, digits);
  const changed = (fall: string): string => signed(-(figures.get(fall) ?? NaN), 1);
  return [
    `# ${name} ${version}`,
    `**Fitted to simulated people, not to patients. A fit to a simulation is not clinical validity, and this is not a
medical device**: its scores must not decide about anyone's health, work or treatment.`,
    `The [appendix](${APPENDIX}) has each point with demands, tables and plots.
\`npm run model:evaluate\` wrote every number on both.`,
    `## What it is

A small network. It takes heart rate and breathing of the last hour and of the night, sleep stages, age, sex, height,
weight, and up to five earlier sessions with their scores. It gives \`attention\`, \`memory\`, \`reasoning\` and \`stress\`
as expected percentiles within age and sex (50 is typical; more \`stress\` is more load), \`C_SCORE\` (0.4 attention + 0.3
memory + 0.3 reasoning), and the likelier side of \`valence\` and \`arousal\`.

${MEANING_OF_40}

It was trained on simulated people alone. Their model follows published studies; effect sizes were set by hand, with
sources ([parameters](../training/cohort/parameters.md)). So it only repeats what the studies say.`,
    `## What it is for

- Direction and rough size of changes in a person's scores with sleep or heart rate.
- Averages over many people or days.
${measuredLine(of)}`,
    `## What it is not for

- Diagnosis, fitness for a task, decisions about people, comparing two people.
- A single day's figure. Fever, alcohol and anything else that makes the heart beat faster raise \`stress\`.
- Mood. Treat \`valence\` and \`arousal\` as little better than a coin.
- People unlike the simulated ones: under 18, over 85, pregnant, on medication that acts on the heart, with sleep apnoea,
  or working shifts.
- A trend across a change of device (one that reads higher looks like a faster heart) or of the network.`,
    `## Six figures\n\n${markdown({ caption: '', header: ['what', 'figure', 'point'], rows: sixFigures(figures) })}`,
    plotOf(sections),
    `## In real people

No open data that we know pair heart rate, breathing and sleep stages with tests of cognition; some have parts
(points [8](${APPENDIX}${anchorOf(sections, 8)}) and [20](${APPENDIX}${anchorOf(sections, 20)})):

- **Daily ratings** (PMData, ${of('PMData people', 0)} people): within a person, scores go with mood, stress, fatigue and readiness by a
  correlation of ${of('PMData score', 2)} on average. Minutes asleep alone: ${of('PMData minutes asleep', 2)}. The mean of the person's own last five ratings:
  ${of('PMData own ratings', 2)}.
- **A short night** (SleepyBrain): after some 3 h of sleep, vigilance speed changed by ${changed('SleepyBrain fall, Young')} percentiles in
  young people and by ${changed('SleepyBrain fall, Old')} in old ones; the network says ${changed('SleepyBrain served fall, Young')} and ${changed('SleepyBrain served fall, Old')}.
- **Tests at 60 and over** (NHANES): beyond age and sex, pulse and hours slept explain ${of('NHANES digit symbol')} % of a
  digit symbol test; the network's attention from the same two explains ${of('NHANES digit symbol, score')} %.`,
    shortfalls(sections),
  ]
    .map((part) => part.trim())
    .join('\n\n')
    .concat('\n');
}

/** What tests buy: point 17. */
function measuredLine(of: (figure: string, digits?: number) => string): string {
  const [one, two, five] = [1, 2, 5].map((tests) => of(measuredError(tests)));
  return `- A person's level, if tests are sent as \`measurements\`: attention is off by ${of('attention error unmeasured')} points without a test, by ${one}, ${two}
  and ${five} with one, two and five (simulated people); by ${of('SleepyBrain measured')} instead of ${of('SleepyBrain always 50')} with one real test (SleepyBrain).`;
}

function sixFigures(figures: ReadonlyMap<string, number>): string[][] {
  const of = (name: string): string => told(figures.get(name) ?? NaN, 1);
  const share = (score: string): string => `${told(100 * (figures.get(`${score} explained`) ?? NaN), 1)} %`;
  return [
    ['Share of the differences in attention between people on a day, explained with five sessions (simulated people)', share('attention'), '1'],
    ['The same of memory, reasoning, stress', ['memory', 'reasoning', 'stress'].map(share).join(', '), '1'],
    ['Mean error of attention, points; of always saying 50', `${of('attention error')}; ${of('attention error of always 50')}`, '1'],
    ['Five nights of 4 h in place of 8 h: attention, points', of('five nights of 4 h'), '6'],
    ['A night without sleep: attention, points', of('a night without sleep'), '14'],
    ['Another ordinary device: how far it moves a score on average, points', of('device distance'), '12'],
  ]; // prettier-ignore
}

function plotOf(sections: readonly Section[]): string {
  const figure = sections.flatMap(({ figures }) => figures).find(({ file }) => file === PLOT);
  return figure === undefined ? '' : `![${figure.caption}](figures/${figure.file})`;
}

function shortfalls(sections: readonly Section[]): string {
  const short = sections.filter((section) => verdictOf(section) === 'falls short');
  if (short.length === 0) return '## What falls short\n\nNothing: all points hold.';
  const points = short.map(
    ({ number, title }) => `- [${number}. ${title}](${APPENDIX}${anchorOf(sections, number)})`,
  );
  const others = sections.length - short.length;
  return `## What falls short

${points.join('\n')}

The other ${others} points hold. [What is missed, and by how much](${APPENDIX}#what-falls-short).`;
}
