import { spreadOf } from '#acuity/load/statistics.js';
import { escapeHtml, htmlTable, pageOf } from '#acuity/base/page.js';
import type { Tried } from './verdict.js';

const [WIDTH, HEIGHT] = [960, 420];
const AREA = { left: 150, right: 60, top: 30, bottom: 64 } as const;
/** Each setting stands beside the others, so that their bars do not cover each other. */
const APART = 12;
/** Strokes that stay apart without colour. */
const DASHES = ['', '8 4', '2 4', '10 3 2 3', '4 4', '1 6'];

const STYLE = `
.plot{width:100%;height:auto;display:block;margin:.8rem 0}
.plot text{fill:var(--muted);font-size:15px}.plot .grid{stroke:var(--grid)}
.line{fill:none;stroke-width:2}.least{stroke-width:2.5}.dot{stroke-width:11;stroke-linecap:round}
@media(max-width:40rem){.plot text{font-size:30px}.line{stroke-width:3}.least{stroke-width:5}.dot{stroke-width:18}}
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
    note: 'The time within which 99 of 100 requests are answered, counted from when each was due. A dot is the median of the repetitions, its bar reaches from the least to the most.',
    html: plotOf(tried, rates),
  };
  return pageOf({
    title: 'p99 by rate, and what to set',
    lead: { text: verdict },
    subtitle,
    style: STYLE,
    sections: [
      ...(rates.length > 0 ? [plot] : []),
      { heading: 'All settings', html: htmlTable(turned(table)) },
    ],
  });
}

/** A column for each setting: that fits a phone. A short spread is not broken within. */
function turned(table: LoadFindings['table']): string[][] {
  const whole = (cell = ''): string => (cell.length > 13 ? cell : cell.replaceAll('–', '\u2060–\u2060'));
  return (table[0] ?? []).map((_, column) => table.map((row) => whole(row[column])));
}

/** Milliseconds on a logarithmic scale: a setting that does not keep up is slower by orders of magnitude. */
function plotOf(tried: readonly Tried[], rates: readonly number[]): string {
  const values = tried
    .flatMap(({ atRates }) => atRates.flatMap(({ p99Ms }) => p99Ms))
    .filter(Number.isFinite);
  if (values.length === 0) return '<p>Nothing was answered.</p>';
  const ticks = ticksAround(Math.min(...values), Math.max(...values));
  const [low, high] = [Math.min(...ticks), Math.max(...ticks)];
  const step = (WIDTH - AREA.left - AREA.right) / Math.max(1, rates.length - 1);
  const x = (place: number, index: number): number =>
    AREA.left + place * step + APART * (index - (tried.length - 1) / 2);
  const y = (ms: number): number =>
    AREA.top + (Math.log(high / ms) / Math.log(high / low)) * (HEIGHT - AREA.top - AREA.bottom);
  const lines = tried.map(({ atRates }, index) => {
    const points = atRates
      .map(({ p99Ms }, place) => ({ p99Ms, at: at(x(place, index)) }))
      .filter(({ p99Ms }) => p99Ms.length > 0 && p99Ms.every(Number.isFinite))
      .map((point) => ({ ...point, ...spreadOf(point.p99Ms) }));
    const path = points.map((point, place) => `${place === 0 ? 'M' : 'L'}${point.at} ${at(y(point.median))}`);
    const bars = points.map((point) => `M${point.at} ${at(y(point.max))}V${at(y(point.min))}`);
    const dots = points.map((point) => `M${point.at} ${at(y(point.median))}h0`);
    const colour = `c${index % DASHES.length}`;
    return `<path ${strokeOf(index)} d="${path.join('')}"/><path class="least ${colour}" d="${bars.join('')}"/><path class="dot ${colour}" d="${dots.join('')}"/>`;
  });
  return `<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="p99 by rate, a line for each setting">
${ticks.map((ms) => `<line class="grid" x1="0" x2="${WIDTH}" y1="${at(y(ms))}" y2="${at(y(ms))}"/><text x="0" y="${at(y(ms) - 5)}">${ms} ms</text>`).join('')}
${rates.map((rate, place) => `<text x="${at(x(place, (tried.length - 1) / 2))}" y="${HEIGHT - AREA.bottom + 34}" text-anchor="middle">${rate}/s</text>`).join('')}
${lines.join('\n')}
</svg>
<ul class="keys">${tried.map(({ setting }, index) => `<li><svg viewBox="0 0 38 12" aria-hidden="true"><path ${strokeOf(index)} d="M0 6H38"/></svg>${escapeHtml(setting.name)}</li>`).join('')}</ul>`;
}

/** 1, 2, 5, 10, … from the last one that is not above `least` to the first that is not below `most`; whole decades over many. */
function ticksAround(least: number, most: number): number[] {
  const steps = most / least > 100 ? [1] : [1, 2, 5];
  const first = Math.floor(Math.log10(least));
  const all = Array.from({ length: Math.ceil(Math.log10(most)) - first + 2 }, (_, decade) =>
    steps.map((step) => Number(`${step}e${first + decade}`)),
  ).flat();
  return all.filter((_, place) => (all[place + 1] ?? 0) > least && (all[place - 1] ?? 0) < most);
}

function strokeOf(index: number): string {
  const place = index % DASHES.length;
  return `class="line c${place}" stroke-dasharray="${DASHES[place] ?? ''}"`;
}

function at(value: number): string {
  return value.toFixed(1);
}
