import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRecording, recordingProblem, type Provider, type Recording } from '#adapters/recording.js';
import { ROOT } from '#bench/paths.js';

/**
 * Recordings that may be dear to read: the cases of each provider, each list in them grown in every way, alone and beside
 * another one. So a provider has its shapes by its cases (`packages/cases`).
 */

/** A kind of recording, of any size. */
export interface Shape {
  readonly name: string;
  /** @param size  elements of each list that is grown */
  readonly make: (size: number) => Recording;
  /** Where two lists are grown, each of them alone. */
  readonly apart: readonly Shape[];
}

interface Case {
  readonly recording: Recording;
  readonly expect: { readonly session?: unknown };
}

type Box = Record<string, unknown>;
/** The way to a list from the recording; of lists within lists through the first element of each. */
type Way = readonly string[];

const CASES = JSON.parse(readFileSync(join(ROOT, 'packages/cases/adapters.json'), 'utf8')) as Readonly<
  Record<Provider, readonly Case[]>
>;

const DAY_MS = 86_400_000;
const NIGHT_MS = 8 * 3_600_000;
/** Most parts of a night that are read. */
const PIECES = 48;
const NIGHT_SAMPLES = 96;
/** Cases of a provider that are grown: further ones differ little. */
const BASES_MAX = 2;
/** With summer time, by rules of their own. */
const ZONES = 'Europe/Berlin America/New_York Africa/Casablanca Australia/Lord_Howe Asia/Tehran'.split(' ');

/** Every shape of a provider: at least eight. */
export function shapesOf(provider: Provider): Shape[] {
  return basesOf(provider).flatMap(({ recording, ways, fresh }) => {
    const known = new Map<string, Shape>();
    const shape = (name: string, ...grown: readonly Grown[]): Shape => {
      const called = `${name}: ${grown.map(({ way }) => way.join('.')).join(' × ')}`;
      const apart =
        grown.length === 1
          ? []
          : grown.map((one) => shape(one.most === undefined ? one.kind : 'pieces', one));
      const made = known.get(called) ?? { name: called, make: (size) => grow(recording, grown, size), apart };
      known.set(called, made);
      return made;
    };
    const alone = fresh.flatMap((way) => KINDS.map((kind) => shape(kind, { way, kind })));
    const sleeps = ways.filter((way) => isOfSleeps(boxAt(recording, way)));
    const pairs = sleeps.flatMap((way) => {
      const others = ways.filter((other) => !isWithin(way, other) && !isWithin(other, way));
      return others.flatMap((other) => [
        shape('copies and samples', { way, kind: 'same' }, { way: other, kind: 'filled' }),
        shape('doubles and samples', { way, kind: 'doubles' }, { way: other, kind: 'filled' }),
        shape('pieces and samples', { way, kind: 'filled', most: PIECES }, { way: other, kind: 'filled' }),
      ]);
    });
    return [...alone, ...pairs];
  });
}

/** An ordinary night: the richest case of a provider, with stages and samples every five minutes where it is read so. */
export function ordinaryOf(provider: Provider): Recording {
  const [{ recording, ways } = { recording: { provider }, ways: [] }] = basesOf(provider);
  return ways.reduce((night, way) => {
    const grown = grow(night, [{ way, kind: 'filled' }], NIGHT_SAMPLES);
    return !isOfSleeps(boxAt(night, way)) && isRead(grown) ? grown : night;
  }, recording);
}

/** Whether each element lasts some hours. */
function isOfSleeps(list: Box): boolean {
  return Object.entries(list).every((one) => spanOf(one)[1] - spanOf(one)[0] > NIGHT_MS / 4);
}

function isRead(recording: Recording): boolean {
  try {
    readRecording(recording);
    return true;
  } catch (error) {
    if (recordingProblem(error) === undefined) throw error;
    return false;
  }
}

interface Base {
  readonly recording: Recording;
  readonly ways: readonly Way[];
  /** Those of them that no richer case has. */
  readonly fresh: readonly Way[];
}

