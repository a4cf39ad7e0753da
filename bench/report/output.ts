import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { htmlTable, pageOf, type Tone } from '#acuity/tune/page.js';
import { FALLS_SHORT, HOLDS } from '#bench/comparison/goals.js';
import { ROOT } from '#bench/paths.js';
import { markdownTable, textTable } from '#acuity/base/table.js';
import { svgOf } from './chart.js';
import type { ReportSection } from './section.js';

export interface Report {
  /** Machine and settings, in a line. */
  readonly subtitle: string;
  readonly sections: readonly ReportSection[];
  /** That the machine had other work, in a sentence; undefined where it had none to speak of. */
  readonly busy?: string | undefined;
  /** Where there is one, the figures are not to be used. */
  readonly faults: readonly string[];
}

const TITLE = 'acuity: performance';
const DOCUMENT = join(ROOT, 'docs/PERFORMANCE.md');
const IMAGES = join(ROOT, 'docs/images');

export function machineLine(seconds: number, repetitions: number): string {
  const processor = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}`;
  return `${processor}, Node ${process.versions.node}; ${repetitions} repetitions, base length ${seconds} s`;
}

/** The report for a terminal. */
export function textOf({ subtitle, sections, faults, busy }: Report): string {
  const parts = sections.map(({ heading, tables }) =>
    [heading, ...tables.map((rows) => textTable(rows))].join('\n\n'),
  );
  return [...(busy === undefined ? [] : [busy]), subtitle, ...parts, verdictOf(faults)].join('\n\n');
}

function verdictOf(faults: readonly string[]): string {
  if (faults.length === 0) return 'Every answer had status 200.';
  return `NOT TO BE USED:\n${faults.map((fault) => `  ${fault}`).join('\n')}`;
}

/** The page: charts drawn, nothing loaded. */
export function htmlOf({ subtitle, sections, faults, busy }: Report): string {
  const isUsable = faults.length === 0;
  return pageOf({
    title: TITLE,
    lead: isUsable
      ? { text: busy ?? 'The machine had nothing else to do.', tone: busy === undefined ? 'good' : 'bad' }
      : { text: verdictOf(faults), tone: 'bad' },
    subtitle: isUsable ? `${subtitle}. ${verdictOf(faults)}` : `${subtitle}. ${busy ?? ''}`,
    sections: sections.map(({ heading, note, charts, tables }) => ({
      heading,
      note,
      html: [figures(charts), ...tables.map((rows) => htmlTable(rows, toneOf))].join('\n'),
    })),
  });
}

/** What falls short of its goal is coloured. */
function toneOf(cell: string): Tone | undefined {
  return cell === FALLS_SHORT ? 'bad' : cell === HOLDS ? 'good' : undefined;
}

function figures(charts: ReportSection['charts']): string {
  const drawn = charts.map(
    (chart) => `<figure><figcaption>${chart.title}</figcaption>${svgOf(chart)}</figure>`,
  );
  return `<div class="charts">${drawn.join('\n')}</div>`;
}

/** Page, charts and every figure, into `folder`. @returns the page's path */
export async function writeReport(report: Report, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeCharts(report, folder);
  await writeFile(join(folder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  const page = join(folder, 'report.html');
  await writeFile(page, htmlOf(report));
  return page;
}

async function writeCharts({ sections }: Report, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const chart of sections.flatMap(({ charts }) => charts)) {
    await writeFile(join(folder, `${chart.name}.svg`), `${svgOf(chart)}\n`);
  }
}

/**
 * Rewrites the figures of docs/PERFORMANCE.md and the charts beside it.
 * @throws Error where the run had faults: such figures go into no document
 */
export async function writeDocs(report: Report): Promise<void> {
  if (report.faults.length > 0) throw new Error('the documents are left alone: this run is not to be used');
  await writeCharts(report, IMAGES);
  const text = existsSync(DOCUMENT) ? await readFile(DOCUMENT, 'utf8') : '';
  await writeFile(
    DOCUMENT,
    report.sections.reduce((sum, section) => withFigures(sum, section, report.subtitle), text),
  );
}

/** `text` with the block of a section filled anew; unchanged where it has no such block. */
export function withFigures(text: string, section: ReportSection, subtitle: string): string {
  const start = `<!-- figures: npm run bench (${section.name}) -->`;
  const end = '<!-- /figures -->';
  const from = text.indexOf(start);
  const to = text.indexOf(end, from);
  if (from === -1 || to === -1) return text;
  const images = section.charts.map(({ name, title }) => `![${title}](images/${name}.svg)`);
  const tables = section.tables.map((rows) => markdownTable(rows, { alignsRight: true }));
  const body = [`\`npm run bench -- --docs\`: ${subtitle}.`, images.join('\n'), ...tables].join('\n\n');
  return `${text.slice(0, from)}${start}\n${body}\n${text.slice(to)}`;
}
