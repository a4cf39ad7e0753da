/** The commands `acuity keys …`. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  issue,
  renewed,
  revoked,
  stateOf,
  successorOf,
  type IssuedKey,
  type KeyOrder,
} from '../auth/lifecycle.js';
import { dateOf, dayAt, isOnCalendar } from '../base/days.js';
import type { KeyKind } from '../auth/key.js';
import { openStores, placeOf, storesAt } from '../auth/location.js';
import { KeyStoreError, type KeyRecord } from '../auth/record.js';
import type { KeyStore, KeyStores } from '../auth/store.js';
import { systemClock, type Clock } from '../base/clock.js';
import { textTable } from '../base/table.js';
import { wholeNumber } from './numbers.js';
import { EXIT } from '../base/process/exitCodes.js';

/** A record as operators see it, without the digest. */
export type KeyView = Omit<KeyRecord, 'digest'> & { readonly state: string };

/** Commander turns `null` into an empty string, so "no limit" stays a word until the order is made. */
type LimitFlag = number | typeof UNLIMITED;

interface IssueFlags {
  readonly kind: KeyKind;
  readonly label?: string;
  readonly rate?: LimitFlag;
  readonly daily?: LimitFlag;
  readonly expires?: string;
  readonly json?: boolean;
}

interface CommonFlags {
  readonly json?: boolean;
}

interface UsageFlags extends CommonFlags {
  readonly days: number;
}

const UNLIMITED = 'unlimited';
/** A shared store keeps counts for this many days. */
const DAYS_MAX = 400;
/** The largest value of a 32-bit counter. */
const DAILY_MAX = 2 ** 31 - 1;
/** More than one server can answer. */
const RATE_MAX = 1_000_000;
const LABEL_LENGTH_MAX = 200;
/** A server may wait for its first key. */
const NEW = ' is new: no server reads from it yet, unless its ACUITY_KEYS names this place';
const ISO_DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;

type NowMs = Pick<Clock, 'nowMs'>;

/** Where a command does its work. */
interface CommandContext {
  readonly store: KeyStore;
  readonly usage: KeyStores['usage'];
  readonly spread: KeyStores['spread'];
  readonly nowMs: number;
}

/** One result, for programs and for people. */
interface Report {
  readonly json: object;
  readonly text: string;
}

type KeyCommand = (context: CommandContext) => Promise<Report>;

/** Adds `keys issue|list|usage|import|renew|revoke|rotate`. Calls `keysLocation` when one of them runs. */
export function registerKeys(program: Command, keysLocation: () => string, clock: NowMs = systemClock): void {
  const keys = program
    .command('keys')
    .description('issue, list, count, import, renew, revoke and rotate API keys');
  const perform = async (command: KeyCommand, { json }: CommonFlags): Promise<void> => {
    let stores: KeyStores | undefined;
    let [place, news] = ['', ''];
    try {
      const location = keysLocation();
      stores = await openStores(location);
      place = placeOf(location);
      const { keys: store, usage, spread } = stores;
      if ((await store.stored()) === undefined) news = NEW;
      const report = await command({ store, usage, spread, nowMs: clock.nowMs() });
      keys.configureOutput().writeOut?.(`${json ? JSON.stringify(report.json) : report.text}\n`);
      keys.configureOutput().writeErr?.(`key store: ${place}${news}\n`);
    } catch (error) {
      // An error that the operator can fix is one line on stderr; any other is a defect.
      if (!(error instanceof KeyStoreError)) throw error;
      const isNamed = place === '' || error.message.includes(place.replace('file:', ''));
      keys.error(`error: ${error.message}${isNamed ? '' : ` (key store: ${place}${news})`}`, {
        exitCode: EXIT.failed,
      });
    } finally {
      stores?.close();
    }
  };

  issueCommand(keys).action((flags: IssueFlags) =>
    perform((context) => issueAt(context, orderOf(flags)), flags),
  );
  command(keys, 'list', 'list every key, without its secret').action((flags: CommonFlags) =>
    perform(listAt, flags),
  );
  command(keys, 'usage', 'predictions answered with 200, by key and UTC day')
    .option('--days <n>', 'of how many days, today included', wholeNumber(1, DAYS_MAX), 1)
    .action((flags: UsageFlags) => perform((context) => usageAt(context, flags.days), flags));
  command(keys, 'import', 'add the keys of a key file to this store; keys in the store stay unchanged')
    .argument('<file>', 'the key file of ACUITY_KEYS=file:PATH')
    .action((file: string, flags: CommonFlags) => perform((context) => importAt(context, file), flags));
  for (const { name, description, change } of CHANGES) {
    command(keys, name, description)
      .argument('<id>', 'as printed by issue and list')
      .action((id: string, flags: CommonFlags) => perform((context) => change(context, id), flags));
  }
}

