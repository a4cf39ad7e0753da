import { textTable } from '#acuity/base/table.js';
import { NDJSON_TYPE } from '#acuity/contract/mediaTypes.js';
import { ListCount, measureList } from '#acuity/http/lists/listCount.js';
import {
  BLOCK_BYTES as BLOCK,
  EXACT_BYTES,
  EXPLAIN_TOKENS,
  furtherBlocks,
  readingTokens,
  recordingTokens,
} from '#acuity/http/prices.js';
import { bodiesOf } from '#acuity/tune/load/payloads.js';
import { createReader } from '#acuity/read/read.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { readRecordingOf } from '#acuity/read/readRecording.js';
import { PROVIDERS, type Recording } from '#adapters/recording.js';
import { closedLoopWithAutocannon } from '#bench/load/autocannon.js';
import { CONSTANTS } from '#bench/load/historyField.js';
import { ACUITY, service } from '#bench/peers/catalogue.js';
import { withPeers } from '#bench/server.js';
import { ordinaryOf, shapesOf } from './recordingShapes.js';
import { interleaved, ratioOf, spread, spreadText } from '#bench/spread.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { LINES_MAX } from '#rules/structure.js';

/** A token of a kind may cost this many times what it costs as the dearest plain request: one with its past. */
const PRICE_MAX = 1.5;
/** The same for the recording of a provider that is the dearest of all that are tried. */
const DEAREST_MAX = 3;
/** Length of the recordings that are compared. */
const RECORDING_BYTES = 65_536;
const CONNECTIONS = 8;

/** A body, and the tokens that it costs. */
interface Kind {
  readonly body: string;
  readonly tokens: number;
  readonly mediaType?: string;
  /** PRICE_MAX where it is not given. */
  readonly max?: number;
}

const [PLAIN = ''] = bodiesOf('baseline', 1);
const SESSION = PLAIN.slice(1, -1);

const reader = createReader(DEFAULT_SERIES_LIMITS);

/** The tokens that the service charges for reading a body or a line. */
function reading(body: string): number {
  return readingTokens(reader(Buffer.from(body), CONSTANTS), Buffer.byteLength(body));
}

function single(body: string, tokens = 1): Kind {
  return { body, tokens: tokens + furtherBlocks(Buffer.byteLength(body)) + reading(body) };
}

function list(lines: readonly string[]): Kind {
  const body = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const count = new ListCount(body, (bytes) => reader(bytes, CONSTANTS), {
    fits: (found) => found <= LINES_MAX,
    isWithinDay: () => true,
  });
  for (const step of count.steps()) void step;
  const { tokens, fit } = measureList(count, { tokensMax: Infinity, dayMax: Infinity, plainMax: LINES_MAX });
  const isAdmitted = count.found.lines.length <= fit;
  const read = isAdmitted ? lines.map((line) => reading(line.trim())) : [];
  const least = 1 + furtherBlocks(body.length) + count.paid;
  return {
    body: body.toString(),
    tokens:
      (isAdmitted ? Math.max(tokens, least) : least) +
      count.extra +
      read.reduce((sum, more) => sum + more, 0),
    mediaType: NDJSON_TYPE,
  };
}

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

function measured(count: number, value: unknown, session = SESSION): string {
  const items = Array.from({ length: count }, (_, index) => ({
    score: ['attention', 'memory', 'reasoning', 'stress'][index % 4],
    value,
    on: `2026-10-${String(1 + (index % 28)).padStart(2, '0')}`,
    reliability: 0.7,
  }));
  return `{${session},"history":"","night":"2026-11-20","measurements":${JSON.stringify(items)}}`;
}

/** A body of almost `bytes`, full of `item` where `#` stands. */
function full(template: string, item: string, bytes = BLOCK): string {
  return template.replace('#', item.repeat((bytes - 200) / item.length).replace(/,$/, ''));
}

/** Escapes leave them to the exact path. */
function unknownMembers(count: number): string {
  return `{${EMPTY}${Array.from({ length: count }, (_, at) => `,"${at}":"\\u0061"`).join('')}}`;
}

