/**
 * `node scripts/norms.js`: computes the numbers of packages/norms/computed.json from public data in the folder named by
 * VALIDATION_DATA, and prints the number of people for each and how close it is to a normal distribution. It writes
 * only means and spreads; what each norm is of stands in that file.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endOnError, ROOT, StepFailed } from './prepare.js';

const FILE = join(ROOT, 'packages/norms/computed.json');
/** Columns of nhanes/cognition.csv. */
const COGNITION = { digit_symbol: 'dsst', delayed_recall: 'cerad_delayed', animal_fluency: 'animal_fluency' };
/** NHANES writes 80 for everybody older. */
const COGNITION_AGES = bandsFrom([60, 65, 70, 75, 80], 130);
const SLEEPY_BRAIN_AGES = [
  { from: 20, to: 30 },
  { from: 65, to: 75 },
];

/**
 * @param {string} folder
 * @returns {Readonly<Record<string, { norm: object, below: readonly string[] }>>} `below`: the shares of people below the
 *   points that separate a tenth, half and nine tenths of a normal distribution
 */
export function computeNorms(folder) {
  const about = JSON.parse(readFileSync(FILE, 'utf8'));
  const cognition = rowsOf(join(folder, 'nhanes/cognition.csv'));
  const sleepyBrain = rowsOf(join(folder, 'sleepy_brain/sessions.csv')).filter(
    (row) => row.restricted === '0',
  );
  const made = {
    vigilance_speed: fitted(
      sleepyBrain.flatMap(({ sex, age_group, pvt_speed_per_s }) => {
        const age = age_group === 'Young' ? 20 : 65;
        return person(sex === 'Male' ? 'M' : 'F', age, pvt_speed_per_s, 1);
      }),
      SLEEPY_BRAIN_AGES,
      false,
    ),
  };
  for (const [name, column] of Object.entries(COGNITION)) {
    const people = cognition.flatMap((row) =>
      person(row.sex, Number(row.age), row[column], Number(row.weight)),
    );
    made[name] = fitted(people, COGNITION_AGES, true);
  }
  return Object.fromEntries(
    Object.entries(about).map(([name, kept]) => {
      const { below, ...numbers } = made[name];
      return [name, { norm: { ...kept, ...numbers }, below }];
    }),
  );
}

/** One person, or none without a result. */
function person(sex, age, cell, weight) {
  return cell === '' ? [] : [{ sex, age, value: Number(cell), weight }];
}

function bandsFrom(starts, oldest) {
  return starts.map((from, index) => ({ from, to: (starts[index + 1] ?? oldest + 1) - 1 }));
}

/**
 * Means by age and sex as two margins: the mean of each band, and what each sex has above or below all at the same
 * age. `isLine`: the bands' means lie on a line over age, since single bands are few people; all bands then have one
 * spread.
 */
function fitted(people, bands, isLine) {
  const bandOf = ({ age }) => bands.findIndex(({ from, to }) => age >= from && age <= to);
  const inBand = bands.map((_, band) => people.filter((one) => bandOf(one) === band));
  const ofSex = (sex) => people.filter((one) => one.sex === sex);
  // Alternate until both agree: additive effects of age and sex by least squares.
  let shifts = { M: 0, F: 0 };
  let means = [];
  const expected = (one) => means[bandOf(one)] + shifts[one.sex];
  for (let round = 0; round < 50; round++) {
    const valueOf = ({ value, sex }) => value - shifts[sex];
    means = isLine ? lineOver(people, inBand, valueOf) : inBand.map((some) => meanOf(some, valueOf));
    const [male, female] = ['M', 'F'].map((sex) =>
      meanOf(ofSex(sex), (one) => one.value - means[bandOf(one)]),
    );
    const centre = meanOf(people, ({ sex }) => (sex === 'M' ? male : female));
    shifts = { M: male - centre, F: female - centre };
  }
  const spread = (some) => {
    const square = meanOf(some, (one) => (one.value - expected(one)) ** 2);
    return Math.sqrt((square * some.length) / (some.length - 1));
  };
  const mean = meanOf(people);
  const sexOf = (sex) => ({ n: ofSex(sex).length, mean: rounded(mean + shifts[sex]) });
  const sd = spread(people);
  return {
    below: [-1.2816, 0, 1.2816].map((z) =>
      meanOf(people, (one) => Number(one.value < expected(one) + z * sd)).toFixed(2),
    ),
    n: people.length,
    mean: rounded(mean),
    sexes: { M: sexOf('M'), F: sexOf('F') },
    ages: bands.map((band, index) => ({
      ...band,
      n: inBand[index].length,
      mean: rounded(means[index]),
      sd: rounded(isLine ? sd : spread(inBand[index])),
    })),
  };
}

/** The mean of each band on the line over age that fits all. */
function lineOver(people, inBand, valueOf) {
  const age = meanOf(people, (one) => one.age);
  const value = meanOf(people, valueOf);
  const slope =
    meanOf(people, (one) => (one.age - age) * (valueOf(one) - value)) /
    meanOf(people, (one) => (one.age - age) ** 2);
  return inBand.map((some) => value + slope * (meanOf(some, (one) => one.age) - age));
}

function meanOf(people, valueOf = ({ value }) => value) {
  const total = people.reduce((sum, { weight }) => sum + weight, 0);
  return people.reduce((sum, one) => sum + one.weight * valueOf(one), 0) / total;
}

const rounded = (value) => Number(value.toFixed(3));

/** A table without quotes: these files have none. */
function rowsOf(path) {
  const [head, ...lines] = readFileSync(path, 'utf8').trim().split(/\r?\n/);
  const names = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, index) => [names[index], cell])));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  endOnError();
  const folder = process.env['VALIDATION_DATA'];
  if (!folder) throw new StepFailed('set VALIDATION_DATA to the folder of the public data');
  const computed = Object.entries(computeNorms(folder));
  const norms = Object.fromEntries(computed.map(([name, { norm }]) => [name, norm]));
  writeFileSync(FILE, `${JSON.stringify(norms, undefined, 2)}\n`);
  for (const [name, { norm, below }] of computed)
    console.log(
      `${name}: ${norm.n} people; below 10, 50, 90 % of a normal distribution: ${below.join(', ')}`,
    );
}