/** Cases that are read, until all lists of the provider's cases are among theirs; the richest first. */
function basesOf(provider: Provider): Base[] {
  const seen = new Set<string>();
  return CASES[provider]
    .filter(({ expect }) => expect.session !== undefined)
    .map(({ recording }) => ({ recording, ways: waysIn(recording) }))
    .toSorted((a, b) => b.ways.length - a.ways.length)
    .flatMap(({ recording, ways }) => {
      const fresh = ways.filter((way) => !seen.has(formOf(way)));
      for (const way of ways) seen.add(formOf(way));
      return fresh.length === 0 ? [] : [{ recording, ways, fresh }];
    })
    .slice(0, BASES_MAX);
}

/** Without the places in lists: an answer and a list of answers are read alike. */
function formOf(way: Way): string {
  return way.filter((step) => !/^\d/.test(step)).join('.');
}

function isWithin(way: Way, other: Way): boolean {
  return other.every((step, index) => way[index] === step);
}

function waysIn(value: unknown, way: Way = []): Way[] {
  if (typeof value !== 'object' || value === null) return [];
  const entries = Object.entries(value);
  if (!isList(value)) return entries.flatMap(([name, inner]) => waysIn(inner, [...way, name]));
  const [[name, first] = ['', undefined]] = entries;
  return entries.length === 0 ? [] : [way, ...waysIn(first, [...way, name])];
}

/** The list, or what holds it. */
function boxAt(recording: Recording, way: Way): Box {
  return way.reduce((holder, step) => holder[step] as Box, recording as Box);
}

/** An array, or an object with a name for each sample, as `{"23:39": 58}`. */
function isList(value: object): boolean {
  const names = Object.keys(value);
  return Array.isArray(value) || (names.length > 0 && names.every((name) => /^\d+$|^\d\d:\d\d/.test(name)));
}

const KINDS = [
  'same',
  'filled',
  'minutes',
  'days',
  'doubles',
  'years',
  'zones',
  'sources',
  'unreadable',
] as const;
/** From one element to the one before it, where its length stays; others fill the time of the list. */
const STEPS_MS: Partial<Record<Grown['kind'], number>> = {
  minutes: 60_000,
  days: DAY_MS,
  doubles: DAY_MS,
  years: 16 * DAY_MS,
  zones: 16 * DAY_MS,
};

interface Grown {
  readonly way: Way;
  readonly kind: (typeof KINDS)[number];
  /** Never more elements than this. */
  readonly most?: number;
}

function grow(recording: Recording, all: readonly Grown[], size: number): Recording {
  const grown = structuredClone(recording) as Box;
  for (const { way, kind, most = Infinity } of all) {
    const holder = boxAt(grown, way.slice(0, -1));
    const name = way.at(-1) ?? '';
    const list = holder[name] as Box;
    const elements = elementsOf(Object.entries(list), kind, Math.min(size, most));
    holder[name] = Array.isArray(list)
      ? elements.map(([, element]) => element)
      : Object.fromEntries(elements);
    if (kind === 'zones') grown['zone'] = ZONES[0];
  }
  return grown as Recording;
}

function elementsOf(templates: [string, unknown][], kind: Grown['kind'], size: number): [string, unknown][] {
  const spans = templates.map((template) => spanOf(template));
  const [fromMs, toMs] = [Math.min(...spans.map(([from]) => from)), Math.max(...spans.map(([, to]) => to))];
  const stepMs = (toMs > fromMs ? toMs - fromMs : NIGHT_MS) / size;
  return Array.from({ length: size }, (_, index): [string, unknown] => {
    const at = index % templates.length;
    const template = templates[at] ?? ['', undefined];
    const [from, to] = spans[at] ?? [0, 0];
    if (kind === 'same') return [/^\d/.test(template[0]) ? String(index) : template[0], template[1]];
    const backMs = STEPS_MS[kind];
    const steps = kind === 'doubles' ? index >> 1 : index;
    const scale = backMs !== undefined || to === from ? 1 : Math.min(1, stepMs / (to - from));
    const move = (ms: number) =>
      backMs === undefined ? toMs - (index + 1) * stepMs + (ms - from) * scale : ms - steps * backMs;
    const [name, element] = moved(template, { move, scale, kind, index });
    return [
      /^\d{1,6}$/.test(name) ? String(15 * index) : name,
      kind === 'unreadable' ? broken(element, index) : element,
    ];
  });
}

interface Move {
  readonly move: (ms: number) => number;
  /** Factor of durations. */
  readonly scale: number;
  readonly kind: Grown['kind'];
  readonly index: number;
}