/** Creates the key store with one demo key. Resolves to `undefined` if there is a store already. */
export async function issueFirstDemoKey(
  location: string,
  clock: NowMs = systemClock,
): Promise<{ id: string; key: string } | undefined> {
  const { record, key } = issue({ kind: 'demo', label: 'first demo key' }, clock.nowMs());
  const stores = await openStores(location);
  try {
    return (await stores.keys.insertFirst(record)) ? { id: record.id, key } : undefined;
  } finally {
    stores.close();
  }
}

const CHANGES = [
  { name: 'renew', description: 'give a key 90 more days from now', change: renewAt },
  { name: 'revoke', description: 'refuse a key from now on', change: revokeAt },
  { name: 'rotate', description: 'issue a new key and revoke the old one at once', change: rotateAt },
] as const;

function issueCommand(keys: Command): Command {
  return command(keys, 'issue', 'issue a key and print it, this once')
    .addOption(new Option('--kind <kind>', 'kind of key').choices(['demo', 'live']).makeOptionMandatory())
    .option('--label <text>', 'who or what uses the key')
    .option('--rate <n>', 'requests per second, or unlimited', limitUpTo(RATE_MAX))
    .option('--daily <n>', 'predictions per UTC day, or unlimited', limitUpTo(DAILY_MAX))
    .option('--expires <date>', 'when it expires: an ISO 8601 date, UTC unless it says otherwise', isoDate);
}

function command(keys: Command, name: string, description: string): Command {
  return keys.command(name).description(description).option('--json', 'print one JSON object');
}

async function issueAt({ store, nowMs }: CommandContext, order: KeyOrder): Promise<Report> {
  const issued = issue(order, nowMs);
  await store.insert(issued.record);
  return reportWithKey(issued, nowMs);
}

async function listAt({ store, nowMs }: CommandContext): Promise<Report> {
  const stored = await store.stored();
  if (stored === undefined) throw new KeyStoreError('there is no key store at this place yet');
  const { records, unreadable } = stored;
  const keys = records.map((record) => viewOf(record, nowMs));
  const skipped = unreadable.map(
    (name) => `\n${JSON.stringify(name)}: this record can't be read by this version, its key is refused`,
  );
  const json = { keys, ...(unreadable.length > 0 && { unreadable }) };
  return { json, text: table(keys) + skipped.join('') };
}

async function usageAt({ store, usage, nowMs }: CommandContext, days: number): Promise<Report> {
  const today = dayAt(nowMs);
  const labels = new Map((await store.list()).map((record) => [record.id, record.label]));
  const counted = (await usage(today - days + 1, today)).flatMap(({ day, used }) =>
    Object.entries(used)
      .filter(([, predictions]) => predictions > 0)
      .map(([id, predictions]) => ({ day: dateOf(day), id, label: labels.get(id) ?? '', predictions }))
      .toSorted((a, b) => b.predictions - a.predictions || (a.id < b.id ? -1 : 1)),
  );
  const rows = counted.map(({ day, id, predictions, label: text }) => [day, id, String(predictions), text]);
  const text = textTable([['DAY', 'ID', 'PREDICTIONS', 'LABEL'], ...rows], {
    alignsRight: false,
    hasRule: false,
  });
  return { json: { usage: counted }, text: rows.length === 0 ? 'no predictions' : text };
}

async function importAt({ store }: CommandContext, file: string): Promise<Report> {
  const records = await storesAt(`file:${file}`).keys.list();
  if (records.length === 0) throw new KeyStoreError('the file holds no keys');
  const imported = await store.insertMissing(records);
  const known = records.length - imported;
  return { json: { imported, known }, text: `${imported} keys imported, ${known} were there already` };
}

async function renewAt({ store, nowMs }: CommandContext, id: string): Promise<Report> {
  const { record } = await store.amend(id, (current) => renewed(current, nowMs));
  return { json: viewOf(record, nowMs), text: `${id} expires at ${record.expiresAt}` };
}

