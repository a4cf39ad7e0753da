/** The few numbers, refusals, settings. */
import { byId, element, holding, setText } from './dom.js';
import { mebibytes, milliseconds, NONE, percent, plain, rate } from './numbers.js';

const MINUTE_POINTS = 60;

export const busiest = (point) => Math.max(0, ...point.loopsBusy);

/** `symptoms`: those that colour the number. What is not `first` is folded away. */
const TILES = [
  { name: 'scored', first: true, unit: '/s', value: (point) => rate(point.served) },
  {
    name: 'refused',
    first: true,
    unit: '/s',
    value: (point) => rate(point.refused),
    symptoms: ['queueFull', 'deadline', 'bodiesFull', 'keys', 'limits', 'bodies'],
  },
  {
    name: 'p99',
    first: true,
    unit: 'ms',
    value: (point) => milliseconds(point.p99Ms),
    symptoms: ['slow'],
  },
  {
    name: 'event loop',
    first: true,
    unit: 'busy',
    value: (point) => percent(busiest(point)),
    symptoms: ['loopBusy', 'loopLate', 'coresFull'],
  },
  {
    name: 'workers',
    first: true,
    unit: 'busy',
    value: (point) => percent(point.workersBusy),
    symptoms: ['workersBusy'],
  },
  {
    name: 'in flight',
    first: true,
    unit: 'mean',
    value: (point) => plain(point.inFlight, point.inFlight < 10 ? 1 : 0),
    symptoms: ['queueFull'],
  },
  { name: 'p50', unit: 'ms', value: (point) => milliseconds(point.p50Ms) },
  { name: 'p99.9', unit: 'ms', value: (point) => milliseconds(point.p999Ms) },
  { name: 'in flight, highest', unit: 'requests', value: (point) => plain(point.inFlightMost) },
  { name: 'waiting', unit: 'requests', value: (point) => plain(point.queued) },
  { name: 'batch', unit: ({ batchMax }) => `of ${batchMax}`, value: (point) => plain(point.batchRows, 1) },
  { name: 'memory', unit: 'MiB', value: (point) => mebibytes(point.rssBytes) },
  {
    name: 'connections',
    unit: '',
    value: (point) => plain(point.connections),
    symptoms: ['connectionsFull'],
  },
];

/** @type {Map<string, { row: HTMLElement, value: HTMLElement }>} */
const tiles = new Map();

export function makeTiles(start) {
  const rows = TILES.map(({ name, unit, first }) => {
    const value = element('span', NONE);
    const text = typeof unit === 'function' ? unit(start) : unit;
    const holder = holding('dd', [value, element('small', text === '' ? '' : ` ${text}`)]);
    const row = holding('div', [element('dt', name), holder]);
    tiles.set(name, { row, value });
    return { row, first };
  });
  const of = (wanted) => rows.filter(({ first }) => (first === true) === wanted).map(({ row }) => row);
  byId('tiles').replaceChildren(...of(true));
  byId('more-tiles').replaceChildren(...of(false));
}

/** One point of the seconds that the diagnosis judges, by its rules (src/admin/measurements.ts). */
function together(points) {
  const known = (read) =>
    points
      .map(read)
      .filter((value) => value !== null && value !== undefined)
      .toSorted((a, b) => a - b);
  const mean = (read) => known(read).reduce((sum, value, _, { length }) => sum + value / length, 0);
  const middle = (name) => {
    const values = known((point) => point[name]);
    return values[Math.floor((values.length - 1) / 2)];
  };
  const last = points.at(-1);
  const means = ['served', 'refused', 'workersBusy', 'inFlight'];
  return {
    ...last,
    ...Object.fromEntries(means.map((name) => [name, mean((point) => point[name])])),
    ...Object.fromEntries(['p50Ms', 'p99Ms', 'p999Ms', 'batchRows'].map((name) => [name, middle(name)])),
    loopsBusy: last.loopsBusy.map((_, loop) => mean((point) => point.loopsBusy[loop])),
    inFlightMost: Math.max(...points.map((point) => point.inFlightMost)),
  };
}

export function updateTiles(points, { symptoms: shown }) {
  if (points.length === 0) return;
  const point = together(points);
  const levels = new Map(shown.map(({ id, level }) => [id, level]));
  for (const { name, value, symptoms = [] } of TILES) {
    const tile = tiles.get(name);
    setText(tile.value, value(point));
    const found = symptoms.map((id) => levels.get(id));
    tile.row.className = found.includes('red') ? 'red' : found.includes('amber') ? 'amber' : '';
  }
}

/** Causes that had any in the last 15 minutes as rows, the others in one line, folded. */
export function updateRefusals(points, causes) {
  const counted = causes.map(({ cause, status }) => {
    const sum = (list) => list.reduce((total, { refusals }) => total + (refusals[cause] ?? 0), 0);
    return { cause, status, minute: sum(points.slice(-MINUTE_POINTS)), all: sum(points) };
  });
  const some = counted.filter(({ all }) => all > 0).toSorted((a, b) => b.all - a.all);
  const rows = some.map(({ cause, status, minute, all }) =>
    holding('tr', [
      holding('td', [element('code', cause)]),
      element('td', String(status)),
      element('td', plain(minute), 'number'),
      element('td', plain(all), 'number'),
    ]),
  );
  byId('refusals').hidden = some.length === 0;
  byId('no-refusals').hidden = some.length > 0;
  byId('refusals')
    .querySelector('tbody')
    .replaceChildren(...rows);
  const none = counted.filter(({ all }) => all === 0);
  setText(byId('zero-count'), `${none.length} causes without a refusal`);
  setText(byId('zero-causes'), none.map(({ cause, status }) => `${cause} (${status})`).join(', '));
}

/** What was set, and folded what is at its default. */
export function showSettings(settings) {
  const row = ({ name, value, meaning }) =>
    holding('tr', [
      holding('td', [variable(name)]),
      element('td', value === '' ? NONE : value, 'value'),
      element('td', meaning, 'meaning'),
    ]);
  const changed = settings.filter(({ isDefault }) => !isDefault);
  const defaults = settings.filter(({ isDefault }) => isDefault);
  byId('settings').hidden = changed.length === 0;
  byId('settings')
    .querySelector('tbody')
    .replaceChildren(...changed.map(row));
  byId('no-settings').hidden = changed.length > 0;
  byId('defaults')
    .querySelector('tbody')
    .replaceChildren(...defaults.map(row));
  setText(byId('default-count'), `${defaults.length} settings at their default`);
}

/** A long name breaks after an underscore. */
function variable(name) {
  const words = name.split(/(?<=_)/);
  return holding(
    'code',
    words.flatMap((word, index) => (index === 0 ? [word] : [element('wbr', ''), word])),
  );
}
