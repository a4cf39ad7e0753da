/** The files of one person, as sleeps and samples: exports of Apple Health, saved answers, tables. */
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { AdapterOptions } from '#adapters/adapt.js';
import { DAY_MS } from '../base/days.js';
import { Field } from '#adapters/field.js';
import { pieceOf, sleepsOfPieces, type Piece } from '#adapters/pieces.js';
import {
  BREATH,
  HEART,
  readingOf,
  SLEEP,
  sourceOf as deviceOf,
  stageOf,
} from '#adapters/providers/appleHealth.js';
import { answersOf, isOfTables, recordsOf, type Provider } from '#adapters/recording.js';
import { attempt, leftOf, type Left, type SleepDetails, type SleepRecord } from '#adapters/records.js';
import { OperatorError } from '../base/errors.js';
import { exportedAt, healthRecords } from './appleExport.js';
import { rowsOfCsv } from './csv.js';
import { samplesOf, type Sample } from './nights.js';

/** Files of one person: read for the sleeps first, and again for the samples of the nights. */
export interface Source {
  sleeps(): SleepRecord[];
  samples(): Iterable<Sample>;
}

/**
 * @param tell  hears what could not be used
 * @throws OperatorError if a file can't be one of the provider's
 */
export function sourceOf(
  provider: Provider,
  files: readonly string[],
  options: AdapterOptions,
  tell: (left: Left) => void,
): Source {
  const folder = files.find((file) => statSync(file).isDirectory());
  if (folder !== undefined) throw new OperatorError(`${folder} is a folder: name the files in it`);
  return provider === 'apple_health'
    ? new AppleHealth(files, options.zone, tell)
    : new Answers(provider, files, options, tell);
}

/** Exports of the Health app. */
class AppleHealth implements Source {
  /** A wrong clock may have written records of future days. */
  readonly #lastMs: number;

  constructor(
    private readonly files: readonly string[],
    private readonly zone: string | undefined,
    private readonly tell: (left: Left) => void,
  ) {
    const days = files.map((file) =>
      Date.parse((locatedIn(file, () => exportedAt(file)) ?? '').slice(0, 10)),
    );
    this.#lastMs = days.every((ms) => ms > 0) ? Math.max(...days) + 2 * DAY_MS : Infinity;
  }

  sleeps(): SleepRecord[] {
    const pieces: Piece[] = [];
    const sources = new Map<string, string>();
    for (const piece of this.#read([SLEEP], (record) => pieceOf(record, stageOf(record)))) {
      // One copy of each name, and no record: a part of a text keeps the whole of it.
      const name = piece.source ?? '';
      const source = sources.get(name) ?? Buffer.from(name).toString();
      sources.set(source, source);
      if (piece.from < this.#lastMs) pieces.push({ ...piece, field: piece.field.as(undefined), source });
    }
    return sleepsOfPieces(pieces);
  }

  samples(): Iterable<Sample> {
    return this.#read([HEART, BREATH], (record) => {
      const { at: atMs, value } = readingOf(record);
      const signal = record.get('type').text() === HEART ? 'heart' : 'breath';
      return [{ signal, atMs, value, field: record.as(undefined), source: deviceOf(record) }];
    });
  }

  *#read<Item>(types: readonly string[], read: (record: Field) => Item[]): Generator<Item> {
    for (const file of this.files) {
      for (const record of healthRecords(file, types, this.zone)) {
        yield* attempt(
          () => read(record),
          (flaw) => (this.tell(leftOf(flaw)), []),
        );
      }
    }
  }
}

/** JSON of this length takes some five times as much memory. */
const FILE_BYTES_MAX = 128 << 20;
/** An answer that is samples alone, and most of an archive: the first reading leaves it out. */
const SAMPLES = 'heart_rate';
/** The name of a file that holds all answers together, by their names. */
const WHOLE = '';

/** Saved answers, and archives of them, as JSON. */
class Answers implements Source {
  /** Answers that belong together: the file of each by its name. */
  readonly #groups: readonly ReadonlyMap<string, string>[];
  /** Says whose the first of them are. */
  #owner: Field | undefined;

  constructor(
    private readonly provider: Provider,
    files: readonly string[],
    private readonly options: AdapterOptions,
    private readonly tell: (left: Left) => void,
  ) {
    this.#groups = groupsOf(provider, files);
  }