const EMPTY = '"current_session":{}';
const WRONG = '"current_session":{"age":"34"}';
/** Leaves the body to the exact path. */
const ESCAPED = '"\\u0063urrent_session":';

/** A plain request, its past in lists. */
const PLAIN_KIND = single(bodiesOf('history', 1)[0] ?? '');

const KINDS: Readonly<Record<string, Kind>> = {
  plain: single(PLAIN),
  'past in lists': PLAIN_KIND,
  'history begun': single(`{${SESSION},"history":"","night":"2026-11-20"}`),
  'white space': single(`{${EMPTY}${' '.repeat(BLOCK - 100)}}`),
  'digits of one number': single(full(`{${EMPTY},"x":1#}`, '7')),
  samples: single(full('{"current_session":{"HR_night":[#]}}', '61.8,')),
  'samples of 17 digits': single(full('{"current_session":{"HR_night":[#]}}', '61.81472368697139,')),
  'samples with exponents': single(full('{"current_session":{"HR_night":[#]}}', '6e1,')),
  'samples left out': single(full('{"current_session":{"HR_night":[#]}}', '-1,255,0,61,')),
  'samples that are no numbers': single(full('{"current_session":{"HR_night":[#]}}', 'null,')),
  'unknown members': single(unknownMembers(2_000)),
  'exact path: empty names': single(full(`{${ESCAPED}{},#}`, '"":0,', EXACT_BYTES)),
  'exact path: exponents': single(full(`{${ESCAPED}{"HR_night":[#]}}`, '6e1,', EXACT_BYTES)),
  'exact path: the same name': single(full(`{${ESCAPED}{#}}`, '"age":3,', EXACT_BYTES)),
  'refused: samples': single(full('{"current_session":{"age":"a","HR_night":[#]}}', '61,', EXACT_BYTES)),
  'levels of arrays': single(`{${EMPTY},"x":${'['.repeat(60)}${']'.repeat(60)}}`),
  'beyond the structure': single(full(`{${EMPTY},"x":[#]}`, '{},')),
  'escaped name': single(`{${ESCAPED}{}}`),
  'refused: JSON': single('{'),
  'refused: a field': single(`{${WRONG}}`),
  'refused: eight fields': single(
    '{"current_session":{"age":"a","height_cm":"a","weight_kg":"a","sex":1,"deepSleepSeconds":"a","remSleepSeconds":"a","lightSleepSeconds":"a","awakeSleepSeconds":"a"}}',
  ),
  '64 measurements': single(measured(64, 51)),
  '64 measurements, no session': single(measured(64, 51, EMPTY)),
  'refused: 64 measurements': single(measured(64, '51')),
  explained: single(`{${SESSION},"explain":true}`, EXPLAIN_TOKENS),
  'refused: explained': single(`{${WRONG},"explain":true}`),
  'list: plain': list(times(100, PLAIN)),
  'list: empty sessions': list(times(LINES_MAX, `{${EMPTY}}`)),
  'list: line feeds': list([`{${EMPTY}}${'\n'.repeat(BLOCK - 100)}`]),
  'list: CRLF': list([`{${EMPTY}}${'\r\n'.repeat(BLOCK / 2 - 100)}`]),
  'list: mixed line ends': list([`{${EMPTY}}${'\n\r\n'.repeat(BLOCK / 3 - 100)}`]),
  'list: 4 MiB of line feeds': list([`{${EMPTY}}${'\n'.repeat(63 * BLOCK)}`]),
  'list: refused JSON': list(times(LINES_MAX, '{')),
  'list: refused fields': list(times(LINES_MAX, `{${WRONG}}`)),
  'list: backslashes': list(times(LINES_MAX, `{${EMPTY},"x":"\\n"}`)),
  'list: refused explained': list(times(LINES_MAX, `{${WRONG},"explain":true}`)),
  'list: 64 measurements each': list(times(100, measured(64, 51, EMPTY))),
  'list: too many lines': list(times(LINES_MAX + 1, '{}')),
  'list: too many, refused explained': list(times(LINES_MAX + 1, `{${WRONG},"explain":true}`)),
  'list: explained': list(times(16, `{${SESSION},"explain":true}`)),
};

