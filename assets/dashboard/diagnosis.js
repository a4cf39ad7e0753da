/** What is wrong, first of all; and what was, in the last 24 hours. */
import { byId, element, holding, setText } from './dom.js';
import { clockTime, duration } from './numbers.js';

const WORDS = { calm: 'green', amber: 'amber', red: 'red' };
const DAY_MS = 24 * 3_600_000;

/** By id: title, metrics, remedy, signs. */
let symptoms = new Map();
let told;
let shape;

export function setSymptoms(list) {
  symptoms = new Map(list.map((symptom) => [symptom.id, symptom]));
  told = undefined;
  shape = undefined;
  byId('symptoms').replaceChildren(...list.map(symptomCard));
}

export function showDiagnosis({ level, sentence, causes }) {
  byId('diagnosis').className = level;
  setText(byId('level'), `${WORDS[level]} · the last 5 seconds`);
  setText(byId('sentence'), sentence);
  document.title = `${level === 'calm' ? '' : `${level}: `}acuity`;
  const key = JSON.stringify(causes);
  if (key === shape) return;
  shape = key;
  const open = new Set([...byId('causes').querySelectorAll('details[open]')].map(({ id }) => id));
  byId('causes').replaceChildren(...causes.map((cause, index) => causeCard(cause, index, open)));
  tell(level, causes, sentence);
}

/** Numbers change each second: who listens is told only when what is wrong changes. */
function tell(level, causes, sentence) {
  const news = causes.map(({ id, level: one }) => id + one).join();
  if (news === told) return;
  told = news;
  byId('told').textContent = level === 'calm' ? 'green: all is well.' : `${WORDS[level]}: ${sentence}`;
}

/** No numbers come: what is shown gets old. */
export function showNoConnection(sinceMs) {
  byId('diagnosis').className = 'amber';
  setText(byId('level'), 'no connection');
  const rest = sinceMs === undefined ? '' : ` What follows is from ${clockTime(sinceMs)}.`;
  setText(byId('sentence'), `The service does not answer this page.${rest}`);
  byId('causes').replaceChildren();
  told = undefined;
  shape = undefined;
}

function causeCard({ id, level, sentence, evidence, effects }, index, open) {
  const symptom = symptoms.get(id);
  const remedy = holding('p', [element('strong', 'What to do: '), symptom?.remedy ?? ''], 'remedy');
  // The first one's sentence stands above already.
  const said = index === 0 ? [] : [holding('h3', [chip(level), sentence])];
  const follows =
    effects.length === 0
      ? []
      : [
          element('p', 'From this follows:', 'follows'),
          holding(
            'ul',
            effects.map((effect) => holding('li', [chip(effect.level), effect.sentence])),
          ),
        ];
  const card = holding('article', [...said, evidenceList(evidence), ...follows], `cause ${level}`);
  if (index === 0) card.append(remedy);
  else {
    const more = holding('details', [element('summary', 'What to do'), remedy]);
    more.id = `remedy-${id}`;
    more.open = open.has(more.id);
    card.append(more);
  }
  return card;
}

function evidenceList(evidence) {
  const items = evidence.map(({ what, value, limit }) =>
    holding('div', [
      element('dt', what),
      holding('dd', [element('strong', value), limit === '' ? '' : element('span', ` ${limit}`)]),
    ]),
  );
  return holding('dl', items, 'evidence');
}

const chip = (level) => element('span', level, `chip ${level}`);

/** What was amber for no longer than this is told together. */
const TRIFLE_MS = 10_000;
const isTrifle = ({ level, isOver, beganMs, seenMs }) =>
  isOver && level === 'amber' && seenMs - beganMs < TRIFLE_MS;

export function showLog(episodes, startedMs, nowMs) {
  const trifles = episodes.filter(isTrifle);
  const rest = episodes.filter((one) => !isTrifle(one));
  const isOpen = byId('log').querySelector('details')?.open === true;
  const sinceMs = Math.min(DAY_MS, nowMs - startedMs);
  const what = trifles.length === 0 ? 'amber or red' : `red, or amber for ${duration(TRIFLE_MS)}`;
  const none = element('p', `Nothing was ${what} in the last ${duration(sinceMs)}.`, 'none');
  const parts = [rest.length === 0 ? none : holding('ol', logItems(rest))];
  if (trifles.length > 0) {
    const times = `${trifles.length} ${trifles.length === 1 ? 'time' : 'times'}`;
    const summary = element('summary', `${times} amber for less than ${duration(TRIFLE_MS)}`);
    const folded = holding('details', [summary, holding('ol', logItems(trifles))]);
    folded.open = isOpen;
    parts.push(folded);
  }
  byId('log').replaceChildren(...parts);
}

function logItems(episodes) {
  return episodes.map(({ level, sentence, cause, beganMs, seenMs, isOver }) => {
    const lasted = isOver ? `for ${duration(Math.max(1000, seenMs - beganMs))}` : 'since then';
    const when = holding('span', [`${clockTime(beganMs)}, ${lasted}`], 'when');
    const why = symptoms.get(cause)?.title;
    const what = holding('span', [sentence], 'what');
    if (why !== undefined) what.append(element('small', ` follows from: ${why}`));
    return holding('li', [chip(level), when, what]);
  });
}

/** For the list of everything that is watched. */
function symptomCard({ title, metrics, remedy, signs }) {
  const card = element('article', undefined, 'symptom');
  card.append(
    element('h3', title),
    element('p', signs.length === 0 ? 'Only a longer look can tell.' : `${signs.join('; ')}.`, 'signs'),
    element('p', remedy),
    element('code', metrics.join(', ')),
  );
  return card;
}
