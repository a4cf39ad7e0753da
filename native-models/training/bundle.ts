import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { configOrExit } from '#acuity/commands/config.js';
import { bundleModel } from '#acuity/commands/modelBundle.js';
import { goldenRequests } from './golden.js';
import { measuredConstants } from './measured.js';
import { ServedModel } from './served.js';

/** Puts fitted graphs into the shipped model's folder, with golden requests of simulated people. */
async function bundle(graphs: string, explain: string, out: string, version: string): Promise<void> {
  const golden = join(graphs, 'golden-requests.json');
  writeFileSync(golden, JSON.stringify(await goldenRequests(await ServedModel.open(graphs))));
  const measured = join(graphs, 'measured.json');
  writeFileSync(measured, JSON.stringify(measuredConstants()));
  const order = {
    base: join(graphs, 'base.onnx'),
    history: join(graphs, 'history.onnx'),
    out,
    name: 'acuity-base',
    version,
    golden,
    training: join(graphs, 'training.json'),
    measured,
    explain,
  };
  await bundleModel(order, configOrExit(), (line) => process.stdout.write(`${line}\n`));
}

const { values } = parseArgs({
  options: {
    graphs: { type: 'string' },
    explain: { type: 'string' },
    out: { type: 'string' },
    version: { type: 'string' },
  },
});
const { graphs, explain, out, version } = values;
if (graphs === undefined || explain === undefined || out === undefined || version === undefined) {
  throw new Error('usage: bundle.js --graphs DIR --explain DIR --out DIR --version VERSION');
}
await bundle(graphs, explain, out, version);
