import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { textTable } from '#acuity/base/table.js';
import type { Measurement } from '#acuity/tune/load/measurement.js';
import { bodiesOf, PAYLOADS } from '#acuity/tune/load/payloads.js';
import { machine, oneOf, say, text, wholeNumber } from './cli.js';
import { closedLoopWithAutocannon } from './load/autocannon.js';
import { fixedRate, ohaUnavailable } from './load/oha.js';
import { settingsOf, verdictOn, type Setting, type Tried } from './load/verdict.js';
import { service } from './peers/catalogue.js';
import { bySocket, withPeers } from './server.js';
import { interleaved, spread, whyNoVerdict } from './spread.js';

/** Shares of the asked rate that are measured, too. */
const SHARES = [0.25, 0.5, 0.75, 1] as const;
const WARM_UP_SECONDS = 2;

export const USAGE = `npm run bench -- load [options]

  --rate N           requests a second that the service is to answer (default 10000)
  --workers N,…      worker threads (default 1,2)
  --intra-op N,…     threads of ONNX Runtime in each worker (default 1,2)
  --inter-op N,…     threads between operators (default 1)
  --loops N,…        event loops (default 1)
  --socket           by a Unix socket
  --payload NAME     of ${PAYLOADS.join(', ')} (default ${PAYLOADS[0]})
  --connections N    (default 64)
  --seconds N        of one measurement (default 3)
  --repetitions N    of all settings, one after the other (default 3)

This service alone, in each setting: at saturation by autocannon (closed loop), and at rates up to the asked one by oha (latency
corrected), which bench/setup.sh builds. Says what to set.`;

/** p99 at a rate by setting, and what to set. @throws UsageError */
export async function runLoad(args: readonly string[]): Promise<void> {
  const asked = parse(args);
  const { rate, connections, seconds, repetitions, payload } = asked;
  const missing = ohaUnavailable();
  if (missing !== undefined) say(`fixed rates are left out: ${missing}`);
  const rates = missing === undefined ? SHARES.map((share) => Math.max(1, Math.round(share * rate))) : [];
  const settings = settingsOf(asked.workers, asked.intraOp, asked.interOp, asked.loops);
  const load = { bodies: bodiesOf(payload), connections, seconds };
  const own = settings.map(({ name, env }) => service({ name, what: name, env }));
  const peers = asked.socket ? own.map(bySocket) : own;
  const open = whyNoVerdict(repetitions);
  const tried = await withPeers(peers, async (running) => {
    for (const { target, peer } of running) {
      say(`warming up: ${peer.name}`);
      await closedLoopWithAutocannon({ ...load, target, seconds: Math.min(WARM_UP_SECONDS, seconds) });
    }
    const found = await interleaved(running, repetitions, async ({ peer, target }, repetition) => {
      const saturated = await closedLoopWithAutocannon({ ...load, target });
      const atRates: Measurement[] = [];
      for (const one of rates) atRates.push(await fixedRate({ ...load, target, rate: one }));
      say(`${repetition}/${repetitions} ${peer.name}: ${told(saturated)}${rates.map((one, index) => `; ${one}/s ${told(atRates[index])}`).join('')}`); // prettier-ignore
      return { saturated, atRates };
    });
    const results = [...found.values()]; // in the order of the settings
    return settings.map((setting, index) => triedOf(setting, results[index] ?? []));
  });
  const verdict = open ?? verdictOn(tried, { rate, isRateMeasured: rates.length > 0, cores: cpus().length });
  const subtitle = `${machine()}; ${payload}, ${connections} connections, ${repetitions} repetitions of ${seconds} s, interleaved; median (least–most)`;
  process.stdout.write(`${subtitle}\n\n${textTable(tableOf(tried, rates))}\n\n${verdict}\n`);
  say(`after ${Math.round(performance.now() / 1000)} s`);
  if (tried.some(({ errors }) => errors > 0)) process.exitCode = 1;
}

function triedOf(
  setting: Setting,
  found: readonly { readonly saturated: Measurement; readonly atRates: readonly Measurement[] }[],
): Tried {
  const all = found.flatMap(({ saturated, atRates }) => [saturated, ...atRates]);
  const rateCount = found[0]?.atRates.length ?? 0;
  return {
    setting,
    saturated: found.map(({ saturated }) => saturated.requests / saturated.seconds),
    atRates: Array.from({ length: rateCount }, (_, index) => ({
      p99Ms: found.map(({ atRates }) => (atRates[index]?.p99Micros ?? NaN) / 1000),
      perSecond: found.map(
        ({ atRates }) => (atRates[index]?.requests ?? NaN) / (atRates[index]?.seconds ?? NaN),
      ),
    })),
    errors: all.reduce((sum, { errors }) => sum + errors, 0),
  };
}

function tableOf(tried: readonly Tried[], rates: readonly number[]): string[][] {
  const header = ['setting', 'saturated, requests/s', ...rates.map((rate) => `p99 at ${rate}/s, ms`), 'answered/s at the last', 'errors']; // prettier-ignore
  return [
    header,
    ...tried.map(({ setting, saturated, atRates, errors }) => [
      setting.name,
      spread(saturated, 0),
      ...atRates.map(({ p99Ms }) => spread(p99Ms, 1)),
      spread(atRates.at(-1)?.perSecond ?? [], 0),
      String(errors),
    ]),
  ];
}

function told(one: Measurement | undefined): string {
  if (one === undefined) return '–';
  return `${Math.round(one.requests / one.seconds)} answers/s, p99 ${(one.p99Micros / 1000).toFixed(1)} ms`;
}

function parse(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rate: text('10000'),
      workers: text('1,2'),
      'intra-op': text('1,2'),
      'inter-op': text('1'),
      loops: text('1'),
      socket: { type: 'boolean', default: false },
      payload: text(PAYLOADS[0]),
      connections: text('64'),
      seconds: text('3'),
      repetitions: text('3'),
    },
  });
  return {
    rate: wholeNumber(values.rate),
    workers: values.workers.split(',').map(wholeNumber),
    intraOp: values['intra-op'].split(',').map(wholeNumber),
    interOp: values['inter-op'].split(',').map(wholeNumber),
    loops: values.loops.split(',').map(wholeNumber),
    socket: values.socket,
    payload: oneOf(PAYLOADS, 'payload')(values.payload),
    connections: wholeNumber(values.connections),
    seconds: wholeNumber(values.seconds),
    repetitions: wholeNumber(values.repetitions),
  };
}
