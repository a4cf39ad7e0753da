/** Draws the charts, with a legend of lines and values beneath each. */
import uPlot from './uplot.js';
import { CHARTS } from './chartList.js';
import { byId, element, holding, setText } from './dom.js';
import { axisMilliseconds, clockTime, compact } from './numbers.js';

/** Seconds between two points that are drawn as a gap. */
const GAP_S = 5;
const SHOWN_S_MIN = 120;
const CHART_HEIGHT_PX = 170;
const SVG = 'http://www.w3.org/2000/svg';

const drawn = [];
let points = [];
let start;

/** As a canvas takes it: of a name, which stands for two colours, the one of now. */
function colour(name, alpha = 1) {
  const place = byId('charts');
  place.style.color = `var(${name})`;
  const { color } = getComputedStyle(place);
  place.style.color = '';
  return color.replace(')', `, ${alpha})`);
}

/** Draws all anew: at the start, and when colours change. */
export function drawCharts(newStart, newPoints) {
  start = newStart;
  points = newPoints;
  while (drawn.length > 0) drawn.pop().plot.destroy();
  byId('charts').replaceChildren();
  for (const chart of CHARTS) drawn.push(draw(chart));
  describe();
}

export function updateCharts(newPoints) {
  points = newPoints;
  for (const { plot, chart, series } of drawn) plot.setData(columns(chart, series));
  for (const one of drawn) showValues(one);
  describe();
}

function draw(chart) {
  const series = chart.series(start, points);
  const cut = element('span');
  const caption = holding('figcaption', [`${chart.title} `, element('span', chart.unit), cut]);
  const figure = holding('figure', [caption]);
  byId('charts').append(figure);
  const values = series.map(() => element('b'));
  const legend = holding(
    'ul',
    // In a stack the last series lies on top.
    (chart.stacked ? series.toReversed() : series).map((one) =>
      holding('li', [swatch(one, chart), `${one.label} `, values[series.indexOf(one)]]),
    ),
    'legend',
  );
  const plot = new uPlot(options(chart, series, widthOf(figure)), columns(chart, series), figure);
  figure.append(legend);
  plot.root.querySelector('canvas')?.setAttribute('role', 'img');
  const one = { plot, chart, series, figure, values, cut };
  plot.hooks.setCursor = [() => showValues(one)];
  plot.hooks.draw = [() => tellCut(one)];
  showValues(one);
  return one;
}

/** As the series is drawn: a line, or a filled band. */
function swatch({ color, dash, width = 2.5 }, { stacked }) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 22 10');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS(SVG, 'line');
  const attributes = { x1: 0, x2: 22, y1: 5, y2: 5, 'stroke-width': stacked ? 10 : width };
  for (const [name, value] of Object.entries(attributes)) line.setAttribute(name, value);
  line.setAttribute('stroke', colour(`--series-${color}`));
  if (dash !== undefined) line.setAttribute('stroke-dasharray', dash.join(' '));
  svg.append(line);
  return svg;
}

/** At the moment that is pointed at, else now. */
function showValues({ plot, series, values }) {
  const index = plot.cursor.idx ?? null;
  const isPointed = plot.cursor.left >= 0 && index !== null;
  const second = isPointed ? plot.data[0][index] : undefined;
  const point =
    second === undefined ? points.at(-1) : points.find(({ atMs }) => Math.abs(atMs / 1000 - second) < 0.5);
  series.forEach(({ value, show }, at) =>
    setText(values[at], point === undefined ? '–' : show(value(point))),
  );
}

/** Points as columns; a gap in time becomes a hole in the lines. A stack's columns are sums, the highest first. */
function columns({ stacked }, series) {
  const times = [];
  const values = series.map(() => []);
  for (const point of points) {
    const s = point.atMs / 1000;
    if (times.length > 0 && s - times.at(-1) > GAP_S) {
      times.push(times.at(-1) + 1);
      for (const column of values) column.push(null);
    }
    times.push(s);
    series.forEach(({ value }, index) => values[index].push(value(point)));
  }
  return [times, ...(stacked ? sums(values).toReversed() : values)];
}

function sums(values) {
  return values.map((column, index) =>
    column.map((value, at) =>
      value === null ? null : values.slice(0, index + 1).reduce((sum, one) => sum + (one[at] ?? 0), 0),
    ),
  );
}

