import type { Config } from '../config/options.js';
import { FEATURE_COUNT, TARGET_COUNT } from '../contract/features.js';
import { PAST_MAX } from '#rules/fields.js';
import { print } from '../base/process/print.js';
import { featurisePast, featuriseRecord } from '../night/featurise.js';
import { createReader, isBodyProblem } from '../read/read.js';
import { splitLines, type Line } from '../lake/input/lineSplitter.js';

/**
 * `acuity model rows`: the network's inputs for each request, one line out for one line in, through the service's own
 * reader and features. So a network is trained on exactly the numbers that it will be served.
 * @throws Error at the first line that is not a valid request, or OutputError
 */
export async function modelRows(config: Config, input: AsyncIterable<Uint8Array>): Promise<void> {
  const { daySamplesMax, nightSamplesMax, bodyMaxBytes } = config;
  const rowOf = createRows({ daySamplesMax, nightSamplesMax });
  for await (const lines of splitLines(input, bodyMaxBytes))
    for (const line of lines) await print(`${rowOf(line)}\n`);
}

/** Reads a line and returns its tensors as JSON; all lines share the buffers. */
function createRows(limits: Parameters<typeof createReader>[0]): (line: Line) => string {
  const readRequest = createReader(limits);
  const session = new Float32Array(FEATURE_COUNT);
  const past = {
    past: new Float32Array(PAST_MAX * FEATURE_COUNT),
    targets: new Float32Array(PAST_MAX * TARGET_COUNT),
    present: new Float32Array(PAST_MAX),
  };
  return ({ number, bytes }) => {
    const request = bytes === undefined ? undefined : readRequest(bytes);
    if (request === undefined || isBodyProblem(request))
      throw new Error(`line ${number} is no valid request`);
    for (const tensor of [session, ...Object.values(past)]) tensor.fill(0);
    featuriseRecord(request.records, 0, session, 0);
    featurisePast(request, past, 0);
    return JSON.stringify({
      session: [...session],
      past: cut(past.past, FEATURE_COUNT),
      targets: cut(past.targets, TARGET_COUNT),
      present: [...past.present],
    });
  };
}

function cut(values: Float32Array, width: number): number[][] {
  return Array.from({ length: values.length / width }, (_, row) => [
    ...values.subarray(row * width, (row + 1) * width),
  ]);
}
