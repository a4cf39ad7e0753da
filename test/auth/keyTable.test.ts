import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import t from 'tap';
import { KeyTable, type IndexedRecord } from '#acuity/auth/authenticator.js';

function recordOf(digest: Uint8Array, id: string): IndexedRecord {
  return {
    id,
    kind: 'live',
    digest: Buffer.from(digest).toString('base64url'),
    usableUntilMs: Infinity,
    keyIndex: 0,
    ratePerS: null,
    dailyMax: null,
  };
}

const digests = fc.uniqueArray(fc.uint8Array({ minLength: 32, maxLength: 32 }), {
  selector: (digest) => digest.join(),
  maxLength: 60,
});
/** The first word is the hash: with so few of them, most digests collide. */
const collidingDigests = fc.uniqueArray(
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map((digest) => digest.fill(7, 0, 4)),
  { selector: (digest) => digest.join(), maxLength: 60 },
);

for (const [name, arbitrary] of Object.entries({ digests, collidingDigests })) {
  t.test(`${name}: every stored key is found, and nothing else`, async (t) => {
    fc.assert(
      fc.property(arbitrary, (all) => {
        const stored = all.filter((_, index) => index % 2 === 0);
        const others = all.filter((_, index) => index % 2 === 1);
        const table = new KeyTable(stored.map((digest, index) => recordOf(digest, `key_${index}`)));
        const isFound = stored.every((digest, index) => {
          const row = table.find(Buffer.from(digest));
          return table.isUsable(row, 0) && table.entry(row).id === `key_${index}`;
        });
        const isAlone = others.every((digest) => !table.isUsable(table.find(Buffer.from(digest)), 0));
        return isFound && isAlone && table.size === stored.length;
      }),
    );
    t.pass();
  });
}

t.test('a record comes back as it was put in', async (t) => {
  const digest = randomBytes(32);
  const { digest: _, ...entry } = {
    ...recordOf(digest, 'key_a'),
    kind: 'demo' as const,
    usableUntilMs: 1000.5,
    keyIndex: 17,
    ratePerS: 10,
    dailyMax: 1000,
  };
  const table = new KeyTable([{ ...entry, digest: digest.toString('base64url') }]);
  t.strictSame(table.entry(table.find(digest)), entry);
  t.strictSame(new KeyTable([recordOf(digest, 'key_b')]).entry(1).ratePerS, null);
});

t.test('a key is usable before its end, not at it', async (t) => {
  const digest = randomBytes(32);
  const table = new KeyTable([{ ...recordOf(digest, 'key_a'), usableUntilMs: 1000 }]);
  t.ok(table.isUsable(table.find(digest), 999.9));
  t.notOk(table.isUsable(table.find(digest), 1000));
});

t.test('an empty table finds no key', async (t) => {
  const table = new KeyTable([]);
  t.notOk(table.isUsable(table.find(randomBytes(32)), 0));
  t.equal(table.size, 0);
});