function ofRecording(recording: Recording, max = PRICE_MAX): Kind {
  const body = JSON.stringify({ current_session: { recording } });
  return { body, tokens: recordingTokens(Buffer.byteLength(body)), max };
}

/** An ordinary night of each provider, and the one of its shapes that takes the longest to read. */
function recordingKinds(): Record<string, Kind> {
  const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
  const micros = ({ body, tokens }: Kind): number => {
    const times = [1, 2, 3].map(() => {
      const before = process.cpuUsage();
      readRecordingOf(Buffer.from(body), parser);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    });
    return Math.min(...times) / tokens;
  };
  const kinds = PROVIDERS.flatMap((provider): [string, Kind][] => {
    let dearest: [name: string, kind: Kind, micros: number] | undefined;
    for (const { name, make } of shapesOf(provider)) {
      const size = Math.ceil((100 * RECORDING_BYTES) / JSON.stringify(make(100)).length);
      const kind = ofRecording(make(size), DEAREST_MAX);
      const found = micros(kind);
      if (found > (dearest?.[2] ?? 0)) dearest = [name, kind, found];
    }
    const [name = '', kind] = dearest ?? [];
    return [
      [`${provider}, ordinary`, ofRecording(ordinaryOf(provider))],
      ...(kind === undefined ? [] : [[`${provider}, ${name}`, kind] satisfies [string, Kind]]),
    ];
  });
  return Object.fromEntries(kinds);
}

/**
 * What the service works for a token: processor time of each kind of body over its tokens, against a plain request with its
 * past in lists. Returns the table, and whether a kind costs more than its share.
 */
export async function pricesTable(
  rounds: number,
): Promise<{ readonly text: string; readonly isDear: boolean }> {
  const patient = service({ ...ACUITY, env: { ACUITY_DEADLINE_MS: '10000' } });
  return withPeers([patient], async ([running]) => {
    if (running === undefined) throw new Error('no server');
    const { server, target } = running;
    const priceOf = async (kind: Kind): Promise<number> => {
      const before = server.cpuMicros();
      const { body, tokens, ...rest } = kind;
      const load = { target, bodies: [body], connections: CONNECTIONS, ...rest };
      let requests = 0;
      for (let seconds = 1; requests === 0; seconds *= 2) {
        if (seconds > 8) throw new Error('no answer within 8 s: the machine is too busy to measure');
        ({ requests } = await closedLoopWithAutocannon({ ...load, seconds }));
      }
      return (server.cpuMicros() - before) / requests / tokens;
    };
    const all = { ...KINDS, ...recordingKinds() };
    const kinds = Object.values(all);
    await priceOf(PLAIN_KIND); // warms up; of the rounds the median counts
    const found = await interleaved(kinds, rounds, priceOf);
    const plain = found.get(PLAIN_KIND) ?? [];
    const rows = Object.entries(all).map(([name, kind]) => {
      const micros = found.get(kind) ?? [];
      const price = ratioOf(micros, plain, (value) => value);
      return {
        name,
        tokens: kind.tokens,
        micros,
        price,
        isDear: (price?.median ?? NaN) > (kind.max ?? PRICE_MAX),
      };
    });
    const lines = rows
      .toSorted((a, b) => (b.price?.median ?? 0) - (a.price?.median ?? 0))
      .map(({ name, tokens, micros, price, isDear }) => [
        name,
        String(tokens),
        spread(micros, 1),
        price === undefined ? '–' : spreadText(price, 2),
        isDear ? 'too dear' : '',
      ]);
    const head = ['kind of body', 'tokens', 'CPU µs a token', '× past in lists', ''];
    return { text: textTable([head, ...lines]), isDear: rows.some(({ isDear }) => isDear) };
  });
}