function options(chart, series, width) {
  const axis = {
    stroke: colour('--faint'),
    grid: { stroke: colour('--grid'), width: 1 },
    ticks: { stroke: colour('--grid'), width: 1 },
    font: '12px system-ui, sans-serif',
  };
  const lines = chart.stacked ? series.toReversed() : series;
  return {
    width,
    height: CHART_HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { x: { range: timeRange }, y: yScale(chart) },
    axes: [
      { ...axis, space: 90, size: 28, values: (_, times) => times.map((s) => clockTime(s * 1000)) },
      { ...axis, ...yAxis(chart) },
    ],
    // Each band ends where the one below it begins.
    bands: chart.stacked ? lines.slice(1).map((_, index) => ({ series: [index + 1, index + 2] })) : [],
    series: [
      {},
      ...lines.map(({ color, dash, width = 1.5 }) => ({
        stroke: colour(`--series-${color}`, width > 2 ? 0.5 : 1),
        fill: chart.stacked ? colour(`--series-${color}`, 0.75) : undefined,
        width: chart.stacked ? 0.5 : width,
        dash,
        points: { show: false },
      })),
    ],
  };
}

function yScale({ log, top }) {
  return log
    ? { distr: 3, range: (_, low, high) => decades(low, high) }
    : { range: (plot, low, high) => [0, top ?? Math.max(1, usualTop(plot, high ?? 0) * 1.1)] };
}

/** One spike of a few seconds, or one slow first request, must not flatten all the rest: far above, it is cut. */
const FAR_ABOVE = 4;
const SPIKE_SHARE = 0.02;

/** What is cut is told beside the unit. */
function tellCut({ plot, chart, cut }) {
  const highest = Math.max(0, ...plot.data.slice(1).flat().filter(Number.isFinite));
  const isCut = !chart.log && chart.top === undefined && highest > (plot.scales.y.max ?? Infinity);
  setText(cut, isCut ? `, cut: highest ${compact(highest)}` : '');
}

function usualTop(plot, high) {
  const [times, ...lines] = plot.data;
  const tops = times
    .map((_, at) => Math.max(...lines.map((line) => line[at] ?? 0)))
    .filter((value) => value > 0)
    .toSorted((a, b) => a - b);
  const spikes = Math.max(1, Math.floor(tops.length * SPIKE_SHARE));
  const usual = tops.at(-1 - spikes) ?? 0;
  return tops.length > 2 && high > FAR_ABOVE * usual ? usual * 2 : high;
}

function yAxis({ log }) {
  if (!log) return { size: 62, values: (_, values) => values.map((v) => (v === null ? '' : compact(v))) };
  return {
    size: 62,
    splits: (_, axis, low, high) => ticks(low, high),
    filter: (_, values) => values,
    values: (_, values) => values.map(axisMilliseconds),
  };
}

/** Whole decades, so that the lines of the grid mean something. */
function decades(low, high) {
  const bottom = 10 ** Math.floor(Math.log10(low > 0 ? low : 0.1));
  const top = 10 ** Math.ceil(Math.log10(high > 0 ? high : 10));
  return [bottom, Math.max(top, bottom * 10)];
}

/** One line a decade; where there are few, at 2 and 5 too. */
function ticks(low, high) {
  const first = Math.round(Math.log10(low));
  const last = Math.round(Math.log10(high));
  const steps = last - first > 2 ? [1] : [1, 2, 5];
  const found = [];
  for (let exponent = first; exponent < last; exponent++) {
    for (const step of steps) found.push(Number(`${step}e${exponent}`));
  }
  return [...found, Number(`1e${last}`)];
}

/** What is known, at least two minutes of it: a service that started just now need not show a bare chart. */
function timeRange() {
  const end = (points.at(-1)?.atMs ?? Date.now()) / 1000;
  const begin = (points[0]?.atMs ?? Date.now()) / 1000;
  return [Math.max(end - start.pointsMax, Math.min(begin, end - SHOWN_S_MIN)), end];
}

function widthOf(figure) {
  const { paddingLeft, paddingRight } = getComputedStyle(figure);
  return Math.floor(figure.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight));
}

/** What a chart shows now, for those who don't see it. */
function describe() {
  const point = points.at(-1);
  if (point === undefined) return;
  for (const { plot, series, chart } of drawn) {
    const values = series.map(({ label, value, show }) => `${label} ${show(value(point))}`).join(', ');
    plot.root.querySelector('canvas')?.setAttribute('aria-label', `${chart.title}, ${chart.unit}: ${values}`);
  }
}

new ResizeObserver(() => {
  for (const { plot, figure } of drawn) {
    const width = widthOf(figure);
    if (width !== plot.width) plot.setSize({ width, height: CHART_HEIGHT_PX });
  }
}).observe(byId('charts'));
