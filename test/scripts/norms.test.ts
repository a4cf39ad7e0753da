import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { NORMS } from '#acuity/client/norms.js';
import { REPOSITORY, script } from '../fixtures/repository.js';

type Norm = (typeof NORMS)['pss10'];
const { computeNorms } = await script<{
  computeNorms(folder: string): Readonly<Record<string, Norm & { readonly below: unknown }>>;
}>('norms.js');

const folder = process.env['VALIDATION_DATA'];
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

t.test('the norms', async (t) => {
  for (const [name, norm] of Object.entries(NORMS)) {
    const { n, mean, ages, sexes, least, most } = norm;
    t.equal(sum(ages.map((band) => band.n)), n, `${name}: its ages are all people`);
    t.equal(sexes.M.n + sexes.F.n, n, `${name}: its sexes are all people`);
    t.ok(sexes.M.mean < mean !== sexes.F.mean < mean, `${name}: one sex is above the mean, one below`);
    for (const { from, to, mean, sd } of ages) {
      t.ok(from < to && sd > 0 && mean > least && mean < most, `${name} ${from}`);
    }
    t.ok(
      ages.every(({ from }, index) => from > (ages[index - 1]?.to ?? 0)),
      `${name}: in order`,
    );
  }
});

t.test('the guide names each norm with its people', async (t) => {
  const guide = readFileSync(join(REPOSITORY, 'docs/MEASURED.md'), 'utf8');
  for (const [name, { n, score }] of Object.entries(NORMS)) {
    const row = guide.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${name}\``)) ?? '';
    t.ok(row.startsWith(`| \`${score}\``), `${name}: ${score}`);
    t.ok(row.includes(`${n.toLocaleString('en')} `), `${name}: ${n} people`);
  }
});

t.test(
  'the published means of the Perceived Stress Scale by age and by sex are of the same people',
  async (t) => {
    const { mean, n, ages, sexes } = NORMS.pss10;
    const overall = (some: readonly { n: number; mean: number }[]) =>
      sum(some.map((one) => one.n * one.mean)) / n;
    t.equal(overall(ages).toFixed(2), String(mean));
    t.equal(overall([sexes.M, sexes.F]).toFixed(2), String(mean));
  },
);

t.test(
  'what is computed is what `npm run norms` computes',
  { skip: folder === undefined && 'VALIDATION_DATA names no folder' },
  async (t) => {
    const kept: unknown = JSON.parse(readFileSync(join(REPOSITORY, 'packages/norms/computed.json'), 'utf8'));
    const computed: unknown = JSON.parse(
      JSON.stringify(computeNorms(folder ?? ''), (key, value: unknown) =>
        key === 'below' ? undefined : value,
      ),
    );
    t.strictSame(computed, kept);
  },
);