  sleeps(): SleepRecord[] {
    return this.#groups.flatMap((group) => {
      const names = [...group.keys()].filter((name) => name !== SAMPLES);
      if (names.length === 0) return [];
      const { sleeps, heart = [], breath = [] } = this.#records(group, names);
      const [what = ''] = group.values();
      if (sleeps === undefined && heart.length + breath.length === 0)
        this.tell({ what, why: 'is not used: no file with sleeps has the same end of its name' });
      return (sleeps ?? []).map(detached);
    });
  }

  *samples(): Generator<Sample> {
    for (const group of this.#groups) yield* samplesOf(this.#records(group, [...group.keys()], this.tell));
  }

  #records(
    group: ReadonlyMap<string, string>,
    names: readonly string[],
    tell?: (left: Left) => void,
  ): ReturnType<typeof recordsOf> {
    const [file = ''] = names.map((name) => group.get(name));
    const answers = names.map((name) => [name, answerIn(group.get(name) ?? '', this.provider)] as const);
    const recording = {
      ...recordingOf(this.provider, file, answers),
      provider: this.provider,
      zone: this.options.zone,
      at: undefined,
    };
    const records = locatedIn(file, () => recordsOf(recording));
    const { owner } = records;
    if (owner !== undefined && this.#owner?.isSame(owner) === false)
      throw new OperatorError(`${file} is another person's than those before it: give one person's files`);
    this.#owner ??= owner?.detached();
    if (tell !== undefined) records.left?.forEach(tell); // the first reading would say it too
    return records;
  }
}

function recordingOf(
  provider: Provider,
  file: string,
  answers: readonly (readonly [name: string, answer: unknown])[],
): object {
  const names = answersOf(provider);
  const [[first, only] = []] = answers;
  const isObject = typeof only === 'object' && only !== null && !Array.isArray(only);
  const isWhole =
    isObject && (first === WHOLE ? names : ['provider']).some((name) => Object.hasOwn(only, name));
  if (isWhole) return only;
  if (first !== WHOLE) return Object.fromEntries(answers);
  const [name, ...others] = names;
  if (name !== undefined && others.length === 0) return { [name]: only };
  throw new OperatorError(`${file}: which answer is it? Let its name begin with ${names.join(' or ')}`);
}

/** Files by the answer that their names begin with; those with the same rest of the name belong together. */
function groupsOf(provider: Provider, files: readonly string[]): ReadonlyMap<string, string>[] {
  const names = answersOf(provider);
  const groups = new Map<string, Map<string, string>>();
  for (const file of files) {
    const base = basename(file);
    const name = names.toSorted((a, b) => b.length - a.length).find((one) => isNamed(base, one)) ?? WHOLE;
    const key = join(dirname(file), base.startsWith(name) ? base.slice(name.length) : base);
    groups.set(key, (groups.get(key) ?? new Map<string, string>()).set(name, file));
  }
  return [...groups.values()];
}

/** Samsung's tables have the name of its packages before their own, Zepp's are in capitals and without `_`. */
function isNamed(base: string, answer: string): boolean {
  const plain = (name: string): string => name.toLowerCase().replaceAll('_', '');
  return plain(base.replace(/^com\.samsung\.s?health\.(tracker\.)?/, '')).startsWith(plain(answer));
}

/** A sleep read at once, that no longer holds the answer it came in. */
function detached({ read, field, ...record }: SleepRecord): SleepRecord {
  const own = new Field(undefined, field.place);
  try {
    const { heart, breath, heartAverage, breathAverage, ...details } = read();
    const known: SleepDetails = {
      ...details,
      ...(heart && { heart: heart.detached() }),
      ...(breath && { breath: breath.detached() }),
      ...(heartAverage && { heartAverage: heartAverage.detached() }),
      ...(breathAverage && { breathAverage: breathAverage.detached() }),
    };
    return { ...record, field: own, read: () => known };
  } catch (error) {
    const fail = (): never => {
      throw error; // if this is the sleep that counts
    };
    return { ...record, field: own, read: fail };
  }
}

function answerIn(file: string, provider: Provider): unknown {
  const { size } = statSync(file);
  if (size > FILE_BYTES_MAX)
    throw new OperatorError(
      `${file} is longer than ${FILE_BYTES_MAX >> 20} MiB: export it in parts, such as months`,
    );
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const rows = locatedIn(file, () => rowsOfCsv(text));
    if (rows !== undefined && isOfTables(provider)) return rows;
    throw new OperatorError(`${file} is ${rows === undefined ? lookOf(text) : tableSent(provider)}`);
  }
}

function tableSent(provider: Provider): string {
  return `a CSV, such as accounts export: ${provider} is read from the JSON that its API answers; of a table make intervals`;
}

function lookOf(text: string): string {
  if (text.startsWith('PK')) return 'an archive: unpack it first';
  if (text.startsWith('<')) return 'XML or a page of the web, and not JSON';
  return /^\s*[[{]/.test(text) ? 'JSON that is cut or damaged' : 'not JSON';
}

/** Names the file in what the provider's reader says. */
function locatedIn<Result>(file: string, work: () => Result): Result {
  return attempt(work, ({ message }) => {
    throw new OperatorError(`${file}: ${message}`);
  });
}
