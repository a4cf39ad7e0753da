/**
 * The live page of the admin listener. It keeps the last 15 minutes that the server sends, and draws them.
 *
 * @typedef {object} Point  one second; see src/http/history.ts
 */
import uPlot from './uplot.js';

/** Seconds between two points that are drawn as a gap. */
const GAP_S = 5;
const MINUTE_POINTS = 60;
const SHOWN_S_MIN = 120;
const CHART_HEIGHT_PX = 170;

/** @type {Point[]} */
let points = [];
let start;
let latest;

const byId = (id) => document.getElementById(id);

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className !== undefined) made.className = className;
  return made;
}

/* Numbers for people. */

const NONE = '–';
const plain = (value, digits = 0) =>
  value === null || value === undefined
    ? NONE
    : value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: 0 });
const rate = (value) => plain(value, value < 10 ? 1 : 0);
const milliseconds = (value) =>
  value === null || value === undefined ? NONE : plain(value, value < 10 ? 2 : value < 100 ? 1 : 0);
const percent = (value) => (value === null || value === undefined ? NONE : `${plain(value * 100)} %`);
const mebibytes = (value) => plain(value / 2 ** 20);

function duration(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  const parts = [
    [Math.floor(s / 86_400), 'd'],
    [Math.floor(s / 3600) % 24, 'h'],
    [Math.floor(s / 60) % 60, 'min'],
    [s % 60, 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return '0 s';
  return parts
    .slice(first, first + 2)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/* What is shown. */

const busiest = (point) => Math.max(0, ...point.loopsBusy);

const TILES = [
  { name: 'scored', unit: '/s', value: (point) => rate(point.served) },
  { name: 'refused', unit: '/s', value: (point) => rate(point.refused) },
  { name: 'p50', unit: 'ms', value: (point) => milliseconds(point.p50Ms) },
  { name: 'p99', unit: 'ms', value: (point) => milliseconds(point.p99Ms) },
  { name: 'p99.9', unit: 'ms', value: (point) => milliseconds(point.p999Ms) },
  { name: 'waiting', unit: 'requests', value: (point) => plain(point.queued) },
  { name: 'in flight', unit: 'requests', value: (point) => plain(point.inFlight) },
  { name: 'batch', unit: () => `of ${start.batchMax}`, value: (point) => plain(point.batchRows, 1) },
  { name: 'workers busy', unit: '', value: (point) => percent(point.workersBusy) },
  { name: 'event loop busy', unit: '', value: (point) => percent(busiest(point)) },
  { name: 'memory', unit: 'MiB', value: (point) => mebibytes(point.rssBytes) },
  { name: 'connections', unit: '', value: (point) => plain(point.connections) },
];

/** Series: name, colour, value of a point; `dash` tells lines apart without their colour. */
const CHARTS = [
  {
    title: 'Throughput',
    unit: 'requests/s',
    series: () => [
      { label: 'scored', color: 1, value: (point) => point.served, show: rate },
      { label: 'refused', color: 2, dash: [6, 3], value: (point) => point.refused, show: rate },
    ],
  },
  {
    title: 'Latency of scored requests',
    unit: 'ms, logarithmic',
    logarithmic: true,
    series: () => [
      { label: 'p50', color: 4, value: (point) => point.p50Ms, show: milliseconds },
      { label: 'p99', color: 3, dash: [6, 3], value: (point) => point.p99Ms, show: milliseconds },
      { label: 'p99.9', color: 2, dash: [2, 3], value: (point) => point.p999Ms, show: milliseconds },
    ],
  },
  {
    title: 'Queue',
    unit: 'requests',
    series: () => [
      { label: 'in flight', color: 1, value: (point) => point.inFlight, show: plain },
      { label: 'waiting', color: 3, dash: [6, 3], value: (point) => point.queued, show: plain },
    ],
  },
  {
    title: 'Batch size',
    unit: 'requests in a model run, mean',
    series: () => [
      { label: 'rows', color: 1, value: (point) => point.batchRows, show: (value) => plain(value, 1) },
    ],
  },
  {
    title: 'Utilisation',
    unit: '% of the time',
    top: 100,
    series: () => [
      {
        label: 'workers',
        color: 1,
        value: (point) => point.workersBusy * 100,
        show: (value) => plain(value),
      },
      ...loopSeries(),
    ],
  },
  {
    title: 'Memory',
    unit: 'MiB resident',
    series: () => [
      {
        label: 'memory',
        color: 1,
        value: (point) => point.rssBytes / 2 ** 20,
        show: (value) => plain(value),
      },
    ],
  },
];

/** Each event loop where they are few, else the busiest one. */
function loopSeries() {
  const count = points.at(-1)?.loopsBusy.length ?? 1;
  const show = (value) => plain(value);
  const dash = [6, 3];
  if (count > 4) {
    return [{ label: 'busiest event loop', color: 3, dash, value: (point) => busiest(point) * 100, show }];
  }
  return Array.from({ length: count }, (_, loop) => ({
    label: count === 1 ? 'event loop' : `event loop ${loop}`,
    color: [3, 4, 2, 1][loop],
    dash: [6, 3 + 2 * loop],
    value: (point) => (point.loopsBusy[loop] ?? 0) * 100,
    show,
  }));
}

/* Charts. */

const drawn = [];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Points as columns; a gap in time becomes a hole in the lines. */
function columns(series) {
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
  return [times, ...values];
}

function drawCharts() {
  while (drawn.length > 0) drawn.pop().plot.destroy();
  const host = byId('charts');
  host.replaceChildren();
  for (const chart of CHARTS) {
    const series = chart.series();
    const figure = element('figure');
    const caption = element('figcaption', `${chart.title} `);
    caption.append(element('span', chart.unit));
    figure.append(caption);
    host.append(figure);
    const data = columns(series);
    const plot = new uPlot(chartOptions(chart, series, widthOf(figure)), data, figure);
    showNewest(plot, data);
    plot.root.querySelector('canvas')?.setAttribute('role', 'img');
    drawn.push({ plot, series, figure, chart });
  }
  describe();
}

function widthOf(figure) {
  const { paddingLeft, paddingRight } = getComputedStyle(figure);
  return Math.floor(figure.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight));
}

function chartOptions({ logarithmic, top }, series, width) {
  const axis = {
    stroke: colour('--faint'),
    grid: { stroke: colour('--grid'), width: 1 },
    ticks: { stroke: colour('--grid'), width: 1 },
    font: '12px system-ui, sans-serif',
  };
  return {
    width,
    height: CHART_HEIGHT_PX,
    cursor: { y: false, drag: { x: false, y: false } },
    scales: {
      x: { range: timeRange },
      y: logarithmic
        ? { distr: 3, range: (_, low, high) => logarithmicRange(low, high) }
        : { range: (_, low, high) => [0, top ?? Math.max(1, (high ?? 0) * 1.1)] },
    },
    axes: [
      { ...axis, space: 90, size: 28, values: (_, times) => times.map(clockTime) },
      {
        ...axis,
        size: 54,
        values: (_, values) => values.map((value) => (value === null ? '' : compact(value))),
      },
    ],
    series: [
      { label: 'time', value: (_, time) => (time === null ? NONE : clockTime(time)) },
      ...series.map(({ label, color, dash, show }) => ({
        label,
        stroke: colour(`--series-${color}`),
        width: 1.5,
        dash,
        points: { show: false },
        value: (_, value) => (value === null ? NONE : show(value)),
      })),
    ],
  };
}

/** What is known, at least two minutes of it: a service that started just now need not show a bare chart. */
function timeRange() {
  const end = (points.at(-1)?.atMs ?? Date.now()) / 1000;
  const begin = (points[0]?.atMs ?? Date.now()) / 1000;
  return [Math.max(end - start.pointsMax, Math.min(begin, end - SHOWN_S_MIN)), end];
}

/** Whole decades, so that the lines of the grid mean something. */
function logarithmicRange(low, high) {
  const bottom = 10 ** Math.floor(Math.log10(low > 0 ? low : 0.1));
  const top = 10 ** Math.ceil(Math.log10(high > 0 ? high : 10));
  return [bottom, Math.max(top, bottom * 10)];
}

const clockTime = (s) => new Date(s * 1000).toLocaleTimeString('en-GB');
const compact = (value) => value.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 2 });

