/** Rules and tables as AssemblyScript, which can't import them. `npm run docs` writes these files. */
const HEAD = 'Generated from packages/rules by `npm run docs`: change it there.';

/** The modules of packages/rules whose constants are generated. */
const MODULES = ['contradictions', 'fields', 'plausible'];

/**
 * The texts of the generated files, by their paths in the repository. Needs a built service.
 * @returns {Promise<Readonly<Record<string, string>>>}
 */
export async function ruleTables() {
  const modules = await Promise.all(MODULES.map((name) => import(`../dist/rules/${name}.js`)));
  const rules = Object.assign({}, ...modules);
  const { QUANTITIES } = await import('../dist/night/history/longRun.js');
  return {
    'assembly/rules.ts': assemblyConstants(rules),
    'assembly/fields.ts': assemblyFields(rules),
    'assembly/tables.ts': assemblyTables(QUANTITIES),
  };
}

function assemblyConstants(rules) {
  const { HEART_BEATS, BREATHING, SECONDS_FOR_MINUTES_MIN, SCORE_BOUNDS, FIELD_NAMES, LABELS } = rules;
  const constants = {
    i32: {
      PAST_MAX: rules.PAST_MAX,
      MEASUREMENTS_MAX: rules.MEASUREMENTS_MAX,
      SESSION_SCALARS: rules.SESSION_SCALARS.length,
      SCORED_NUMBERS: Object.keys(rules.SCORED_BOUNDS).length,
      REACTIONS_MAX: rules.REACTIONS.most,
      SCORES: rules.SCORE_FIELDS.length,
      TARGET_FIELDS: FIELD_NAMES.target.length,
    },
    f32: {
      HEART_LOW: HEART_BEATS.min,
      HEART_HIGH: HEART_BEATS.max,
      BREATH_LOW: BREATHING.min,
      BREATH_HIGH: BREATHING.max,
    },
    f64: {
      SCORE_MIN: SCORE_BOUNDS.minimum,
      SCORE_MAX: SCORE_BOUNDS.maximum,
      SUSPECT_SAMPLES_MIN: rules.SUSPECT_SAMPLES_MIN,
      BREATHS_MEDIAN_MAX: rules.BREATHS_MEDIAN_MAX,
      SECONDS_FOR_A_MINUTE_MAX: rules.SECONDS_FOR_A_MINUTE_MAX,
      SECONDS_FOR_MINUTES_MIN: SECONDS_FOR_MINUTES_MIN.seconds,
      MINUTES_FOR_SECONDS_MIN: SECONDS_FOR_MINUTES_MIN.minutes,
      HOURS_MIN: rules.HOURS_MIN,
      MINUTES_MAX: rules.MINUTES_MAX,
      SHARES_SUM_MAX: rules.SHARES_SUM_MAX,
    },
  };
  const lines = Object.entries(constants).flatMap(([type, values]) =>
    Object.entries(values).map(([name, value]) => `export const ${name}: ${type} = ${value};`),
  );
  const names = [...Object.values(FIELD_NAMES).flat(), ...LABELS.map((label) => `"${label}"`)];
  const bounds = rules.SCALAR_BOUNDS.flatMap(({ minimum, maximum, isWhole }) => [minimum, maximum, +isWhole]);
  return `// ${HEAD}

${lines.join('\n')}

/** Which of four samples say that there was no reading. */
// @ts-ignore: decorator
@inline
export function areSentinels(four: v128): v128 {
  return ${anyOf(rules.SENTINELS.map((value) => `f32x4.eq(four, f32x4.splat(${value}))`))};
}

/** Bounds of each scalar but the sex: minimum, maximum, and 1 if only integers are valid. */
export const SCALAR_BOUNDS: StaticArray<f64> = [${bounds.join(', ')}];
export const SCALAR_BOUNDS_LENGTH: i32 = 3;

/** Every name of a field, and every label in its quotes. */
export const NAMES: StaticArray<string> = [
${names.map((name) => `  '${name}',\n`).join('')}];
`;
}

const FIVE_EXPONENTS = { min: -342, max: 308 };
const POWER_BITS = 128n;

