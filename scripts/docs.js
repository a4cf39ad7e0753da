/** `npm run docs`: writes the generated parts of the documents. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleAnswer } from './exampleAnswer.js';
import { withGenerated } from './generated.js';
import { build, failWith, install, ROOT } from './prepare.js';

const PUBLISHED_APART = [
  'package.json',
  ...['package.json', 'README.md'].map((name) => `packages/client-ts/${name}`),
  ...['pyproject.toml', 'README.md'].map((name) => `packages/client-python/${name}`),
];

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
  addressRepository();
} catch (error) {
  failWith(error);
}

/** What is published apart links to the repository that package.json names. */
function addressRepository() {
  const { repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const address = repository.url.replace(/^git\+|\.git$/g, '');
  for (const name of PUBLISHED_APART) {
    const text = readFileSync(join(ROOT, name), 'utf8');
    const elsewhere = /https:\/\/github\.com\/[\w.-]+\/acuity(?![\w-])/g;
    writeFileSync(join(ROOT, name), text.replace(elsewhere, address));
  }
}
