import { InvalidArgumentError, Option, type Command } from 'commander';
import { issue, renewed, revoked, stateOf, successorOf, type KeyOrder } from '../auth/lifecycle.js';
import { storesAt } from '../auth/location.js';
import { KeyStoreError, type KeyKind, type KeyRecord } from '../auth/store.js';
import { systemClock, type Clock } from '../base/clock.js';

/** A record as operators see it: without the digest. */
export interface KeyView {
  readonly id: string;
  readonly kind: KeyKind;
  readonly state: string;
  readonly label: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly ratePerS: number | null;
  readonly dailyMax: number | null;
}

interface IssueFlags {
  readonly kind: KeyKind;
  readonly label?: string;
  readonly rate?: number | null;
  readonly daily?: number | null;
  readonly expires?: string;
  readonly json?: boolean;
}

interface CommonFlags {
  readonly json?: boolean;
}

const LIMIT_MAX = 2 ** 31 - 1;
/** Above it a bucket's arithmetic has no room left for its fractions. */
const RATE_MAX = 1_000_000;
const LABEL_LENGTH_MAX = 200;
const EXIT_FAILED = 1;
const ISO_DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;

type NowMs = Pick<Clock, 'nowMs'>;

/** Adds `keys issue|list|renew|revoke|rotate`. `keysLocation` is asked when one of them runs. */
export function registerKeys(program: Command, keysLocation: () => string, clock: NowMs = systemClock): void {
  const keys = program.command('keys').description('issue, list, renew, revoke and rotate API keys');
  registerIssue(keys, keysLocation, clock);
  withJson(keys.command('list'))
    .description('list every key, without its secret')
    .action(({ json }: CommonFlags) => print(keys, list(keysLocation(), clock, json)));
  registerChange(keys, 'renew', 'give a key 90 more days from now', (id, json) =>
    renew(keysLocation(), id, clock, json),
  );
  registerChange(keys, 'revoke', 'refuse a key from now on', (id, json) =>
    revoke(keysLocation(), id, clock, json),
  );
  registerChange(keys, 'rotate', 'issue a new key and revoke the old one at once', (id, json) =>
    rotate(keysLocation(), id, clock, json),
  );
}

/** Makes the key store with one demo key in it. `undefined` where there is a store already. */
export async function issueFirstDemoKey(
  location: string,
  clock: NowMs = systemClock,
): Promise<{ id: string; key: string } | undefined> {
  const { record, key } = issue({ kind: 'demo', label: 'first' }, clock.nowMs());
  const isFirst = await storesAt(location).keys.insertFirst(record);
  return isFirst ? { id: record.id, key } : undefined;
}

function registerIssue(keys: Command, keysLocation: () => string, clock: NowMs): void {
  withJson(keys.command('issue'))
    .description('issue a key and print it, this once')
    .addOption(new Option('--kind <kind>', 'kind of key').choices(['demo', 'live']).makeOptionMandatory())
    .option('--label <text>', 'whom or what it is for', label)
    .option('--rate <n>', 'requests per second, or unlimited', limitUpTo(RATE_MAX))
    .option('--daily <n>', 'predictions per UTC day, or unlimited', limitUpTo(LIMIT_MAX))
    .option('--expires <date>', 'when it expires: an ISO 8601 date, UTC unless it says otherwise', isoDate)
    .action((flags: IssueFlags) => print(keys, issueTo(keysLocation(), flags, clock)));
}

function registerChange(
  keys: Command,
  name: string,
  description: string,
  change: (id: string, json: boolean | undefined) => Promise<string>,
): void {
  withJson(keys.command(name).argument('<id>', 'as printed by issue and list'))
    .description(description)
    .action((id: string, { json }: CommonFlags) => print(keys, change(id, json)));
}

function withJson(command: Command): Command {
  return command.option('--json', 'print one JSON object');
}

/** What the operator can mend is one line on stderr; anything else is a defect and is thrown on. */
async function print(keys: Command, text: Promise<string>): Promise<void> {
  try {
    process.stdout.write(`${await text}\n`);
  } catch (error) {
    if (!(error instanceof KeyStoreError)) throw error;
    keys.error(`error: ${error.message}`, { exitCode: EXIT_FAILED });
  }
}

async function issueTo(location: string, flags: IssueFlags, clock: NowMs): Promise<string> {
  const nowMs = clock.nowMs();
  const { record, key } = issue(orderOf(flags), nowMs);
  await storesAt(location).keys.insert(record);
  return withKey(record, key, nowMs, flags.json);
}

async function list(location: string, clock: NowMs, json: boolean | undefined): Promise<string> {
  const nowMs = clock.nowMs();
  const keys = (await storesAt(location).keys.list()).map((record) => viewOf(record, nowMs));
  return json ? JSON.stringify({ keys }) : table(keys);
}

