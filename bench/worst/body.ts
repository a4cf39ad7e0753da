import { ITEMS, type Item } from './items.js';

/** Spreads the bulk over all series of a request, each at its maximum length. */
const SPREAD_PLACE = 'series';

/** Where the bulk of a body goes: in place of `#`. */
export const PLACES: Readonly<Record<Genome['kind'], Readonly<Record<string, string>>>> = {
  element: {
    unknownArray: '{"current_session":{},"x":[#]}',
    unknownInSession: '{"current_session":{"x":[#]}}',
    nestedUnknown: '{"current_session":{"x":{"y":[[#]]}}}',
    night: '{"current_session":{"HR_night":[#]}}',
    breathing: '{"x":[],"current_session":{"RR_night":[#]}}',
    day: '{"current_session":{"RR_day_1h":[#]},"x":{}}',
    age: '{"current_session":{"age":[#]}}',
    pastSessions: '{"current_session":{},"past_sessions":[#],"past_targets":[]}',
    pastTargets: '{"past_targets":[#],"past_sessions":[{}],"current_session":{}}',
    current: '{"current_session":[#]}',
    root: '[#]',
    [SPREAD_PLACE]: '#',
  },
  member: {
    top: '{"current_session":{},#}',
    session: '{"current_session":{#}}',
    unknownObject: '{"current_session":{"x":{#}}}',
    past: '{"current_session":{},"past_sessions":[{#},{}],"past_targets":[null,7]}',
    target: '{"current_session":{},"past_sessions":[{}],"past_targets":[{#}]}',
    root: '{#}',
  },
};

/** The text after the bulk in place of the last bracket. */
const ENDS = {
  whole: undefined,
  cut: '',
  noBracket: ']',
  badNumber: ',"x":01}',
  badUtf8: ',"x":"\u00ed\u00a0\u0080"}', // as bytes
  badEscape: ',"x":"\\x"}',
  odd: ',"x":[1e400,{"\\u0061":"\\n"}]}',
} as const;
export const ENDINGS = Object.keys(ENDS) as (keyof typeof ENDS)[];

/** Filling of a body where the bounds of structure limit its items. */
export const FILLERS = ['none', 'spaces', 'digits', 'zeros', 'letters'] as const;

export interface Genome {
  readonly kind: 'element' | 'member';
  /** A name in `ITEMS`. */
  readonly item: string;
  /** A name in `PLACES`. */
  readonly place: string;
  /** Digits, letters or levels of one item. */
  readonly size: number;
  /** White space before each item. */
  readonly spaces: number;
  readonly ending: keyof typeof ENDS;
  readonly filler: (typeof FILLERS)[number];
  /** Whether items stay within the bounds of structure. */
  readonly isWithin: boolean;
  readonly bytes: number;
}

const STRINGS_LEFT = 19_800;
const BRACKETS_LEFT = 9_900;
/** All series at their limits. */
const SERIES_SAMPLES = [
  ['HR_day_1h', 7_200],
  ['RR_day_1h', 7_200],
  ['HR_night', 43_200],
  ['RR_night', 43_200],
] as const;
const TARGET =
  '{"C_SCORE":50.123456789012345,"attention":50,"memory":50,"reasoning":50,"stress":5e1,"valence":"Low","arousal":"High"}';

/** The body that a genome describes, at most `bytes` long. */
export function bodyOf(genome: Genome): Buffer {
  const items = new Items(genome);
  const text =
    genome.place === SPREAD_PLACE ? spread(items) : filled(PLACES[genome.kind][genome.place] ?? '', items);
  return ended(Buffer.from(text), genome);
}

function filled(template: string, items: Items): string {
  const [before = '', after = ''] = template.split('#');
  return before + items.take(items.genome.bytes - template.length - 64, Infinity) + after;
}

/** Six sessions with four series each. */
function spread(items: Items): string {
  const { bytes } = items.genome;
  const sessions = [];
  for (let session = 0; session < 6; session++) {
    const series = SERIES_SAMPLES.map(([name, samplesMax], index) => {
      const left = (bytes - 2000) / 6 / (index < 2 ? 14 : 2.4);
      return `"${name}":[${items.take(left, samplesMax)}]`;
    });
    sessions.push(`{${series.join()}}`);
  }
  const [current, ...past] = sessions;
  return `{"current_session":${current},"past_sessions":[${past.join()}],"past_targets":[${past.map(() => TARGET).join()}]}`;
}

const STRING = /"(?:[^"\\]|\\.)*"/g;

/** Items one after the other, then the filler. */
class Items {
  private index = 0;
  private readonly item: Item;
  private stringsLeft: number;
  private bracketsLeft: number;

  constructor(readonly genome: Genome) {
    const { kind, item, isWithin } = genome;
    this.item = ITEMS[kind][item] ?? (() => '');
    this.stringsLeft = isWithin ? STRINGS_LEFT : Infinity;
    this.bracketsLeft = isWithin ? BRACKETS_LEFT : Infinity;
  }

  /** About `bytes` bytes of at most `count` items. */
  take(bytes: number, count: number): string {
    const { size, spaces, kind, filler } = this.genome;
    const parts = [];
    let left = bytes;
    const gap = ' '.repeat(spaces);
    for (let taken = 0; left > 0 && taken < count; taken++, this.index++) {
      const text = gap + this.item(this.index, size);
      if (!this.holds(text)) break;
      left -= Buffer.byteLength(text) + 1;
      if (left <= 0) break;
      parts.push(text);
    }
    if (left <= 0 || count < Infinity || filler === 'none') return parts.join();
    return [...parts, fill(filler, left, kind)].join();
  }

  /** Whether one more item stays within the bounds of structure. */
  private holds(text: string): boolean {
    this.stringsLeft -= text.match(STRING)?.length ?? 0;
    this.bracketsLeft -= text.replaceAll(STRING, '').match(/[[{]/g)?.length ?? 0;
    return this.stringsLeft >= 0 && this.bracketsLeft >= 0;
  }
}

function fill(filler: Genome['filler'], bytes: number, kind: Genome['kind']): string {
  const key = kind === 'member' ? '"fill":' : '';
  if (filler === 'spaces') return ' '.repeat(bytes) + key + '0';
  if (filler === 'digits') return `${key}1${'7'.repeat(bytes)}`;
  if (filler === 'letters') return `${key}"${'a'.repeat(bytes)}"`;
  return kind === 'element' ? `0${',0'.repeat(bytes / 2)}` : `"fill":[0${',0'.repeat(bytes / 2)}]`;
}

function ended(bytes: Buffer, { ending }: Genome): Buffer {
  const end = ENDS[ending];
  return end === undefined ? bytes : Buffer.concat([bytes.subarray(0, -1), Buffer.from(end, 'latin1')]);
}
