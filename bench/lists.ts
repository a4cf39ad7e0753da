import { parseArgs } from 'node:util';
import { messageOf } from '#acuity/base/errors.js';
import { LINES_MAX } from '#rules/structure.js';
import { payloadsNamed } from './comparison/payload.js';
import { besides } from './lists/besides.js';
import { costs } from './lists/costs.js';
import { BODY_BYTES_MAX } from './lists/kind.js';
import type { ListSettings } from './lists/settings.js';
import { machine } from './machine.js';
import { RUST_PEERS } from './peers/catalogue.js';
import { withService } from './server/service.js';
import { UsageError } from './usage.js';
import { wholeNumber } from './wholeNumber.js';

const PAYLOADS_MEASURED = 'baseline,history,history-field';
const LINES_MEASURED = '16,64,256';

export const USAGE = `npm run bench -- lists [options]

  --payloads NAMES   of requests and lines (default ${PAYLOADS_MEASURED})
  --lines N,…        of each list (default ${LINES_MEASURED}; at most ${LINES_MAX})
  --p99              latency of requests at 60 % of saturation, beside lists and beside others, instead
  --rust             requests of their own to the native peers, beside the rest (bench/peers/rust/setup.sh)
  --repetitions N    of everything, one after the other (default 5)
  --seconds N        of each measurement (default 3)
  --deadline-ms N    of the service (default 10000): a full machine may take longer than its usual second

Processor time and throughput of a scored line in lists, against requests of their own. A list beyond the ${BODY_BYTES_MAX / 2 ** 20} MiB
of a body is left out, which is said.`;

/** What a request costs as a line of a list, or what lists cost the requests beside them. @throws UsageError */
export async function runLists(args: readonly string[]): Promise<void> {
  const settings = parse(args);
  const { payloads, isP99, hasRust, repetitions, seconds, deadlineMs } = settings;
  const measure = isP99 ? besides : costs;
  const peers = hasRust ? RUST_PEERS : [];
  await withService({ deadlineMs, peers }, async (service, others) => {
    const sections: string[] = [];
    for (const payload of payloads) sections.push(await measure(payload, settings, service, others));
    process.stdout.write(
      `${machine()}; ${repetitions} repetitions of ${seconds} s in turns: the median, and least to most; ` +
        `every answer was checked before\n\n${sections.join('\n\n')}\n`,
    );
  });
}

function parse(args: readonly string[]): ListSettings {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        payloads: { type: 'string', default: PAYLOADS_MEASURED },
        lines: { type: 'string', default: LINES_MEASURED },
        p99: { type: 'boolean', default: false },
        rust: { type: 'boolean', default: false },
        repetitions: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '3' },
        'deadline-ms': { type: 'string', default: '10000' },
      },
    });
    const lines = values.lines.split(',').map(wholeNumber);
    if (lines.some((count) => count > LINES_MAX)) throw new Error(`a list has at most ${LINES_MAX} lines`);
    if (values.p99 && values.rust) throw new Error('one of --p99 and --rust');
    const unavailable = RUST_PEERS.find((peer) => peer.unavailable !== undefined)?.unavailable;
    if (values.rust && unavailable !== undefined) throw new Error(`--rust: ${unavailable}`);
    return {
      payloads: payloadsNamed(values.payloads),
      lines,
      isP99: values.p99,
      hasRust: values.rust,
      repetitions: wholeNumber(values.repetitions),
      seconds: wholeNumber(values.seconds),
      deadlineMs: wholeNumber(values['deadline-ms']),
    };
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}
