/** The shadow model: what it says beside what was answered (src/admin/differences.ts). */
import { byId, element, holding, setText } from './dom.js';
import { NONE, percent, plain } from './numbers.js';

/** Hidden where none is configured. */
export function showShadow(shadow) {
  byId('shadow').hidden = shadow === undefined;
  if (shadow === undefined) return;
  const { compared, scores, flips, dropped, errors, run } = shadow;
  setText(byId('shadow-sentence'), sentenceOf(shadow));
  byId('shadow-scores')
    .querySelector('tbody')
    .replaceChildren(...scores.map(rowOf));
  const tiles = [
    ...flips.map(({ label, count }) => [`${label} turned`, plain(count), share(count, compared)]),
    ['dropped', plain(dropped), ''],
    ['without scores', plain(errors), ''],
    ['run, mean', points(run.meanMs), 'ms'],
    ['run, p99', points(run.p99Ms), 'ms'],
  ];
  byId('shadow-numbers').replaceChildren(...tiles.map(tileOf));
}

function sentenceOf({ version, refusal, share: part, compared, flips }) {
  if (refusal) return `Refused: ${refusal}`;
  if (!version) return 'There is none in its folder.';
  const turned = flips.reduce((sum, { count }) => sum + count, 0);
  return `${version} scores copies of ${percent(part)} of the answered requests: ${plain(compared)} compared, ${plain(turned)} labels turned.`;
}

function rowOf({ score, mean, meanSigned, p50, p99 }) {
  return holding('tr', [
    element('td', score),
    element('td', points(mean), 'number'),
    element('td', points(meanSigned), 'number'),
    element('td', points(p50), 'number spare'),
    element('td', points(p99), 'number'),
  ]);
}

function tileOf([name, value, unit]) {
  return holding('div', [
    element('dt', name),
    holding('dd', [element('span', value), element('small', ` ${unit}`)]),
  ]);
}

const share = (count, all) => (all === 0 ? '' : percent(count / all));
const points = (value) => (value === null ? NONE : value.toFixed(2));
