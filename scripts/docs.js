/** `npm run docs`: writes the generated parts of the documents. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleAnswer } from './exampleAnswer.js';
import { withGenerated } from './generated.js';
import { build, failWith, install, ROOT } from './prepare.js';

try {
  await install();
  await build('src');
  const { causesTable, metricsTable, symptomsTable } = await import('./operations.js');
  const { configurationTable } = await import('../dist/config/documentation.js');
  const { METRICS, PROCESS_METRICS, REFUSAL_CAUSES, statusOf } = await import('../dist/contract/metrics.js');
  const { SYMPTOMS } = await import('../dist/admin/symptoms.js');
  const parts = Object.entries({
    configuration: configurationTable(),
    example: exampleAnswer(),
    metrics: metricsTable({ catalogues: [METRICS, PROCESS_METRICS] }),
    symptoms: symptomsTable(SYMPTOMS),
    causes: causesTable(REFUSAL_CAUSES, statusOf),
  });
  for (const path of [
    'README.md',
    'docs/CONFIGURATION.md',
    'docs/operations/metrics.md',
    'docs/operations/symptoms.md',
  ]
    .map((name) => join(ROOT, name))
    .filter(existsSync)) {
    const text = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      parts.reduce((document, [name, part]) => withGenerated(document, name, part), text),
    );
  }
} catch (error) {
  failWith(error);
}
