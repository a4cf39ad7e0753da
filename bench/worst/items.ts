/** The content of hostile bodies: elements of arrays and members of objects. */

/** The text of item `index`; the search varies `size`. */
export type Item = (index: number, size: number) => string;

const literals = ['true', 'false', 'null'];
const mixed = ['1', '-2.5', 'true', '0', 'null', '"a"', '61.25', '""', '7e1', 'false', '"\\n"', '123456'];

/** The same choice for the same index, without a pattern that branch prediction could learn. */
function scattered(index: number, choices: number): number {
  let hash = Math.imul(index + 1, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) % choices;
}

/** Integers at or just above the midpoint of two doubles: no fast path decides their rounding. */
const halfway = (index: number, size: number): string =>
  `${9_007_199_254_740_992n + BigInt(2 * (index % 1000) + 1)}.${'0'.repeat(size)}1`;

/** Like `halfway`, where the two doubles also round to different float32. */
const halfwayFloat = (index: number, size: number): string =>
  `${9_007_199_254_740_992n + BigInt(index % 100) * 1_073_741_824n + 536_870_913n}.${'0'.repeat(size)}1`;

const KNOWN = ['age', 'sex', 'deepPercentage', 'sleepTimeSeconds', 'HR_night', 'memory', 'past_sessions'];

/** The items of each kind by their names. */
export const ITEMS: Readonly<Record<'element' | 'member', Readonly<Record<string, Item>>>> = {
  element: {
    digits: (index, size) => String(1 + scattered(index, 9)).repeat(size),
    decimals: (index, size) => `${61 + (index % 9)}.${'8147236869713921'.slice(0, size)}`,
    forms: (index, size) => '61.8147236869713921'.slice(0, 1 + scattered(index, size)).replace(/\.$/, ''),
    long: (index, size) => `61.${'3'.repeat(size + 12)}${index % 10}`,
    exponent: (index, size) => `${1 + (index % 9)}e-${size}`,
    exponents: (index, size) => `${1 + (index % 9)}.5E${scattered(index, 600) - 300 + (size % 7)}`,
    halfway,
    halfwayFloat,
    subnormal: (index, size) => `${2 + (index % 9)}.4703282292062327e-32${size % 5}`,
    sentinels: (index) => ['-1', '0', '255', '-2', '61'][scattered(index, 5)] ?? '',
    implausible: (index, size) => String(10 ** (size % 9) + (index % 7)),
    literals: (index) => literals[scattered(index, 3)] ?? '',
    mixed: (index) => mixed[scattered(index, mixed.length)] ?? '',
    string: (_, size) => `"${'a'.repeat(size)}"`,
    escaped: (_, size) => `"${'\\n'.repeat(size)}"`,
    unicode: (index, size) => `"${'\\u00e9'.repeat(size)}${index % 10}"`,
    twoBytes: (_, size) => `"${'\u00e9'.repeat(size)}"`,
    fourBytes: (_, size) => `"${'\u{1f600}'.repeat(size)}"`,
    longString: (index, size) => `"${'\\\\\u00e9a'.repeat(size * 200)}${index}"`,
    object: () => '{}',
    array: () => '[]',
    pair: () => '{"a":[]}',
    session: () => '{"age":30,"HR_night":[60]}',
    deep: (_, size) => '['.repeat(size) + ']'.repeat(size),
    deepObjects: (_, size) => `${'{"a":'.repeat(size)}0${'}'.repeat(size)}`,
  },
  member: {
    key: (index, size) => `"${index.toString(36).padStart(size, 'k')}":0`,
    indexKey: (index, size) => `"${1_000_000 + index * size}":0`,
    /** Indices whose hashes end in the same bits. */
    collidingKey: (index, size) => `"${(1 + index) * 2 ** (size % 20)}":0`,
    sameKey: () => '"k":0',
    emptyKey: () => '"":0',
    knownKey: (index) => `"${KNOWN[index % KNOWN.length] ?? ''}":null`,
    nearKey: (_, size) => `"HR_nighu":${'6'.repeat(size)}`,
    escapedKey: (_, size) => `"${'\\u0061'.repeat(size)}ge":30`,
    knownEscapedKey: (index) => `"\\u0061\\u0067\\u0065":${index % 10}`,
    wideKey: (index, size) => `"${'\u00e9'.repeat(size)}${index}":0`,
    stringMember: (index, size) => `"${index.toString(36)}":"${'a'.repeat(size)}"`,
    arrayMember: (index) => `"${index.toString(36)}":[]`,
    series: (_, size) => `"HR_night":[${'60,'.repeat(size)}60]`,
    oddSeries: (_, size) => `"RR_night":[${'1e1,'.repeat(size)}null]`,
    current: () => '"current_session":{"age":30}',
  },
};
