import { markdownTable } from '#acuity/base/table.js';
import { pairwise, spreadOf } from '#acuity/load/statistics.js';
import { formOf, type BenchPayload } from '#bench/comparison/payload.js';
import { closedLoop } from '#bench/load/generators.js';
import type { RunningPeer } from '#bench/server/service.js';
import { spread } from '#bench/spread.js';
import { askedOf, listsOf, refusals, singlesOf, type Kind } from './kind.js';
import type { ListSettings } from './settings.js';

const WARM_UP_SECONDS = 1;

interface Cost {
  readonly cpuMicros: number;
  readonly perSecond: number;
}

type Costs = ReadonlyMap<Kind, readonly Cost[]>;

/** The table of a payload: what a request costs by itself and in lists. @throws Error where an answer is wrong */
export async function costs(
  payload: BenchPayload,
  { lines, repetitions, seconds }: ListSettings,
  service: RunningPeer,
  peers: readonly RunningPeer[],
): Promise<string> {
  const questions = await askedOf(payload);
  const singles = await singlesOf(service, 'requests of their own', questions);
  const { kinds: lists, leftOut } = await listsOf(service, questions, lines);
  const others: Kind[] = [];
  const asked = formOf(payload)?.isOurs === true ? [] : peers;
  for (const peer of asked) others.push(await singlesOf(peer, `requests to ${peer.name}`, questions));
  const kinds = [singles, ...lists, ...others];
  const seen = new Map<Kind, Cost[]>(kinds.map((kind) => [kind, []]));
  for (const { load } of kinds) await closedLoop({ ...load, seconds: WARM_UP_SECONDS });
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const kind of repetition % 2 === 0 ? kinds : kinds.toReversed())
      seen.get(kind)?.push(await costOf(kind, seconds));
  }
  return [table(payload, seen, { singles, best: bestOf(others, seen) }), ...leftOut].join('\n\n');
}

async function costOf({ name, peer, lines, load }: Kind, seconds: number): Promise<Cost> {
  const { server } = peer;
  const refused = await refusals(peer);
  const before = server.cpuMicros();
  const seen = await closedLoop({ ...load, seconds });
  const answered = seen.requests * lines;
  const cost = {
    cpuMicros: (server.cpuMicros() - before) / answered,
    perSecond: answered / seen.seconds,
  };
  if (seen.requests === 0) throw new Error(`${name}: no answer within ${seconds} s; use more --seconds`);
  if (seen.errors > 0) throw new Error(`${name}: ${seen.errors} without a 200`);
  // A list is answered with 200 also where some of its lines are refused.
  const more = (await refusals(peer)) - refused;
  if (more > 0) throw new Error(`${name}: ${more} lines or requests were refused`);
  return cost;
}

/** The one with the highest throughput. */
function bestOf(others: readonly Kind[], seen: Costs): Kind | undefined {
  const medianOf = (kind: Kind): number =>
    spreadOf((seen.get(kind) ?? []).map(({ perSecond }) => perSecond)).median;
  return others.toSorted((one, other) => medianOf(other) - medianOf(one))[0];
}

function table(
  payload: BenchPayload,
  seen: Costs,
  { singles, best }: { readonly singles: Kind; readonly best: Kind | undefined },
): string {
  const cpu = ({ cpuMicros }: Cost): number => cpuMicros;
  const rate = ({ perSecond }: Cost): number => perSecond;
  const rows = [...seen].map(([{ name }, runs]) => {
    const times = (valueOf: (cost: Cost) => number, beside: Kind): string =>
      spread(
        pairwise(runs.map(valueOf), (seen.get(beside) ?? []).map(valueOf), (value, other) => value / other),
        2,
      );
    const own = [
      spread(runs.map(cpu), 1),
      times(cpu, singles),
      spread(runs.map(rate), 0),
      times(rate, singles),
    ];
    return [name, ...own, ...(best === undefined ? [] : [times(rate, best)])];
  });
  const head = [payload, 'CPU µs each', '× alone', 'scored a second', '× alone'];
  return markdownTable([[...head, ...(best === undefined ? [] : [`× ${best.peer.name}`])], ...rows], {
    alignsRight: true,
  });
}
