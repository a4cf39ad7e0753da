import { parseArgs } from 'node:util';
import { UsageError } from '#bench/usage.js';
import { ACUITY, FASTIFY, FLOOR, PEERS, RUST, RUST_TWO, acuity, type Peer } from '#bench/peers/catalogue.js';
import { PAYLOADS } from '#acuity/load/payloads.js';
import { FORMS } from '#bench/load/forms.js';
import type { Mode } from './mode.js';
import { payloadsNamed, type BenchPayload } from './payload.js';

export interface ComparisonOptions {
  /** In the order of measurement. */
  readonly peers: readonly Peer[];
  readonly payloads: readonly BenchPayload[];
  readonly modes: readonly Mode[];
  readonly connections: readonly number[];
  /** Requests per second in the mode `rate`. */
  readonly rate: number;
  readonly seconds: number;
  readonly repetitions: number;
  /** The load generator for saturation and single requests. */
  readonly load: 'wrk' | 'autocannon';
  readonly jsonFile: string | undefined;
  /** Measures everything needed for the goals, instead of the choices above. */
  readonly isForGoals: boolean;
  /** Leaves out the ten minutes of load that show whether memory grows. */
  readonly isShort: boolean;
  /** Built and measured beside this tree, in place of the peers. */
  readonly revision: string | undefined;
}

export const USAGE = `npm run bench [-- peers options]

  --peers A,B        who takes turns, of acuity, ${[...PEERS.keys()].join(', ')} (default floor,fastify,acuity)
  --with rust        one more than the default
  --payloads A,B     of ${PAYLOADS.join(', ')} (default both); a form after a colon, as history:pretty, of
                     ${FORMS.map(({ id }) => id).join(', ')}; "forms" is all that are worth it
  --goals            everything that the goals are said of, some 22 minutes: peers, modes and payloads are given
  --short            without the ten minutes of load among them that show whether memory grows
  --compare REV      builds that revision and measures it beside this tree, in place of peers, saturated
  --alone            only one request at a time
  --saturated        only every connection busy
  --rate N           only N requests per second, evenly spaced; latency from the moment each was due
  --connections N,…  connections in saturation and at a fixed rate (default 64)
  --threads N,…      event loops of acuity; each becomes a peer, acuity-2 for two (default 1)
  --seconds N        length of one measurement (default 5, of the goals 2)
  --repetitions N    rounds of the interleaving (default 5)
  --load NAME        wrk or autocannon (default wrk where it is installed)
  --json FILE        writes every measurement to FILE`;

/** The peers measured for the goals, beside the service in other settings. */
const GOAL_PEERS = [FLOOR.name, FASTIFY.name, RUST.name, RUST_TWO.name, ACUITY.name];
/** The options that `--goals` decides. */
const CHOICES: ReadonlySet<string> = new Set(
  'peers with payloads alone saturated rate connections threads compare'.split(' '),
);

/** The options that `--compare` decides. */
const REVISION_EXCLUDES = ['peers', 'with', 'alone', 'rate', 'threads'] as const;

/** @throws UsageError */
export function readOptions(args: readonly string[], hasWrk: boolean): ComparisonOptions {
  const { values } = parse(args);
  const isForGoals = values.goals ?? false;
  const threads = numbers('threads', values.threads ?? (isForGoals ? '1,2' : '1'));
  const load = values.load ?? (hasWrk ? 'wrk' : 'autocannon');
  if (load !== 'wrk' && load !== 'autocannon') throw new UsageError('--load is wrk or autocannon');
  if (load === 'wrk' && !hasWrk) throw new UsageError('wrk is not installed');
  const only = [values.alone, values.saturated, values.rate].filter((value) => value !== undefined);
  if (only.length > 1) throw new UsageError('one of --alone, --saturated and --rate');
  if (isForGoals && load !== 'wrk') throw new UsageError('the goals want wrk');
  const chosen = (Object.keys(values) as (keyof typeof values)[]).find((name) => CHOICES.has(name));
  if (isForGoals && chosen !== undefined)
    throw new UsageError(`--goals says itself what --${chosen} would choose`);
  if (values.short === true && !isForGoals) throw new UsageError('--short goes with --goals');
  const { compare } = values;
  const mixed =
    compare === undefined ? undefined : REVISION_EXCLUDES.find((name) => values[name] !== undefined);
  if (mixed !== undefined) throw new UsageError(`--compare says itself what --${mixed} would choose`);
  const names = values.peers?.split(',') ?? (isForGoals ? GOAL_PEERS : defaultPeers());
  return {
    peers: peersOf([...names, ...(values.with ?? [])], threads),
    payloads: payloadsNamed(values.payloads),
    modes: modesOf(values),
    connections: numbers('connections', values.connections ?? '64'),
    rate: number('rate', values.rate ?? '1'),
    seconds: number('seconds', values.seconds ?? (isForGoals ? '2' : '5')),
    repetitions: number('repetitions', values.repetitions ?? '5'),
    load,
    jsonFile: values.json,
    isForGoals,
    isShort: values.short ?? false,
    revision: compare,
  };
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        peers: text,
        with: { type: 'string', multiple: true },
        payloads: text,
        compare: text,
        alone: { type: 'boolean' },
        saturated: { type: 'boolean' },
        rate: text,
        connections: text,
        threads: text,
        seconds: text,
        repetitions: text,
        load: text,
        json: text,
        goals: { type: 'boolean' },
        short: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function modesOf({ alone, saturated, rate, compare }: ReturnType<typeof parse>['values']): Mode[] {
  if (rate !== undefined) return ['rate'];
  if (alone === true) return ['alone'];
  return saturated === true || compare !== undefined ? ['saturation'] : ['saturation', 'alone'];
}

function defaultPeers(): string[] {
  return [FLOOR.name, FASTIFY.name, 'acuity'];
}

function peersOf(names: readonly string[], threads: readonly number[]): Peer[] {
  const peers = names.flatMap((name) => {
    if (name === 'acuity') return threads.map(acuity);
    const peer = PEERS.get(name);
    if (peer === undefined) throw new UsageError(`no peer is called ${name}`);
    return [peer];
  });
  return [...new Map(peers.map((peer) => [peer.name, peer])).values()];
}

function numbers(name: string, text: string): number[] {
  return text.split(',').map((part) => number(name, part));
}

function number(name: string, text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UsageError(`--${name} wants whole numbers from 1 on`);
}
