import { parseArgs } from 'node:util';
import { messageOf } from '#acuity/base/errors.js';
import { markdownTable } from '#acuity/base/table.js';
import type { Measurement } from '#acuity/load/measurement.js';
import { runOpenLoop } from '#acuity/load/openLoop.js';
import { PAYLOADS, requestsOf, type PayloadName } from '#acuity/load/payloads.js';
import { pairwise } from '#acuity/load/statistics.js';
import { closedLoop, openLoop } from './load/generators.js';
import { machine } from './machine.js';
import { withService, type RunningPeer } from './server/service.js';
import { spread } from './spread.js';
import { UsageError } from './usage.js';
import { wholeNumber } from './wholeNumber.js';

/** Share of the saturating rate: leaves cores free. */
const CALM_SHARE = 0.4;
const CALM_RATE_AT_FIRST = 1000;
/** A service that keeps up never makes a caller wait this long. */
const LATE_SECONDS = 5;

export const USAGE = `npm run bench -- explained [options]

  --rate N         requests a second beside the plain ones (default 100)
  --connections N  of the plain ones (default 64)
  --repetitions N  of everything, one after the other (default 7)
  --seconds N      of each measurement (default 5)
  --deadline-ms N  of the service (default 1000): longer on a machine that does other things beside

Plain ones are sent as fast as they are answered, then at a fixed rate, ${100 * CALM_SHARE} % of that: while cores are
left, explained requests should slow no other caller.`;

/** What is sent beside the plain requests, at a fixed rate. */
const COMPANIES = ['plain', 'explained'] as const;
type Company = (typeof COMPANIES)[number];

interface Settings {
  readonly rate: number;
  readonly connections: number;
  readonly repetitions: number;
  readonly seconds: number;
  readonly deadlineMs: number;
}

/** One turn: the results of the plain requests and of their company, and what the company costs alone. */
interface Seen {
  readonly saturated: Measurement;
  readonly calm: Measurement;
  readonly company: Measurement;
  readonly aloneCpuMicros: number;
}

/** Connections of the company: enough that a slow answer never delays a request. */
const COMPANY_CONNECTIONS = 16;
const WARM_UP_SECONDS = 3;
const MICROS_PER_MS = 1000;

/** What explained requests take from plain ones beside them, and what they cost. @throws UsageError */
export async function runExplained(args: readonly string[]): Promise<void> {
  const settings = parse(args);
  const { rate, connections, repetitions, seconds, deadlineMs } = settings;
  await withService({ deadlineMs }, async (service) => {
    const sections: string[] = [];
    for (const payload of PAYLOADS)
      sections.push(table(payload, await new Turns(service, payload, settings).run()));
    process.stdout.write(
      `${machine()}; ${connections} connections of plain requests, ${rate} others a second beside them; ` +
        `${repetitions} repetitions of ${seconds} s in turns: the median, and least to most\n\n` +
        `${sections.join('\n\n')}\n`,
    );
  });
}

/** The measurements of one payload, alternating, so that other load on the machine affects both companies. */
class Turns {
  private readonly bodies: Readonly<Record<Company, readonly string[]>>;
  /** Plain requests per second that leave cores free; from the first saturating measurement. */
  private calmRate = CALM_RATE_AT_FIRST;

  constructor(
    private readonly service: RunningPeer,
    payload: PayloadName,
    private readonly settings: Settings,
  ) {
    const requests = requestsOf(payload);
    this.bodies = {
      plain: requests.map((request) => JSON.stringify(request)),
      explained: requests.map((request) => JSON.stringify({ ...request, explain: true })),
    };
  }

  async run(): Promise<ReadonlyMap<Company, readonly Seen[]>> {
    const seen = new Map<Company, Seen[]>(COMPANIES.map((company) => [company, []]));
    for (const company of COMPANIES) {
      const { requests, seconds } = (await this.measure(company, WARM_UP_SECONDS)).saturated;
      this.calmRate = Math.round((CALM_SHARE * requests) / seconds);
    }
    for (let repetition = 0; repetition < this.settings.repetitions; repetition++) {
      const order = repetition % 2 === 0 ? COMPANIES : COMPANIES.toReversed();
      for (const company of order) {
        seen.get(company)?.push(await this.measure(company, this.settings.seconds));
      }
    }
    return seen;
  }

  private async measure(company: Company, seconds: number): Promise<Seen> {
    const beside = (): Promise<Measurement> =>
      runOpenLoop({
        ...this.load(company, COMPANY_CONNECTIONS, seconds),
        rate: this.settings.rate,
      });
    const load = this.load('plain', this.settings.connections, seconds);
    const calmLoad = { ...load, rate: this.calmRate, lateSeconds: LATE_SECONDS };
    const [saturated, besides] = await Promise.all([closedLoop(load), beside()]);
    const [calm] = await Promise.all([openLoop(calmLoad), beside()]);
    const { server } = this.service;
    const before = server.cpuMicros();
    const alone = await beside();
    const aloneCpuMicros = (server.cpuMicros() - before) / alone.requests;
    for (const { errors } of [saturated, calm, alone]) {
      if (errors > 0) throw new Error(`${errors} of ${company} requests had no 200`);
    }
    return { saturated, calm, company: besides, aloneCpuMicros };
  }

  private load(company: Company, connections: number, seconds: number) {
    return {
      target: this.service.target,
      bodies: this.bodies[company],
      connections,
      seconds,
    };
  }
}

function table(payload: PayloadName, seen: ReadonlyMap<Company, readonly Seen[]>): string {
  const [plain = [], explained = []] = COMPANIES.map((company) => seen.get(company));
  const row = (name: string, valueOf: (seen: Seen) => number, digits: number): string[] => {
    const [before, after] = [plain.map(valueOf), explained.map(valueOf)];
    const ratios = pairwise(after, before, (value, other) => value / other);
    return [name, ...[before, after].map((values) => spread(values, digits)), spread(ratios, 3)];
  };
  return markdownTable(
    [
      [payload, 'beside plain ones', 'beside explained ones', 'ratio'],
      row('plain requests a second', ({ saturated: { requests, seconds } }) => requests / seconds, 0),
      row('their p99, ms', ({ saturated }) => saturated.p99Micros / MICROS_PER_MS, 2),
      row('p50 of those beside, ms', ({ company: { p50Micros } }) => p50Micros / MICROS_PER_MS, 2),
      row('those beside without a 200', ({ company: { errors } }) => errors, 0),
      row('plain ones at a fixed rate: p50, ms', ({ calm }) => calm.p50Micros / MICROS_PER_MS, 2),
      row('p99, ms', ({ calm }) => calm.p99Micros / MICROS_PER_MS, 2),
      row('p99.9, ms', ({ calm }) => calm.p999Micros / MICROS_PER_MS, 2),
      row('processor µs of one of those, alone', ({ aloneCpuMicros }) => aloneCpuMicros, 0),
    ],
    { alignsRight: true },
  );
}

function parse(args: readonly string[]): Settings {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        rate: { type: 'string', default: '100' },
        connections: { type: 'string', default: '64' },
        repetitions: { type: 'string', default: '7' },
        seconds: { type: 'string', default: '5' },
        'deadline-ms': { type: 'string', default: '1000' },
      },
    });
    return {
      rate: wholeNumber(values.rate),
      connections: wholeNumber(values.connections),
      repetitions: wholeNumber(values.repetitions),
      seconds: wholeNumber(values.seconds),
      deadlineMs: wholeNumber(values['deadline-ms']),
    };
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}
