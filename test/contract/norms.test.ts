import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Norm, NORMS, normsIn, readNorms } from '#acuity/contract/norms.js';
import { script, textOf } from '../fixtures/repository.js';

const { computeNorms } = await script<{
  computeNorms(folder: string): Readonly<Record<string, { readonly norm: Norm }>>;
}>('norms.js');

const { pss10: PSS10 } = JSON.parse(textOf('packages/norms/published.json')) as { pss10: Norm };

const folder = process.env['VALIDATION_DATA'];
const skip = folder === undefined && 'VALIDATION_DATA names no folder with the public data';
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

t.test('the norms', async (t) => {
  t.type(normsIn(Object.fromEntries(NORMS)), Map, 'are in the form that the operator’s own must have');
  for (const [name, norm] of NORMS) {
    const { n, mean, ages, sexes } = norm;
    t.equal(sum(ages.map((band) => band.n)), n, `${name}: its ages are all people`);
    t.equal(sexes.M.n + sexes.F.n, n, `${name}: its sexes are all people`);
    t.ok(sexes.M.mean < mean !== sexes.F.mean < mean, `${name}: one sex is above the mean, one below`);
  }
});

t.test('a file of the operator’s own norms', async (t) => {
  const pss10 = PSS10;
  const [youngest, ...older] = pss10.ages;
  const file = t.testdir({ 'norms.json': '' }) + '/norms.json';
  const cases: readonly (readonly [content: unknown, mistake: RegExp])[] = [
    ['{\n"pss10": tru\n}', /JSON/],
    [[], /must be object/],
    [{ 'a name': pss10 }, /a name is no name/],
    [{ pss10: { ...pss10, reliability: 0.5 } }, /pss10\/reliability is no name/],
    [{ pss10: { ...pss10, score: 'C_SCORE' } }, /pss10\/score/],
    [{ pss10: { ...pss10, ages: [] } }, /pss10\/ages/],
    [{ pss10: { ...pss10, ages: [{ ...youngest, sd: 0 }] } }, /pss10\/ages\/0\/sd/],
    [{ pss10: { ...pss10, ages: [{ ...youngest, sd: undefined }] } }, /pss10\/ages\/0.* sd/],
    [{ pss10: { ...pss10, ages: [...older, youngest] } }, /ages of pss10 are not in order/],
    [{ pss10: { ...pss10, ages: [youngest, { ...older[0], from: 24 }] } }, /overlap/],
    [{ pss10: { ...pss10, least: 12 } }, /mean of pss10 is off its scale/],
  ];
  for (const [content, mistake] of cases) {
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    const { message } = t.throws(() => readNorms(file), { name: 'OperatorError' }) as unknown as Error;
    t.match(message, mistake);
    t.ok(message.startsWith('ACUITY_NORMS must be ') && !message.includes('\n'), message);
  }
  for (const none of [join(file, '..'), `${file}.gone`, '/dev/null'])
    t.throws(() => readNorms(none), /ACUITY_NORMS/);
  writeFileSync(file, JSON.stringify({ pss10: { ...pss10, score: 'memory' }, 'own.2': pss10 }));
  const norms = readNorms(file);
  t.strictSame([...norms.keys()], [...NORMS.keys(), 'own.2']);
  t.equal(norms.get('pss10')?.score, 'memory', 'the operator’s own come first');
  t.equal(readNorms(''), NORMS);
});

t.test('what is computed is what `node scripts/norms.js` computes', { skip }, async (t) => {
  const kept: unknown = JSON.parse(textOf('packages/norms/computed.json'));
  const computed = Object.entries(computeNorms(folder ?? '')).map(([name, { norm }]) => [name, norm]);
  t.strictSame(Object.fromEntries(computed), kept);
});
