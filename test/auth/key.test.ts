import * as fc from 'fast-check';
import t from 'tap';
import { createKey, digestOf, isWellFormed, KEY_LENGTH, randomBase62 } from '#acuity/auth/key.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const kinds = fc.constantFrom('demo' as const, 'live' as const);
/** Made anew for each run: fast-check can't shrink it, and need not. */
const keys = kinds.map((kind) => createKey(kind));

t.test('a new key has the form of its kind', async (t) => {
  for (const kind of ['demo', 'live'] as const) {
    const key = createKey(kind);
    t.match(key, new RegExp(`^sk_${kind}_[0-9A-Za-z]{38}$`));
    t.equal(key.length, KEY_LENGTH);
    t.ok(isWellFormed(key));
  }
});

t.test('each base62 character is drawn about equally often', async (t) => {
  const counts = new Map<string, number>();
  for (const drawn of randomBase62(62_000)) counts.set(drawn, (counts.get(drawn) ?? 0) + 1);
  t.strictSame([...counts.keys()].toSorted(), [...ALPHABET].toSorted());
  // 1000 expected, standard deviation 31: beyond six of them only a biased source gets.
  t.ok([...counts.values()].every((count) => count > 800 && count < 1200));
});

t.test('the checksum is the CRC-32 of the text before it, which is base62', async (t) => {
  // Computed by Python's zlib: another implementation must agree on what a key is.
  for (const [key, isKey] of [
    ['sk_demo_0000000000000000000000000000000030lTef', true],
    ['sk_live_0123456789ABCDEFGHIJKLMNOPQRSTUV28hqg7', true],
    ['sk_demo_--------------------------------1dkKwJ', false],
  ] as const)
    t.equal(isWellFormed(key), isKey, key);
});

t.test('one wrong character makes a key malformed', async (t) => {
  fc.assert(
    fc.property(
      keys,
      fc.nat(KEY_LENGTH - 1),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      (key, at, wrong) => {
        fc.pre(wrong !== key[at]);
        return !isWellFormed(key.slice(0, at) + wrong + key.slice(at + 1));
      },
    ),
    { numRuns: 2000 },
  );
  t.pass();
});

t.test('a key that lost or won characters is malformed', async (t) => {
  const key = createKey('live');
  for (const text of ['', key.slice(1), key.slice(0, -1), `${key}0`, ` ${key}`, `${key}\n`])
    t.notOk(isWellFormed(text));
});

t.test('the digest is SHA-256', async (t) => {
  t.equal(
    digestOf('abc').toString('hex'),
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  );
});
