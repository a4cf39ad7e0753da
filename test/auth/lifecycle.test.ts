import t from 'tap';
import { digestOf, isWellFormed } from '#acuity/auth/key.js';
import { issue, renewed, revoked, stateOf, successorOf, usableUntilMs } from '#acuity/auth/lifecycle.js';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2030, 0, 1);
const ORDER = {
  kind: 'demo',
  label: 'x',
  ratePerS: 3,
  dailyMax: null,
  expiresAt: '2031-01-01T00:00:00.000Z',
} as const;

for (const [name, order, wanted] of [
  [
    'a demo key',
    { kind: 'demo' },
    { label: '', ratePerS: 10, dailyMax: 1000, expiresAt: '2030-04-01T00:00:00.000Z' },
  ],
  ['a live key', { kind: 'live' }, { label: '', ratePerS: 500, dailyMax: null, expiresAt: null }],
  ['an order of its own', ORDER, ORDER],
] as const)
  t.test(`${name} has its limits and its end, and of the key only the digest`, async (t) => {
    const { record, key } = issue(order, NOW_MS);
    t.match(record, { ...wanted, kind: order.kind, createdAt: '2030-01-01T00:00:00.000Z', revokedAt: null });
    t.ok(isWellFormed(key));
    t.equal(record.digest, digestOf(key).toString('base64url'));
    t.notOk(JSON.stringify(record).includes(key.slice(8, 40)));
    if (record.expiresAt === null) return;
    t.equal(stateOf(record, Date.parse(record.expiresAt) - 1), 'valid');
    t.equal(stateOf(record, Date.parse(record.expiresAt)), 'expired');
  });

t.test('a revoked key is refused since its first revocation', async (t) => {
  const { record } = issue({ kind: 'demo' }, NOW_MS);
  const gone = revoked(record, NOW_MS + 1).record;
  t.equal(stateOf(gone, NOW_MS), 'revoked');
  t.equal(usableUntilMs(gone), -Infinity);
  t.equal(revoked(gone, NOW_MS + 2).record.revokedAt, gone.revokedAt);
});

t.test('the successor of a demo key has its limits and 90 days, that of a live key its end', async (t) => {
  const demo = issue(ORDER, NOW_MS).record;
  const { kind, label, ratePerS, dailyMax } = ORDER;
  const expiresAt = new Date(NOW_MS + 100 * DAY_MS).toISOString();
  t.match(successorOf(demo, NOW_MS + 10 * DAY_MS).record, { kind, label, ratePerS, dailyMax, expiresAt });
  const { record } = issue({ kind: 'live', expiresAt }, NOW_MS);
  t.equal(successorOf(record, NOW_MS).record.expiresAt, expiresAt);
  t.throws(() => successorOf(record, Date.parse(expiresAt)), { message: /expired/ });
  const { record: endless } = issue({ kind: 'live' }, NOW_MS);
  t.throws(() => renewed(endless, NOW_MS), { name: 'KeyStoreError', message: /never expires/ });
});
