import { escapeHtml } from '#acuity/base/html.js';
import { spreadOf } from '#acuity/load/statistics.js';
import { htmlTable, pageOf } from '#acuity/tune/page.js';
import type { Tried } from './verdict.js';

const [WIDTH, HEIGHT] = [720, 360];
const AREA = { left: 64, right: 28, top: 16, bottom: 48 } as const;
const TICKS = 5;
/** Strokes that stay apart without colour. */
const DASHES = ['', '8 4', '2 4', '10 3 2 3', '4 4', '1 6'];

const STYLE = `
.plot{width:100%;max-width:${WIDTH}px;height:auto;display:block;color:var(--ink)}
.plot text{fill:var(--muted);font-size:13px}.plot .grid{stroke:var(--grid)}
.line{fill:none;stroke-width:2.5}@media(max-width:40rem){.plot text{font-size:20px}}
.c0{stroke:var(--one)}.c1{stroke:var(--bad)}.c2{stroke:var(--good)}.c3{stroke:var(--ink)}.c4{stroke:var(--muted)}.c5{stroke:var(--one)}
.keys{display:flex;flex-wrap:wrap;gap:.2rem 1.4rem;list-style:none;padding:0;margin:.4rem 0}.keys svg{width:2.4rem;height:.8rem;margin-right:.4rem}
`;

export interface LoadFindings {
  readonly tried: readonly Tried[];
  readonly rates: readonly number[];
  readonly verdict: string;
  readonly subtitle: string;
  readonly table: readonly (readonly string[])[];
}

/** The findings of `bench load` as a page: the verdict, the plot, the table. */
export function loadPage({ tried, rates, verdict, subtitle, table }: LoadFindings): string {
  const plot = {
    heading: 'p99 by rate',
    note: 'The time within which 99 of 100 requests are answered, counted from when each was due; the median of the repetitions, its bar from the least to the most.',
    html: plotOf(tried, rates),
  };
  return pageOf({
    title: 'Load on this service',
    lead: { text: verdict },
    subtitle,
    style: STYLE,
    sections: [
      ...(rates.length > 0 ? [plot] : []),
      { heading: 'All settings', html: htmlTable(turned(table)) },
    ],
  });
}

/** A column for each setting: that fits a phone. */
function turned(table: LoadFindings['table']): string[][] {
  return (table[0] ?? []).map((_, column) => table.map((row) => row[column] ?? ''));
}

/** Milliseconds on a logarithmic scale: a setting that does not keep up is slower by orders of magnitude. */
function plotOf(tried: readonly Tried[], rates: readonly number[]): string {
  const values = tried
    .flatMap(({ atRates }) => atRates.flatMap(({ p99Ms }) => p99Ms))
    .filter(Number.isFinite);
  if (values.length === 0) return '<p>Nothing was answered.</p>';
  const [low, high] = [
    Math.floor(Math.log10(Math.min(...values))),
    Math.ceil(Math.log10(Math.max(...values)) + 1e-9),
  ];
  const most = Math.max(...rates);
  const x = (rate: number): number => AREA.left + (rate / most) * (WIDTH - AREA.left - AREA.right);
  const y = (ms: number): number =>
    AREA.top + ((high - Math.log10(ms)) / (high - low)) * (HEIGHT - AREA.top - AREA.bottom);
  const decades = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  const steps = Array.from({ length: TICKS + 1 }, (_, index) => (index * most) / TICKS);
  const lines = tried.map(({ atRates }, index) => lineOf(index, rates.map((rate, at) => ({ rate, p99Ms: atRates[at]?.p99Ms ?? [] })), x, y)); // prettier-ignore
  return `<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="p99 by rate, a line for each setting">
${decades.map((ms) => `<line class="grid" x1="${AREA.left}" x2="${WIDTH - AREA.right}" y1="${at(y(ms))}" y2="${at(y(ms))}"/><text x="${AREA.left - 8}" y="${at(y(ms) + 4)}" text-anchor="end">${ms} ms</text>`).join('')}
${steps.map((rate) => `<text x="${at(x(rate))}" y="${HEIGHT - AREA.bottom + 20}" text-anchor="middle">${Math.round(rate)}</text>`).join('')}
<text x="${(WIDTH + AREA.left) / 2}" y="${HEIGHT - 6}" text-anchor="middle">requests a second</text>
${lines.join('\n')}
</svg>
<ul class="keys">${tried.map(({ setting }, index) => `<li><svg viewBox="0 0 38 12" aria-hidden="true"><path ${strokeOf(index)} d="M0 6H38"/></svg>${escapeHtml(setting.name)}</li>`).join('')}</ul>`;
}

interface Point {
  readonly rate: number;
  readonly p99Ms: readonly number[];
}

function lineOf(
  index: number,
  points: readonly Point[],
  x: (rate: number) => number,
  y: (ms: number) => number,
): string {
  const known = points.filter(({ p99Ms }) => p99Ms.length > 0 && p99Ms.every(Number.isFinite));
  const path = known.map(({ rate, p99Ms }, place) => `${place === 0 ? 'M' : 'L'}${at(x(rate))} ${at(y(spreadOf(p99Ms).median))}`); // prettier-ignore
  const bars = known.map(({ rate, p99Ms }) => {
    const { min, max } = spreadOf(p99Ms);
    return `M${at(x(rate))} ${at(y(max))}V${at(y(min))}`;
  });
  return `<path ${strokeOf(index)} d="${path.join('')}"/><path class="c${index % DASHES.length}" d="${bars.join('')}"/>`;
}

function strokeOf(index: number): string {
  const place = index % DASHES.length;
  return `class="line c${place}" stroke-dasharray="${DASHES[place] ?? ''}"`;
}

function at(value: number): string {
  return value.toFixed(1);
}
