/**
 * The live page of the admin listener. It keeps the last 15 minutes that the service sends (src/admin/dashboard.ts),
 * and shows what the service says of them.
 *
 * @typedef {object} Point  one second; see src/admin/timeSeries.ts
 */
import { drawCharts, updateCharts } from './charts.js';
import { setSymptoms, showDiagnosis, showNoConnection } from './diagnosis.js';
import { byId, setText } from './dom.js';
import { duration } from './numbers.js';
import { showShadow } from './shadow.js';
import { makeTiles, showSettings, updateRefusals, updateTiles } from './tables.js';

/** @type {Point[]} */
let points = [];
let start;
let latest;

const nowMs = () => points.at(-1)?.atMs ?? Date.now();

function update() {
  const { ready, model, diagnosis } = latest;
  setStatus(ready ? 'ready' : 'not ready', ready ? 'calm' : 'red');
  setText(byId('model'), model);
  setText(byId('version'), `${start.version} on Node ${start.node}`);
  setText(byId('uptime'), duration(nowMs() - start.startedMs));
  showDiagnosis(diagnosis);
  updateTiles(points.slice(-start.judgedPoints), diagnosis);
  updateRefusals(points, start.causes);
  showShadow(latest.shadow);
}

function setStatus(text, kind) {
  const status = byId('status');
  setText(status, text);
  status.className = `status ${kind}`;
}

function showFleet(url) {
  const link = byId('grafana');
  link.hidden = url === '';
  if (url !== '') link.href = url;
}

function onStart(data) {
  start = data;
  latest = data;
  points = data.points;
  setSymptoms(start.symptoms);
  makeTiles(start);
  setText(byId('now-title'), `The last ${start.judgedPoints} seconds`);
  showSettings(start.settings);
  byId('try').hidden = !start.hasTry;
  showFleet(start.grafanaUrl);
  drawCharts(start, points);
  update();
}

function onPoint(data) {
  latest = data;
  points.push(data.point);
  if (points.length > start.pointsMax) points.shift();
  update();
  // A hidden page draws no charts until it is visible.
  if (document.visibilityState === 'visible') updateCharts(points);
}

const events = new EventSource('events');
events.addEventListener('start', ({ data }) => onStart(JSON.parse(data)));
events.addEventListener('point', ({ data }) => onPoint(JSON.parse(data)));
events.addEventListener('error', () => {
  setStatus('no connection', 'amber');
  showNoConnection(points.at(-1)?.atMs);
});

document.addEventListener('visibilitychange', () => {
  if (start !== undefined && document.visibilityState === 'visible') updateCharts(points);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  if (start !== undefined) drawCharts(start, points);
});