/** A value with its name, its times moved. */
function moved([name, value]: readonly [string, unknown], by: Move): [string, unknown] {
  const timed = /^\d/.test(name) ? timeOf(name) : undefined;
  const key = timed === undefined ? name : timed.write(by.move(timed.ms));
  if (Array.isArray(value)) return [key, value.map((inner) => moved(['', inner], by)[1])];
  if (typeof value === 'object' && value !== null)
    return [key, Object.fromEntries(Object.entries(value).map((entry) => moved(entry, by)))];
  if (by.kind === 'sources' && typeof value === 'string' && SOURCE.test(name)) return [key, `of ${by.index}`];
  if (by.kind === 'zones' && typeof value === 'string' && value.includes('/')) return [key, ZONES[by.index % ZONES.length]]; // prettier-ignore
  const time = timeOf(value);
  if (time === undefined) return [key, typeof value === 'number' && DURATION.test(name) ? Math.round(value * by.scale) : value]; // prettier-ignore
  const written = time.write(by.move(time.ms));
  // A date alone stays, but for years: several nights have one date.
  if (/^\d{4}-\d\d-\d\d$/.test(String(value)) && by.kind !== 'zones' && by.kind !== 'years')
    return [key, value];
  if (typeof value === 'number') return [key, Number(written)];
  return [key, by.kind === 'zones' ? written.replace(/ ?(Z|[+-]\d\d:?\d\d)$/, '') : written];
}

const SOURCE = /source|device|platform|package|provider|origin/i;
const DURATION = /sec|minutes|milli|duration|_time$|^(deep|rem|light|core|awake|asleep|total|totalSleep)$/i;

/** The first of its values is of another kind; of each element another one. */
function broken(element: unknown, index: number): unknown {
  if (typeof element !== 'object' || element === null) return { toString: null };
  const names = Object.keys(element);
  const name = names[index % names.length] ?? '';
  return { ...element, [name]: { toString: null } };
}

interface Time {
  readonly ms: number;
  write(ms: number): string;
}

/** A value that is a time by its form, and how to write another one. */
function timeOf(value: unknown): Time | undefined {
  const text = String(typeof value === 'number' || typeof value === 'string' ? value : '');
  const iso = (ms: number) => new Date(ms).toISOString();
  if (/^\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?$/.test(text)) {
    const [, day = '', between = '', clock = '', rest = ''] = /^([\d-]{10})([T ]?)(\d\d:\d\d(?::\d\d)?)?(.*)$/.exec(text) ?? []; // prettier-ignore
    const write = (ms: number) =>
      `${iso(ms).slice(0, 10)}${between}${iso(ms).slice(11, 11 + clock.length)}${rest}`;
    return { ms: Date.parse(`${day}T${clock === '' ? '00:00' : clock}Z`), write };
  }
  const [, month, date, year, clock] = /^(\d\d)\/(\d\d)\/(\d\d) ([\d:]{8})$/.exec(text) ?? [];
  if (clock !== undefined) {
    const write = (ms: number) => iso(ms).replace(/^..(..)-(..)-(..)T(.{8}).*$/, '$2/$3/$1 $4');
    return { ms: Date.parse(`20${year}-${month}-${date}T${clock}Z`), write };
  }
  if (/^\d\d:\d\d(:\d\d)?$/.test(text))
    return { ms: Date.parse(`2026-03-01T${text}Z`), write: (ms) => iso(ms).slice(11, 19) };
  if (/^1[5-9]\d{8}$/.test(text))
    return { ms: Number(text) * 1000, write: (ms) => String(Math.round(ms / 1000)) };
  return /^1[5-9]\d{11}$/.test(text)
    ? { ms: Number(text), write: (ms) => String(Math.round(ms)) }
    : undefined;
}

/** From the first to the last time in it. */
function spanOf(value: unknown): [fromMs: number, toMs: number] {
  if (typeof value !== 'object' || value === null) {
    const ms = timeOf(value)?.ms;
    return ms === undefined ? [Infinity, -Infinity] : [ms, ms];
  }
  const inner = [...Object.values(value), ...(Array.isArray(value) ? [] : Object.keys(value))].map(spanOf);
  return [Math.min(...inner.map(([from]) => from)), Math.max(...inner.map(([, to]) => to))];
}
