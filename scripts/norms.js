/**
 * `node scripts/norms.js`: computes the norms of packages/norms/computed.json from public data in the folder named by
 * VALIDATION_DATA, and prints the number of people for each and how close it is to a normal distribution. It writes
 * only means and spreads.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { failWith, ROOT, StepFailed } from './prepare.js';

const NHANES = {
  source:
    'US National Health and Nutrition Examination Survey 2011-2014, public domain; computed by `node scripts/norms.js` from two thirds of the people, by examination weight',
  population: 'adults of 60 and over in the United States, 2011 to 2014; 80 and over are one group',
};
/** NHANES writes 80 for everybody older. */
const NHANES_AGES = [60, 65, 70, 75, 80];
const OLDEST = 130;

const COGNITION = {
  digit_symbol: {
    column: 'dsst',
    title: 'Digit symbol substitution (Wechsler, third edition), 120 seconds',
    score: 'attention',
    unit: 'symbols that are right',
    most: 133,
  },
  delayed_recall: {
    column: 'cerad_delayed',
    title: 'Delayed recall of the CERAD word list',
    score: 'memory',
    unit: 'words of ten',
    most: 10,
  },
  animal_fluency: {
    column: 'animal_fluency',
    title: 'Animal fluency, 60 seconds',
    score: 'reasoning',
    unit: 'different animals named',
    most: 100,
  },
};

const SLEEPY_BRAIN = {
  title: 'Psychomotor vigilance, mean speed',
  score: 'attention',
  unit: 'reactions a second: the mean of 1000 / milliseconds',
  least: 1,
  most: 8,
  isWhole: false,
  source:
    'Stockholm Sleepy Brain Study 1, OpenNeuro ds000201, CC0; computed by `node scripts/norms.js` from two thirds of the people, the evening after a full night, five minutes',
  population: 'volunteers in Stockholm of 20 to 30 and of 65 to 75, few',
};

/** @returns {Readonly<Record<string, object>>} the norms by name, and of each (`below`) how near it is to a normal distribution */
export function computeNorms(folder) {
  const cognition = rowsOf(join(folder, 'nhanes/cognition.csv'));
  const made = Object.entries(COGNITION).map(([name, { column, ...about }]) => {
    const people = cognition
      .filter((row) => row[column] !== '')
      .map((row) => ({
        sex: row.sex,
        age: Number(row.age),
        value: Number(row[column]),
        weight: Number(row.weight),
      }));
    const bands = NHANES_AGES.map((from, index) => ({
      from,
      to: (NHANES_AGES[index + 1] ?? OLDEST + 1) - 1,
    }));
    return [name, { ...about, least: 0, isWhole: true, ...NHANES, ...fitted(people, bands, true) }];
  });
  const sessions = rowsOf(join(folder, 'sleepy_brain/sessions.csv'))
    .filter((row) => row.restricted === '0' && row.pvt_speed_per_s !== '')
    .map((row) => ({
      sex: row.sex === 'Male' ? 'M' : 'F',
      age: row.age_group === 'Young' ? 20 : 65,
      value: Number(row.pvt_speed_per_s),
      weight: 1,
    }));
  const bands = [
    { from: 20, to: 30 },
    { from: 65, to: 75 },
  ];
  const vigilance_speed = { ...SLEEPY_BRAIN, ...fitted(sessions, bands, false) };
  return { ...Object.fromEntries(made), vigilance_speed };
}

/**
 * Means by age and sex as two margins: the mean of each band, and what each sex has above or below all at the same
 * age. `isLine`: the bands' means lie on a line over age, since single bands are few people; all bands then have one
 * spread.
 */
