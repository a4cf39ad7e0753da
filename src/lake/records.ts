import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ifPresentSync } from '../files/fileError.js';
import type { Engine } from './engine.js';
import { isRemote, type Input } from './inputs.js';
import { jsonIn } from './lineSplitter.js';
import { patternOf, textOf } from './sql.js';

/**
 * The record beside a result, `_STEM.acuity`: the command that made it and the inputs as they were when reading began. A
 * later run knows by it alone whether the result is finished. SQL and addresses are in it as digests.
 */
export interface ResultRecord {
  readonly made: {
    /** acuity's version. */
    readonly acuity: string;
    /** The hash of the network's manifest. */
    readonly network: string;
    readonly options: Shape;
    readonly inputs: readonly InputMark[];
    readonly lines: number;
    readonly bad: number;
  };
  /** Set once --accept-bad took its bad rows as they are. */
  readonly accepted?: true;
}

/** What shapes a result, by the names of options and variables; null is none given. */
export type Shape = Readonly<Record<string, unknown>>;

/** An input as its file system or its store tells it; a pipe has a name alone. */
export interface InputMark {
  /** Relative to the record. */
  readonly name: string;
  readonly size?: number;
  readonly modified?: string | undefined;
}

const KIND = 'acuity result';

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The name of `path` in a file that lies in `folder`: relative, so that both may be moved together. */
export function nameFrom(folder: string, path: string): string {
  if (isRemote(path) || isRemote(folder)) return digestOf(path);
  const real = (one: string): string => ifPresentSync(() => realpathSync(one)) ?? resolve(one);
  return relative(real(folder), join(real(dirname(path)), basename(path)));
}

/** The inputs as they are now; none of a SELECT, whose tables are not known. */
export async function marksOf(input: Input, engine: () => Promise<Engine>): Promise<InputMark[]> {
  const marks: InputMark[] = [];
  for (const { path } of input.query?.sql === undefined ? (input.query?.files ?? [input]) : []) {
    const name = nameFrom(dirname(input.record), path);
    marks.push({ name, ...(isRemote(path) ? await markInStore(path, engine) : markOnDisk(path)) });
  }
  return marks;
}

function markOnDisk(path: string): Omit<InputMark, 'name'> {
  const stat = statSync(path);
  return stat.isFile() ? { size: stat.size, modified: stat.mtime.toISOString() } : {};
}

async function markInStore(path: string, engine: () => Promise<Engine>): Promise<Omit<InputMark, 'name'>> {
  const sql = `SELECT CAST(size AS VARCHAR), CAST(epoch_ms(last_modified) AS VARCHAR) FROM read_blob(${textOf(patternOf(path))})`;
  const [[size, ms] = []] = await (await engine()).texts(sql, path);
  const modified = typeof ms === 'string' ? new Date(Number(ms)).toISOString() : undefined;
  return { size: Number(size), modified };
}

/** Whether an input can be compared with what it was. */
export function areKnown(marks: readonly InputMark[]): boolean {
  return marks.length > 0 && marks.every(({ size }) => size !== undefined);
}

export function areAlike(one: readonly InputMark[], other: readonly InputMark[]): boolean {
  // As JSON has them: without what is undefined.
  return isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));
}

export function recordText(record: ResultRecord): string {
  return `${JSON.stringify({ kind: KIND, format: 1, ...record }, undefined, 1)}\n`;
}

/** The record beside the result of an input; undefined if there is none, or it can't be read. */
export async function readRecord(
  { record: path }: Input,
  engine: () => Promise<Engine>,
): Promise<ResultRecord | undefined> {
  const text = isRemote(path)
    ? await textInStore(path, engine)
    : ifPresentSync(() => readFileSync(path, 'utf8'));
  const record = jsonIn(text ?? '') as (ResultRecord & { readonly kind?: unknown }) | null | undefined;
  return record?.kind === KIND && Array.isArray(record.made?.inputs) ? record : undefined;
}

async function textInStore(path: string, engine: () => Promise<Engine>): Promise<string | undefined> {
  if (!(await isInStore(path, engine))) return undefined;
  const [[text] = []] = await (await engine()).texts(`SELECT content FROM read_text(${textOf(path)})`, path);
  return text ?? undefined;
}

/** Only a pattern is looked for: a plain name is taken to be there. */
async function isInStore(path: string, engine: () => Promise<Engine>): Promise<boolean> {
  const pattern = textOf(`${patternOf(path.slice(0, -1))}[${path.slice(-1)}]`);
  return (await (await engine()).texts(`SELECT file FROM glob(${pattern})`, path)).length > 0;
}

/** Whether the result of an input has its name. */
export async function isThere({ output }: Input, engine: () => Promise<Engine>): Promise<boolean> {
  return isRemote(output) ? isInStore(output, engine) : existsSync(output);
}

/** What differs between the command that made a result and this one; undefined if nothing does. */
export function differenceOf({ made }: ResultRecord, network: string, now: Shape): string | undefined {
  const then = made.options;
  const shown = (value: unknown): string =>
    value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
  const names = [...new Set([...Object.keys(then), ...Object.keys(now)])];
  const other = names.flatMap((name) => {
    const [was, is] = [then[name] ?? null, now[name] ?? null];
    if (isDeepStrictEqual(was, is)) return [];
    return [DIGESTS.has(name) ? name : `${name} (${shown(was)} then, ${shown(is)} now)`];
  });
  const all = made.network === network ? other : ['the network', ...other];
  return all.length === 0 ? undefined : all.join(', ');
}

/** Options that a record has as digests. */
const DIGESTS: ReadonlySet<string> = new Set(['--sql', 'ACUITY_NORMS']);
