/** The content of hostile bodies: elements of arrays and members of objects, each by its index. */

export interface Item {
  /** Text of item `index`; the search varies `size`. */
  text(index: number, size: number): string;
  /** What one item counts against the bounds of structure. */
  readonly strings: number;
  brackets(size: number): number;
}

const none = (): number => 0;

function plain(text: (index: number, size: number) => string, strings = 0): Item {
  return { text, strings, brackets: none };
}

function bracketed(text: Item['text'], strings: number, brackets: Item['brackets'] = () => 1): Item {
  return { text, strings, brackets };
}

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

export const ELEMENTS = {
  digits: plain((index, size) => String(1 + scattered(index, 9)).repeat(size)),
  decimals: plain((index, size) => `${61 + (index % 9)}.${'8147236869713921'.slice(0, size)}`),
  forms: plain((index, size) =>
    '61.8147236869713921'.slice(0, 1 + scattered(index, size)).replace(/\.$/, ''),
  ),
  long: plain((index, size) => `61.${'3'.repeat(size + 12)}${index % 10}`),
  exponent: plain((index, size) => `${1 + (index % 9)}e-${size}`),
  exponents: plain((index, size) => `${1 + (index % 9)}.5E${scattered(index, 600) - 300 + (size % 7)}`),
  halfway: plain(halfway),
  halfwayFloat: plain(halfwayFloat),
  subnormal: plain((index, size) => `${2 + (index % 9)}.4703282292062327e-32${size % 5}`),
  sentinels: plain((index) => ['-1', '0', '255', '-2', '61'][scattered(index, 5)] ?? ''),
  implausible: plain((index, size) => String(10 ** (size % 9) + (index % 7))),
  literals: plain((index) => literals[scattered(index, 3)] ?? ''),
  mixed: plain((index) => mixed[scattered(index, mixed.length)] ?? '', 1),
  string: plain((_, size) => `"${'a'.repeat(size)}"`, 1),
  escaped: plain((_, size) => `"${'\\n'.repeat(size)}"`, 1),
  unicode: plain((index, size) => `"${'\\u00e9'.repeat(size)}${index % 10}"`, 1),
  twoBytes: plain((_, size) => `"${'\u00e9'.repeat(size)}"`, 1),
  fourBytes: plain((_, size) => `"${'\u{1f600}'.repeat(size)}"`, 1),
  longString: plain((index, size) => `"${'\\\\\u00e9a'.repeat(size * 200)}${index}"`, 1),
  object: bracketed(() => '{}', 0),
  array: bracketed(() => '[]', 0),
  pair: bracketed(
    () => '{"a":[]}',
    1,
    () => 2,
  ),
  session: bracketed(
    () => '{"age":30,"HR_night":[60]}',
    2,
    () => 2,
  ),
  deep: bracketed(
    (_, size) => '['.repeat(size) + ']'.repeat(size),
    0,
    (size) => size,
  ),
  deepObjects: bracketed(
    (_, size) => `${'{"a":'.repeat(size)}0${'}'.repeat(size)}`,
    1,
    (size) => size,
  ),
} as const satisfies Record<string, Item>;

const KNOWN = ['age', 'sex', 'deepPercentage', 'sleepTimeSeconds', 'HR_night', 'memory', 'past_sessions'];

export const MEMBERS = {
  key: plain((index, size) => `"${index.toString(36).padStart(size, 'k')}":0`, 1),
  indexKey: plain((index, size) => `"${1_000_000 + index * size}":0`, 1),
  /** Indices whose hashes end in the same bits. */
  collidingKey: plain((index, size) => `"${(1 + index) * 2 ** (size % 20)}":0`, 1),
  sameKey: plain(() => '"k":0', 1),
  emptyKey: plain(() => '"":0', 1),
  knownKey: plain((index) => `"${KNOWN[index % KNOWN.length] ?? ''}":null`, 1),
  nearKey: plain((_, size) => `"HR_nighu":${'6'.repeat(size)}`, 1),
  escapedKey: plain((_, size) => `"${'\\u0061'.repeat(size)}ge":30`, 1),
  knownEscapedKey: plain((index) => `"\\u0061\\u0067\\u0065":${index % 10}`, 1),
  wideKey: plain((index, size) => `"${'\u00e9'.repeat(size)}${index}":0`, 1),
  stringMember: plain((index, size) => `"${index.toString(36)}":"${'a'.repeat(size)}"`, 2),
  arrayMember: bracketed((index) => `"${index.toString(36)}":[]`, 1),
  series: bracketed((_, size) => `"HR_night":[${'60,'.repeat(size)}60]`, 1),
  oddSeries: bracketed((_, size) => `"RR_night":[${'1e1,'.repeat(size)}null]`, 1),
  current: bracketed(() => '"current_session":{"age":30}', 2),
} as const satisfies Record<string, Item>;

export type ElementName = keyof typeof ELEMENTS;
export type MemberName = keyof typeof MEMBERS;