async function revokeAt({ store, spread, nowMs }: CommandContext, id: string): Promise<Report> {
  const { record } = await store.amend(id, (current) => revoked(current, nowMs));
  const view = viewOf(record, nowMs);
  const text = `${id} is revoked since ${record.revokedAt}`;
  // The key is revoked, even if the store goes away now.
  const { replicas, seen } = await spread().catch(() => ({ replicas: NaN, seen: NaN }));
  if (replicas === 0) return { json: view, text };
  if (Number.isNaN(replicas))
    return { json: view, text: `${text}; which replicas have seen it is unknown: the key store went away` };
  const missing =
    seen < replicas ? '; the others were stopped, or refuse it when they reach the store again' : '';
  return {
    json: { ...view, replicas, seen },
    text: `${text}, seen by ${seen} of ${replicas} replicas${missing}`,
  };
}

async function rotateAt({ store, nowMs }: CommandContext, id: string): Promise<Report> {
  let issued: IssuedKey | undefined;
  await store.amend(id, (current) => {
    issued = successorOf(current, nowMs);
    return { record: revoked(current, nowMs).record, successor: issued.record };
  });
  if (issued === undefined) throw new Error('a rotation without a new key');
  return reportWithKey(issued, nowMs);
}

function orderOf({ kind, label: text, rate, daily, expires }: IssueFlags): KeyOrder {
  return {
    kind,
    ...(text !== undefined && { label: checkedLabel(text) }),
    ...(rate !== undefined && { ratePerS: limitOf(rate) }),
    ...(daily !== undefined && { dailyMax: limitOf(daily) }),
    ...(expires !== undefined && { expiresAt: expires }),
  };
}

function viewOf(record: KeyRecord, nowMs: number): KeyView {
  const { id, kind, label: text, createdAt, expiresAt, revokedAt, ratePerS, dailyMax } = record;
  const state = stateOf(record, nowMs);
  return { id, kind, state, label: text, createdAt, expiresAt, revokedAt, ratePerS, dailyMax };
}

/** The only report that contains a key. */
function reportWithKey({ record, key }: IssuedKey, nowMs: number): Report {
  const { id, ...rest } = viewOf(record, nowMs);
  const text = [
    `id       ${id}`,
    `kind     ${rest.kind}`,
    `expires  ${rest.expiresAt ?? 'never'}`,
    `rate     ${limitText(rest.ratePerS, 'requests per second')}`,
    `daily    ${limitText(rest.dailyMax, 'predictions per UTC day')}`,
    `key      ${key}`,
    '',
    'The key is shown this once: only its SHA-256 is stored.',
  ].join('\n');
  return { json: { id, key, ...rest }, text };
}

function limitText(limit: number | null, unit: string): string {
  return limit === null ? UNLIMITED : `${limit} ${unit}`;
}

function table(views: readonly KeyView[]): string {
  if (views.length === 0) return 'no keys';
  const rows = [['ID', 'KIND', 'STATE', 'EXPIRES', 'RATE/S', 'DAILY', 'LABEL'], ...views.map(cellsOf)];
  return textTable(rows, { alignsRight: false, hasRule: false });
}

function cellsOf({ id, kind, state, expiresAt, ratePerS, dailyMax, label: text }: KeyView): string[] {
  const [rate, daily] = [ratePerS, dailyMax].map((limit) => limit?.toString() ?? UNLIMITED);
  return [id, kind, state, expiresAt ?? 'never', rate ?? '', daily ?? '', text];
}

function limitOf(flag: LimitFlag): number | null {
  return flag === UNLIMITED ? null : flag;
}

function limitUpTo(max: number): (text: string) => LimitFlag {
  const number = wholeNumber(1, max, `, or ${UNLIMITED}`);
  return (text) => (text === UNLIMITED ? text : number(text));
}

/**
 * Control characters could forge lines of the list. Not checked while flags are parsed: Commander would quote them in
 * its message.
 */
function checkedLabel(text: string): string {
  if (text.length <= LABEL_LENGTH_MAX && !/\p{Cc}/u.test(text)) return text;
  throw new KeyStoreError(
    `a label has at most ${LABEL_LENGTH_MAX} characters, none of them control characters`,
  );
}

function isoDate(text: string): string {
  const time = new Date(text.includes('T') && !/(Z|[+-]\d\d:\d\d)$/.test(text) ? `${text}Z` : text);
  if (ISO_DATE.test(text) && isOnCalendar(text) && hasFourDigitYear(time)) return time.toISOString();
  throw new InvalidArgumentError('It must be an ISO 8601 date, as 2030-01-31 or 2030-01-31T12:00:00Z.');
}

/** An offset can lead beyond the years that ISO 8601 writes with four digits. False for an invalid date. */
function hasFourDigitYear(time: Date): boolean {
  const year = time.getUTCFullYear();
  return year >= 0 && year <= 9999;
}
