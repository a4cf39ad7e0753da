import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '#acuity/model/manifest.js';
import type { Context } from './context.js';
import { markdown } from './markdown.js';
import { fixed } from './section.js';
import type { Section } from './section.js';
import { verdictOf } from './summary.js';

/** Rewrites MODEL_CARD.md of `folder`: what stands fixed in it is here, every number is from the sections. */
export function writeCard(folder: string, sections: readonly Section[], context: Context): void {
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  const text = [
    introduction(manifest),
    decisive(sections),
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

/** Half a page that says what it comes to: each number is from the points below. */
function decisive(sections: readonly Section[]): string {
  const figures = new Map(sections.flatMap((section) => Object.entries(section.decisive ?? {})));
  const of = (name: string, digits: number): string => fixed(figures.get(name) ?? NaN, digits);
  const share = (score: string): string => `${fixed(100 * (figures.get(`${score} explained`) ?? NaN), 1)} %`;
  const short = sections
    .filter((section) => verdictOf(section) === 'falls short')
    .map(({ number }) => number);
  return `## What it comes to

- **Little is explained.** Of what makes people of one age and sex differ on a day, these signals, with five sessions
  before them, explain ${share('attention')} of attention, ${share('memory')} of memory, ${share('reasoning')} of reasoning and ${share('stress')} of stress (simulated people, point 1). Nobody
  knows the share in real people.
- **Error against always saying 50.** A guess of 50 for everybody is off by ${of('attention error of always 50', 1)} points of attention on average, this network
  by ${of('attention error', 1)}; for stress ${of('stress error of always 50', 1)} and ${of('stress error', 1)}. About one person on one day a score says next to nothing.
- **What to trust it for.** Which way, and about how far, a person's own scores move when sleep or heart rate leave their
  habit, and averages over many people or many days: five nights of 4 h against 8 h move attention by ${of('five nights of 4 h', 1)}
  (point 6), a night without sleep by ${of('a night without sleep', 1)} (point 14). These sizes are the literature's, put in by hand: they are
  what the network was taught, not what it found.
- **What not to trust it for.** Diagnosis, fitness for a task, comparing two people, one day's figure, mood: the labels do not
  beat a coin in real diaries (point 8).
- **What devices do to it.** The same night through another ordinary device (smoothing, spacing, wild samples, half of the
  night lost) shifts a mean score by at most ${of('device shift', 1)} points, on the day of the change too, and a single one by ${of('device distance', 1)} on
  average; one average in place of a series by ${of('averages shift', 1)} (point 12). A device that reads too high or too low is another
  matter: on the day of the change it looks like the person.
${short.length === 0 ? '- **All points hold.**' : `- **What falls short:** point${short.length === 1 ? '' : 's'} ${short.join(', ')}; below it says where and why.`}`;
}

/** The same sentence stands in docs/SCORES.md. */
export const MEANING_OF_40 =
  'A score of 40 does not say that this person stands at the 40th percentile: it says that people of the same age and sex with such recordings stand there on average, each of them anywhere between 0 and 100.';

function scoreMeaning(): string {
  return `## What the scores mean

- \`attention\`, \`memory\`, \`reasoning\`: the expected percentile of the person's present capacity within their own age
  and sex; 50 is typical. \`stress\`: the same of the load; higher is more. Where age or sex is withheld, it is averaged
  over what they may be: less is known, but the person is compared with the same people (point 13).
- \`C_SCORE\`: 0.4 attention + 0.3 memory + 0.3 reasoning, computed in the graph.
- \`valence\`, \`arousal\`: High where its probability is at least one half, that is, where High is likelier than Low for
  a typical person of that age and sex.
- ${MEANING_OF_40} Most scores lie near 50, because the day's biometrics say little about a person.`;
}

function summary(sections: readonly Section[]): string {
  const rows = sections.map((section) => [String(section.number), section.title, verdictOf(section)]);
  return `## The points\n\n${markdown({ caption: '', header: ['point', 'what', 'verdict'], rows })}`;
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
    '- Right after a change of device that reads at another level (point 12, last table), and in the first days after a change of the network (point 16).',
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
