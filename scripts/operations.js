/** The tables of docs/OPERATIONS.md, from what the service itself works with. */

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
      return `| \`${name}\` | ${type} | ${names.map((label) => `\`${label}\``).join(', ')} | ${cell(help)} |`;
    }),
  );
  return table(['metric', 'type', 'labels', 'what it says'], rows);
}

/** @param {readonly { title: string, metrics: readonly string[], remedy: string }[]} symptoms */
export function symptomsTable(symptoms) {
  const rows = symptoms.map(
    ({ title, metrics, remedy }) =>
      `| ${cell(title)} | ${metrics.map((name) => `\`${name}\``).join(', ')} | ${cell(remedy)} |`,
  );
  return table(['symptom', 'metrics', 'what to do'], rows);
}

/**
 * @param {readonly string[]} causes
 * @param {(cause: string) => number} statusOf
 */
export function causesTable(causes, statusOf) {
  return table(
    ['cause', 'status'],
    causes.map((cause) => `| \`${cause}\` | ${statusOf(cause)} |`),
  );
}

function table(titles, rows) {
  return [`| ${titles.join(' | ')} |`, `|${'---|'.repeat(titles.length)}`, ...rows, ''].join('\n');
}

function cell(text) {
  return text.replaceAll('|', '\\|').replace(/\b(ACUITY_\w+|acuity_\w+)/g, '`$1`');
}