function updateCharts() {
  for (const { plot, series } of drawn) {
    const data = columns(series);
    plot.setData(data);
    if (plot.cursor.left === undefined || plot.cursor.left < 0) showNewest(plot, data);
  }
  describe();
}

/** In the legend, while nobody points at another moment. */
function showNewest(plot, [times]) {
  plot.setLegend({ idx: times.length - 1 }, false);
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

/* Tables and tiles. */

const tileValues = new Map();

function makeTiles() {
  const rows = TILES.map(({ name, unit }) => {
    const row = element('div');
    const value = element('span', NONE);
    const holder = element('dd');
    const text = typeof unit === 'function' ? unit() : unit;
    holder.append(value, element('small', text === '' ? '' : ` ${text}`));
    row.append(element('dt', name), holder);
    tileValues.set(name, value);
    return row;
  });
  byId('tiles').replaceChildren(...rows);
}

function updateTiles() {
  const point = points.at(-1);
  if (point === undefined) return;
  for (const { name, value } of TILES) tileValues.get(name).textContent = value(point);
}

/** @type {Map<string, { row: HTMLElement, minute: HTMLElement, all: HTMLElement }>} */
const refusalCells = new Map();

function makeRefusals() {
  const rows = start.causes.map(({ cause, status }) => {
    const row = element('tr', undefined, 'none');
    const name = element('td');
    name.append(element('code', cause));
    const minute = element('td', '0', 'number');
    const all = element('td', '0', 'number');
    row.append(name, element('td', String(status)), minute, all);
    refusalCells.set(cause, { row, minute, all });
    return row;
  });
  byId('refusals').tBodies[0].replaceChildren(...rows);
}

function updateRefusals() {
  const recent = points.slice(-MINUTE_POINTS);
  for (const [cause, { row, minute, all }] of refusalCells) {
    const count = (some) => some.reduce((sum, { refusals }) => sum + (refusals[cause] ?? 0), 0);
    const total = count(points);
    minute.textContent = plain(count(recent));
    all.textContent = plain(total);
    row.className = total > 0 ? 'some' : 'none';
  }
}

function showSettings() {
  const rows = start.settings.map(({ name, value, meaning }) => {
    const row = element('tr');
    const label = element('td');
    label.append(element('code', name));
    row.append(label, element('td', value, 'value'), element('td', meaning, 'meaning'));
    return row;
  });
  byId('settings').tBodies[0].replaceChildren(...rows);
}

function symptomCard({ title, remedy, metrics }) {
  const card = element('article', undefined, 'symptom');
  const where = element('p');
  where.append(element('code', metrics.join(', ')));
  card.append(element('h3', title), element('p', turn), where);
  return card;
}

let shownRed;

function updateRed() {
  const key = latest.red.join();
  if (key === shownRed) return; // a screen reader repeats what is replaced
  shownRed = key;
  const red = start.symptoms.filter(({ id }) => latest.red.includes(id));
  byId('red').replaceChildren(
    ...(red.length > 0 ? red.map(symptomCard) : [element('p', 'Nothing is red.', 'calm')]),
  );
}

function updateFacts() {
  const { ready, model, red } = latest;
  const text = !ready ? 'not ready' : red.length > 0 ? `ready, ${red.length} red` : 'ready';
  setStatus(text, ready && red.length === 0 ? 'good' : 'bad');
  byId('model').textContent = model;
  byId('version').textContent = `${start.version} on Node ${start.node}`;
  byId('uptime').textContent = duration((points.at(-1)?.atMs ?? Date.now()) - start.startedMs);
}

function setStatus(text, kind) {
  const status = byId('status');
  if (status.textContent !== text) status.textContent = text;
  status.className = `status ${kind}`;
}

/* The feed. */

function update() {
  updateFacts();
  updateTiles();
  updateRed();
  updateRefusals();
}

function onStart(data) {
  start = data;
  latest = data;
  points = data.points;
  shownRed = undefined;
  makeTiles();
  makeRefusals();
  showSettings();
  byId('symptoms').replaceChildren(...start.symptoms.map(symptomCard));
  drawCharts();
  update();
}

function onPoint(data) {
  latest = data;
  points.push(data.point);
  if (points.length > start.pointsMax) points.shift();
  update();
  // Nobody sees a hidden page: its charts wait until somebody does.
  if (document.visibilityState === 'visible') updateCharts();
}

const events = new EventSource('events');
events.addEventListener('start', ({ data }) => onStart(JSON.parse(data)));
events.addEventListener('point', ({ data }) => onPoint(JSON.parse(data)));
events.addEventListener('error', () => setStatus('no connection', 'waiting'));

document.addEventListener('visibilitychange', () => {
  if (start !== undefined && document.visibilityState === 'visible') updateCharts();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  if (start !== undefined) drawCharts();
});
new ResizeObserver(() => {
  for (const { plot, figure } of drawn) {
    const width = widthOf(figure);
    if (width !== plot.width) plot.setSize({ width, height: CHART_HEIGHT_PX });
  }
}).observe(byId('charts'));
