import type { ExplainTable } from '#acuity/model/explainTable.js';
import type { Manifest } from '#acuity/model/manifest.js';
import { markdown } from './markdown.js';
import { nightsTable } from './nightsTable.js';
import type { Section } from './section.js';
import { verdictOf } from './summary.js';

export const APPENDIX = 'MODEL_CARD_APPENDIX.md';

export interface Card {
  readonly manifest: Manifest;
  readonly sections: readonly Section[];
  /** How many simulated people were judged. */
  readonly people: number;
  readonly table: ExplainTable | undefined;
}

/** Everything that the first page leaves out, by points. */
export function appendix(card: Card): string {
  const { manifest, sections, table } = card;
  const parts = [
    `# Appendix to the card of ${manifest.name} ${manifest.version}`,
    `The [card](MODEL_CARD.md) is one page. This is the rest: the points that the network has to hold, each with what was
demanded, what was found, and by how much. \`npm run model:evaluate\` wrote it. It scores simulated people never seen in
training through the service's own reader, features and ONNX sessions; points 8, 17, 19 and 20 use recordings of real people.`,
    summary(sections),
    shortfalls(sections),
    training(card),
    `## What each further night earns\n\n${markdown(nightsTable(sections, table))}\n\nPoints. What is to be expected is known for simulated people; from point 3. What is usual is that of an explained request; its limits are in \`explain.json\`.`,
    ...sections.map(sectionText),
    provenance(),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The link to a point within the appendix, as GitHub makes it of a heading. */
export function anchorOf(sections: readonly Section[], number: number): string {
  const section = sections.find((one) => one.number === number);
  if (section === undefined) return '';
  const words = headingOf(section).toLowerCase().replace(/[^\p{L}\p{N} -]/gu, ''); // prettier-ignore
  return `#${words.replaceAll(' ', '-')}`;
}

function headingOf({ number, title }: Section): string {
  return `${number}. ${title}`;
}

function summary(sections: readonly Section[]): string {
  const rows = sections.map((section) => [
    String(section.number),
    `[${section.title}](${anchorOf(sections, section.number)})`,
    verdictOf(section),
  ]);
  return `## The points\n\n${markdown({ caption: '', header: ['point', 'what', 'verdict'], rows })}`;
}

function shortfalls(sections: readonly Section[]): string {
  const short = sections.flatMap(({ number, demands }) =>
    demands
      .filter(({ holds }) => holds === false)
      .map(({ demand, found }) => `- Point ${number} falls short: ${demand}; found ${found}.`),
  );
  return ['## What falls short', '', ...(short.length === 0 ? ['Nothing.'] : short)].join('\n');
}

function training({ manifest: { training: made, featuresHash }, people }: Card): string {
  const facts = Object.entries(made)
    .filter(([, value]) => typeof value === 'number')
    .map(([name, value]) => `${name} ${String(value)}`);
  return `## How it was made

- Trained on: ${facts.join(', ')}. Feature catalogue \`${featuresHash.slice(0, 16)}…\`.
- Judged on ${people} other people of another seed.
- The graph without history is the encoder of the current session with its heads. With history, past sessions are pooled by
  fixed weights and today is set against the pool. A gate lets past targets through as far as they say something that the
  network did not say itself. So the service's own scores, fed back, hardly move it; measured scores do.
- Labels are High where the probability is at least one half: where High is likelier than Low for a typical person of that
  age and sex.
- \`npm run model:build\` makes it again. \`native-models/training/README.md\` says how, and which choices were made.`;
}

function sectionText(section: Section): string {
  const isCompared = section.demands.some(({ useless }) => useless !== undefined);
  const demands = section.demands.map(({ demand, found, holds, useless = '' }) => [
    demand,
    found,
    holds === undefined ? 'not tested' : holds ? 'holds' : '**falls short**',
    ...(isCompared ? [useless] : []),
  ]);
  return [
    `## ${headingOf(section)}`,
    ...(section.about === undefined ? [] : [section.about]),
    markdown({
      caption: '',
      header: ['demand', 'found', '', ...(isCompared ? ['what a useless predictor gets'] : [])],
      rows: demands,
    }),
    ...section.tables.map((table) => markdown(table)),
    ...section.figures.map(({ file, caption }) => `![${caption}](figures/${file})`),
    ...section.notes,
  ].join('\n\n');
}

function provenance(): string {
  return `## Licence and data

The network and the cohort are part of this repository and under its licence. No recording of a real person was used
for training, and none is in the repository; points 8, 17, 19 and 20 hold results only.`;
}