async function renew(location: string, id: string, clock: NowMs, json: boolean | undefined): Promise<string> {
  const nowMs = clock.nowMs();
  const { record } = await storesAt(location).keys.amend(id, (current) => renewed(current, nowMs));
  return json ? asJson(record, nowMs) : `${id} expires at ${record.expiresAt}`;
}

async function revoke(
  location: string,
  id: string,
  clock: NowMs,
  json: boolean | undefined,
): Promise<string> {
  const nowMs = clock.nowMs();
  const { record } = await storesAt(location).keys.amend(id, (current) => revoked(current, nowMs));
  return json ? asJson(record, nowMs) : `${id} is revoked since ${record.revokedAt}`;
}

async function rotate(
  location: string,
  id: string,
  clock: NowMs,
  json: boolean | undefined,
): Promise<string> {
  const nowMs = clock.nowMs();
  let key = '';
  const { successor } = await storesAt(location).keys.amend(id, (current) => {
    const issued = successorOf(current, nowMs);
    key = issued.key;
    return { record: revoked(current, nowMs).record, successor: issued.record };
  });
  if (successor === undefined) throw new Error('a rotation without a new key');
  return withKey(successor, key, nowMs, json);
}

function orderOf({ kind, label: text, rate, daily, expires }: IssueFlags): KeyOrder {
  return {
    kind,
    ...(text !== undefined && { label: text }),
    ...(rate !== undefined && { ratePerS: rate }),
    ...(daily !== undefined && { dailyMax: daily }),
    ...(expires !== undefined && { expiresAt: expires }),
  };
}

function viewOf(record: KeyRecord, nowMs: number): KeyView {
  const { id, kind, label: text, createdAt, expiresAt, revokedAt, ratePerS, dailyMax } = record;
  const state = stateOf(record, nowMs);
  return { id, kind, state, label: text, createdAt, expiresAt, revokedAt, ratePerS, dailyMax };
}

function asJson(record: KeyRecord, nowMs: number): string {
  return JSON.stringify(viewOf(record, nowMs));
}

/** The only text that ever holds a key. */
function withKey(record: KeyRecord, key: string, nowMs: number, json: boolean | undefined): string {
  const { id, ...rest } = viewOf(record, nowMs);
  if (json) return JSON.stringify({ id, key, ...rest });
  return [
    `id       ${id}`,
    `kind     ${rest.kind}`,
    `expires  ${rest.expiresAt ?? 'never'}`,
    `rate     ${limitText(rest.ratePerS, 'requests per second')}`,
    `daily    ${limitText(rest.dailyMax, 'predictions per UTC day')}`,
    `key      ${key}`,
    '',
    'The key is shown this once: only its SHA-256 is stored.',
  ].join('\n');
}

function limitText(limit: number | null, unit: string): string {
  return limit === null ? 'unlimited' : `${limit} ${unit}`;
}

function table(views: readonly KeyView[]): string {
  if (views.length === 0) return 'no keys';
  const rows = [['ID', 'KIND', 'STATE', 'EXPIRES', 'RATE/S', 'DAILY', 'LABEL'], ...views.map(cellsOf)];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cellsOf({ id, kind, state, expiresAt, ratePerS, dailyMax, label: text }: KeyView): string[] {
  const [rate, daily] = [ratePerS, dailyMax].map((limit) => limit?.toString() ?? 'unlimited');
  return [id, kind, state, expiresAt ?? 'never', rate ?? '', daily ?? '', text];
}

function limitUpTo(max: number): (text: string) => number | null {
  return (text) => {
    if (text === 'unlimited') return null;
    const limit = Number(text);
    if (/^[1-9]\d*$/.test(text) && limit <= max) return limit;
    throw new InvalidArgumentError(`It must be an integer from 1 to ${max}, or unlimited.`);
  };
}

/** Control characters could forge lines of the list. */
function label(text: string): string {
  if (text.length <= LABEL_LENGTH_MAX && !/\p{Cc}/u.test(text)) return text;
  throw new InvalidArgumentError(
    `It must have at most ${LABEL_LENGTH_MAX} characters, none of them control characters.`,
  );
}

function isoDate(text: string): string {
  const time = new Date(text.includes('T') && !/(Z|[+-]\d\d:\d\d)$/.test(text) ? `${text}Z` : text);
  if (ISO_DATE.test(text) && isOnCalendar(text) && !Number.isNaN(time.getTime())) return time.toISOString();
  throw new InvalidArgumentError('It must be an ISO 8601 date, as 2030-01-31 or 2030-01-31T12:00:00Z.');
}

/** `Date` makes 2 March of 31 February. */
function isOnCalendar(text: string): boolean {
  const date = text.slice(0, '2030-01-31'.length);
  const midnight = new Date(date);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}