function assemblyTables(quantities) {
  const { min, max } = FIVE_EXPONENTS;
  const powers = Array.from({ length: max - min + 1 }, (_, at) => powerOfFive(min + at)).flatMap((bits) => [
    `0x${(bits >> 64n).toString(16)}`,
    `0x${(bits & 0xffff_ffff_ffff_ffffn).toString(16)}`,
  ]);
  const bounds = quantities.flatMap(({ least, most, widest }) => [least, most, widest]);
  return `// Generated from src/night/history/longRun.ts and scripts/ruleTables.js by \`npm run docs\`: change it there.

export const FIVE_EXPONENT_MIN: i32 = ${min};
export const FIVE_EXPONENT_MAX: i32 = ${max};
/** The leading 128 bits of 5^FIVE_EXPONENT_MIN … 5^FIVE_EXPONENT_MAX, two words each, the higher one first. */
export const POWERS_OF_FIVE: StaticArray<u64> = [${powers.join(', ')}];
/** Bounds of each quantity of the long run: minimum, maximum, and its widest spread. */
export const QUANTITY_BOUNDS: StaticArray<f64> = [${bounds.join(', ')}];
`;
}

/**
 * The leading 128 bits of a power of five: truncated, but rounded up from 5^−27 to 5^−1, as Lemire's algorithm
 * (`assembly/number.ts`) requires.
 */
function powerOfFive(exponent) {
  const power = 5n ** BigInt(Math.abs(exponent));
  const length = BigInt(power.toString(2).length);
  if (exponent < 0) return (1n << (length + POWER_BITS - 1n)) / power + BigInt(exponent >= -27);
  return length > POWER_BITS ? power >> (length - POWER_BITS) : power << (POWER_BITS - length);
}

/** Neighbours first: the shortest chain of dependent instructions. */
function anyOf(vectors) {
  if (vectors.length === 1) return vectors[0];
  const half = Math.ceil(vectors.length / 2);
  return `v128.or(${anyOf(vectors.slice(0, half))}, ${anyOf(vectors.slice(half))})`;
}

function assemblyFields({ FIELD_NAMES, SERIES_FIELDS, SERIES_ALIASES, SESSION_SCALARS, RECORDING_FIELD }) {
  const series = SERIES_FIELDS.map((field, place) => [field, `SERIES_INDEX + ${place}`]);
  const aliases = Object.entries(SERIES_ALIASES).map(([field, alias]) => [
    alias,
    `SERIES_INDEX + ${SERIES_FIELDS.indexOf(field)}`,
  ]);
  const inOrder = (fields) => fields.map((field, place) => [field, place]);
  const functions = {
    sessionField: [...series, ...inOrder(SESSION_SCALARS), ...aliases, [RECORDING_FIELD, 'RECORDING_INDEX']],
    targetField: inOrder(FIELD_NAMES.target),
    measurementField: inOrder(FIELD_NAMES.measurement),
    topField: FIELD_NAMES.request.map((field) => [field, topName(field)]),
  };
  return `// ${HEAD}
import { RECORDING_INDEX, SERIES_INDEX } from './layout';
import { same } from './names';

/** Which field a name means: the numbers are indexes of \`OUTLINE\`, −1 is an unknown field. */

/** A series has an alias of this length, and no name of its own of that length. */
export const SERIES_ALIAS_LENGTH: i32 = ${aliasLength(SERIES_FIELDS, Object.values(SERIES_ALIASES))};

${FIELD_NAMES.request.map((field, index) => `export const ${topName(field)}: i32 = ${index};\n`).join('')}
/** The field whose name of \`length\` bytes lies at \`key\`; an alias is its field. */
${Object.entries(functions)
  .map(([name, fields]) => switchOver(name, fields))
  .join('\n')}`;
}

/** The parser tells an alias from a name only by its length. */
function aliasLength(names, aliases) {
  const lengths = new Set(aliases.map(({ length }) => length));
  const [length] = lengths;
  if (lengths.size !== 1 || names.some((name) => name.length === length))
    throw new Error('the aliases of series need one length, which no series has');
  return length;
}

const topName = (field) => `${field.toUpperCase()}_FIELD`;

/** A function that compares a name only with those of its length. */
function switchOver(name, entries) {
  const lengths = [...new Set(entries.map(([field]) => field.length))].toSorted((a, b) => a - b);
  const cases = lengths.map((length) => {
    const candidates = entries.filter(([field]) => field.length === length);
    const [last, value] = candidates.at(-1);
    const tests = candidates
      .slice(0, -1)
      .map(([field, value]) => `      if (same(key, '${field}', ${length})) return ${value};\n`);
    return `    case ${length}:\n${tests.join('')}      return same(key, '${last}', ${length}) ? ${value} : -1;\n`;
  });
  return `export function ${name}(key: usize, length: i32): i32 {
  switch (length) {
${cases.join('')}  }
  return -1;
}
`;
}
