import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '#acuity/model/manifest.js';
import type { Context } from './context.js';
import { markdown } from './markdown.js';
import type { Section } from './section.js';
import { verdictOf } from './summary.js';

/** Rewrites MODEL_CARD.md of `folder`: what stands fixed in it is here, every number is from the sections. */
export function writeCard(folder: string, sections: readonly Section[], context: Context): void {
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  const text = [
    introduction(manifest),
    scoreMeaning(),
    summary(sections),
    limits(sections),
    training(manifest, context),
    ...sections.map(sectionText),
    provenance(),
  ].join('\n\n');
  writeFileSync(join(folder, 'MODEL_CARD.md'), `${text}\n`);
}

function introduction({ name, version }: Manifest): string {
  return `# ${name} ${version}

**Fitted to simulated people, not to patients. A fit to a simulation is not clinical validity, and this is not a
medical device**: its scores must not decide about anyone's health, work or treatment. No open data pair heart rate,
breathing and sleep stages with cognitive scores in the same people. The network is therefore trained on a documented
generative model of people, parametrised from the literature (\`native-models/training/cohort/parameters.md\`, sources
beside it) and held against real data where such data exist (point 8).

Every number below was written by \`npm run model:evaluate\`, which scores simulated people never seen in training
through the service's own reader, features and ONNX sessions.`;
}

function scoreMeaning(): string {
  return `## What the scores mean

- \`attention\`, \`memory\`, \`reasoning\`: the expected percentile of the person's present capacity within age and sex; 50
  is typical. \`stress\`: the same of the load; higher is more. Where age or sex is missing, within the whole population.
- \`C_SCORE\`: 0.4 attention + 0.3 memory + 0.3 reasoning, computed in the graph.
- \`valence\`, \`arousal\`: High where its probability is at least one half, that is, where High is likelier than Low for
  a typical person of that age and sex.
- Most scores lie near 50, because the day's biometrics say little about a person. A score of 40 does not mean that the
  person is at the 40th percentile: it means that among people with such recordings the mean percentile is 40.`;
}

function summary(sections: readonly Section[]): string {
  const rows = sections.map((section) => [String(section.number), section.title, verdictOf(section)]);
  return `## The eleven points\n\n${markdown({ caption: '', header: ['point', 'what', 'verdict'], rows })}`;
}

function limits(sections: readonly Section[]): string {
  const short = sections.flatMap(({ number, demands }) =>
    demands
      .filter(({ holds }) => holds === false)
      .map(({ demand, found }) => `- Point ${number} falls short: ${demand}; found ${found}.`),
  );
  return [
    '## Where not to trust it',
    '',
    '- As a diagnosis, a fitness test or a comparison between people: the explained shares of point 1 are a few percent.',
    '- For people unlike the cohort: under 18, over 85, pregnant, on medication that acts on the heart, with sleep apnoea or shift work. None of these is simulated.',
    '- Single days: the labels are a little better than a coin (point 1), and a day’s stress may have any cause that raises the heart rate, exercise and fever among them.',
    '- Labels, arousal above all: point 8 shows what real diaries say of them.',
    '- Absolute sizes: they follow the assumed effects (point 11). Changes within one person mean more than levels.',
    ...short,
  ].join('\n');
}

function training({ training: made, featuresHash }: Manifest, { people }: Context): string {
  const facts = Object.entries(made)
    .filter(([, value]) => typeof value === 'number')
    .map(([name, value]) => `${name} ${String(value)}`);
  return `## How it was made

- Trained on: ${facts.join(', ')}. Feature catalogue \`${featuresHash.slice(0, 16)}…\`.
- Judged on ${people.people.length} other people of another seed.
- The encoder of the current session with its heads is the graph without history. With history, past sessions are pooled
  by fixed weights, today is set against the pool, and a gate lets past targets through as far as they say something
  that the network did not say itself: the service's own scores, fed back, hardly move it; measured scores do.
- Rebuilt by \`npm run model:build\`; how, and which choices were made, is in \`native-models/training/README.md\`.`;
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
    `## ${section.number}. ${section.title}`,
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
for training, and none is in the repository; point 8 holds results only.`;
}
