import { EXPECTED } from '#acuity/judge/expected.js';
import { SCORES, type ScoreName } from '#acuity/judge/outcomes.js';
import { VIEWS } from '#acuity/judge/sums.js';
import { textTable } from '#acuity/base/table.js';
import { World } from './cohort/population.js';
import { Progress } from './cohort/progress.js';
import {
  POPULATIONS,
  choosePeople,
  findingOf,
  judgePopulation,
  poolOf,
  type Pool,
  type PopulationName,
} from './evaluation/populations.js';
import { listed, positive, readOptions } from './commandLine.js';
import { ServedModel } from './served.js';

/** How often `acuity judge` claims an effect in people whose truth is known: simulated ones, of four kinds. */
const PEOPLE = [20, 50, 200] as const;
const DRAWS = 1_000;

const USAGE = `npm run judge:populations [-- options]

  --runs N       of each population (default 200)
  --seed N       of the simulated people (default 31)
  --scores A,B   judged together, each against the outcome of its own name (default attention,stress,valence)
  --pool N       people that are simulated; each run takes some and draws outcomes anew (default 4000)
  --sizes        prints the correlations to expect if the card is right, and nothing else
  --model DIR    the network
  --help         this text`;

const asked = readOptions(
  USAGE,
  {
    seed: { type: 'string', default: '31' },
    runs: { type: 'string', default: '200' },
    scores: { type: 'string', default: 'attention,stress,valence' },
    pool: { type: 'string', default: '4000' },
    model: { type: 'string', default: 'native-models/acuity-base' },
    sizes: { type: 'boolean', default: false },
  },
  (values) => ({
    ...values,
    seed: positive('--seed', values.seed),
    runs: positive('--runs', values.runs),
    scores: listed('--scores', values.scores, SCORES),
    pool: positive('--pool', values.pool),
  }),
);

const JUDGED: readonly ScoreName[] = SCORES.filter((score) => asked.scores.includes(score));
const pool = await poolOf(new World(asked.seed), await ServedModel.open(asked.model), asked.pool);
process.stdout.write(`${asked.sizes ? sizes(pool) : claims(pool, asked.runs)}\n`);

function sizes(of: Pool): string {
  const chosen = [...of.people.people.keys()];
  const verdicts = judgePopulation(of, chosen, { population: 'as assumed', run: 1, draws: DRAWS }, SCORES);
  const rows = verdicts.flatMap(({ outcome: { score }, estimates }) =>
    VIEWS.map((view) => {
      const { goes, adds } = estimates.views[view];
      const expected = EXPECTED[score][view];
      return [
        score,
        view,
        goes.score.value.toFixed(3),
        String(expected.goes),
        adds.value.toFixed(3),
        String(expected.adds),
      ];
    }),
  );
  return textTable([['score', 'view', 'goes', 'written', 'adds', 'written'], ...rows]);
}

function claims(of: Pool, runs: number): string {
  const progress = new Progress('judge', runs);
  const found = new Map<string, number>();
  const count = (...key: readonly (string | number)[]): void => {
    const name = key.join(' ');
    found.set(name, (found.get(name) ?? 0) + 1);
  };
  for (let run = 1; run <= runs; run++) {
    const chosen = choosePeople(of, Math.max(...PEOPLE), run);
    for (const population of POPULATIONS)
      for (const people of PEOPLE) judgeRun(of, chosen.slice(0, people), { population, run }, count);
    progress.step();
  }
  const times = (...key: readonly (string | number)[]): string => String(found.get(key.join(' ')) ?? 0);
  const rows = POPULATIONS.flatMap((population) =>
    PEOPLE.map((people) => [
      population,
      String(people),
      times(population, people, 'claims'),
      times(population, people, 'refuses'),
      ...JUDGED.flatMap((score) => [
        times(population, people, score, 'adds'),
        times(population, people, score, 'goes'),
        times(population, people, score, 'too-few'),
      ]),
    ]),
  );
  const header = JUDGED.flatMap((score) => [`${score} adds`, 'goes', 'refused']);
  return [
    `${runs} runs of seed ${of.world.seed}, ${of.people.days} days each, ${DRAWS} draws of people; runs that claim an effect of any of ${JUDGED.join(', ')}`,
    textTable([['population', 'people', 'claims', 'refuses all', ...header], ...rows]),
  ].join('\n');
}

function judgeRun(
  of: Pool,
  chosen: readonly number[],
  { population, run }: { readonly population: PopulationName; readonly run: number },
  count: (...key: readonly (string | number)[]) => void,
): void {
  const verdicts = judgePopulation(of, chosen, { population, run, draws: DRAWS }, JUDGED);
  const findings = verdicts.map((verdict) => [verdict.outcome.score, findingOf(verdict)] as const);
  for (const [score, finding] of findings) count(population, chosen.length, score, finding);
  if (findings.some(([, finding]) => finding === 'adds')) count(population, chosen.length, 'claims');
  if (findings.every(([, finding]) => finding === 'too-few')) count(population, chosen.length, 'refuses');
}
