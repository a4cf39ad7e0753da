/**
 * The tables of docs/operations/metrics.md and symptoms.md, generated from the service's own data. Needs a built
 * tree.
 */
import { signWords } from '../dist/admin/symptom.js';
import { markdownTable } from '../dist/base/table.js';

/**
 * @param {{
 *   catalogues: readonly Readonly<Record<string, {
 *     name: string, type: string, help: string, eachLoop?: boolean, labels?: Readonly<Record<string, readonly string[]>>
 *   }>>[],
 * }} metrics
 */
export function metricsTable({ catalogues }) {
  const rows = catalogues.flatMap((catalogue) =>
    Object.values(catalogue).map(({ name, type, help, labels = {}, eachLoop }) => {
      const names = [...Object.keys(labels), ...(eachLoop === true ? ['loop'] : [])];
      return [`\`${name}\``, type, names.map((label) => `\`${label}\``).join(', '), withCode(help)];
    }),
  );
  return table(['metric', 'type', 'labels', 'what it says'], rows);
}

/** @param {readonly import('../src/admin/symptom.js').Symptom[]} symptoms */
export function symptomsTable(symptoms) {
  const rows = symptoms.map(({ title, metrics, remedy, signs }) => [
    withCode(title),
    withCode(signs.map(signWords).join('; ') || 'only a longer look can tell'),
    metrics.map((name) => `\`${name}\``).join(', '),
    withCode(remedy),
  ]);
  return table(['symptom', 'amber and red', 'metrics', 'what to do'], rows);
}

/**
 * @param {readonly string[]} causes
 * @param {(cause: string) => number} statusOf
 */
export function causesTable(causes, statusOf) {
  return table(
    ['cause', 'status'],
    causes.map((cause) => [`\`${cause}\``, String(statusOf(cause))]),
  );
}

function table(titles, rows) {
  return `${markdownTable([titles, ...rows])}\n`;
}

function withCode(text) {
  return text.replace(/\b(ACUITY_\w+|acuity_\w+)/g, '`$1`');
}