function fitted(people, bands, isLine) {
  const bandOf = ({ age }) => bands.findIndex(({ from, to }) => age >= from && age <= to);
  const centres = bands.map((_, band) =>
    meanOf(
      people.filter((one) => bandOf(one) === band),
      ({ age }) => age,
    ),
  );
  // Alternate until both agree: additive effects of age and sex by least squares.
  let sexShift = { M: 0, F: 0 };
  let means = [];
  const expected = (one) => means[bandOf(one)] + sexShift[one.sex];
  for (let round = 0; round < 50; round++) {
    const less = people.map((one) => ({ ...one, value: one.value - sexShift[one.sex] }));
    if (isLine) {
      const { at0, slope } = lineThrough(less);
      means = centres.map((age) => at0 + slope * age);
    } else means = bands.map((_, band) => meanOf(less.filter((one) => bandOf(one) === band)));
    const shift = (sex) =>
      meanOf(
        people.filter((one) => one.sex === sex),
        (one) => one.value - means[bandOf(one)],
      );
    const weights = (sex) =>
      people.filter((one) => one.sex === sex).reduce((sum, { weight }) => sum + weight, 0);
    const raw = { M: shift('M'), F: shift('F') };
    const centre = (raw.M * weights('M') + raw.F * weights('F')) / (weights('M') + weights('F'));
    sexShift = { M: raw.M - centre, F: raw.F - centre };
  }
  const spread = (some) => {
    const square = meanOf(some, (one) => (one.value - expected(one)) ** 2);
    return Math.sqrt((square * some.length) / (some.length - 1));
  };
  const mean = meanOf(people);
  const sexOf = (sex) => ({
    n: people.filter((one) => one.sex === sex).length,
    mean: rounded(mean + sexShift[sex]),
  });
  const sd = spread(people);
  // The shares of people below the points that separate a tenth, half and nine tenths of a normal distribution.
  const below = [-1.2816, 0, 1.2816].map((z) =>
    meanOf(people, (one) => Number(one.value < expected(one) + z * sd)).toFixed(2),
  );
  return {
    below,
    n: people.length,
    mean: rounded(mean),
    sexes: { M: sexOf('M'), F: sexOf('F') },
    ages: bands.map(({ from, to }, band) => {
      const some = people.filter((one) => bandOf(one) === band);
      return {
        from,
        to,
        n: some.length,
        mean: rounded(means[band]),
        sd: rounded(isLine ? sd : spread(some)),
      };
    }),
  };
}

function meanOf(people, valueOf = ({ value }) => value) {
  const total = people.reduce((sum, { weight }) => sum + weight, 0);
  return people.reduce((sum, one) => sum + one.weight * valueOf(one), 0) / total;
}

function lineThrough(people) {
  const age = meanOf(people, (one) => one.age);
  const value = meanOf(people);
  const slope =
    meanOf(people, (one) => (one.age - age) * (one.value - value)) /
    meanOf(people, (one) => (one.age - age) ** 2);
  return { at0: value - slope * age, slope };
}

const rounded = (value) => Number(value.toFixed(3));

/** A table without quotes: these files have none. */
function rowsOf(path) {
  const [head, ...lines] = readFileSync(path, 'utf8').trim().split(/\r?\n/);
  const names = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, index) => [names[index], cell])));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const folder = process.env['VALIDATION_DATA'];
    if (!folder) throw new StepFailed('set VALIDATION_DATA to the folder of the public data');
    const norms = computeNorms(folder);
    const kept = JSON.stringify(norms, (key, value) => (key === 'below' ? undefined : value), 2);
    writeFileSync(join(ROOT, 'packages/norms/computed.json'), `${kept}\n`);
    for (const [name, { n, sexes, ages, below }] of Object.entries(norms)) {
      const bands = ages.map(
        (band) => `${band.from}-${band.to === OLDEST ? '' : band.to}: ${band.mean} ± ${band.sd} (${band.n})`,
      );
      console.log(
        `${name}: ${n} people (${sexes.M.n} men, ${sexes.F.n} women); ${bands.join(', ')}; below 10, 50, 90 % of a normal distribution: ${below.join(', ')}`,
      );
    }
  } catch (error) {
    failWith(error);
  }
}
