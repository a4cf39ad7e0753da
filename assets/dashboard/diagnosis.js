/** What is wrong, first of all. */
import { byId, element, holding, setText } from './dom.js';
import { clockTime } from './numbers.js';

const WORDS = { calm: 'green', amber: 'amber', red: 'red' };

/** By id: title, metrics, remedy, signs. */
let known = new Map();
let told;
let shape;

export function setSymptoms(list) {
  known = new Map(list.map((symptom) => [symptom.id, symptom]));
  told = undefined;
  shape = undefined;
  byId('symptoms').replaceChildren(...list.map(watchedCard));
}

export function showDiagnosis({ level, sentence, symptoms }) {
  byId('diagnosis').className = level;
  setText(byId('level'), `${WORDS[level]} · ${byId('now-title').textContent}`);
  setText(byId('sentence'), sentence);
  document.title = `${level === 'calm' ? '' : `${level}: `}acuity`;
  const key = JSON.stringify(symptoms);
  if (key === shape) return;
  shape = key;
  const open = new Set([...byId('shown').querySelectorAll('details[open]')].map(({ id }) => id));
  byId('shown').replaceChildren(...symptoms.map((symptom, index) => shownCard(symptom, index, open)));
  tell(level, symptoms, sentence);
}

/** Numbers change each second: who listens is told only when what is wrong changes. */
function tell(level, symptoms, sentence) {
  const news = symptoms.map(({ id, level: one }) => id + one).join();
  if (news === told) return;
  told = news;
  byId('told').textContent = `${WORDS[level]}: ${sentence}`;
}

/** No numbers come: what is shown gets old. */
export function showNoConnection(sinceMs) {
  byId('diagnosis').className = 'amber';
  setText(byId('level'), 'no connection');
  const rest = sinceMs === undefined ? '' : ` What follows is from ${clockTime(sinceMs)}.`;
  setText(byId('sentence'), `The service does not answer this page.${rest}`);
  byId('shown').replaceChildren();
  told = undefined;
  shape = undefined;
}

function shownCard({ id, level, evidence }, index, open) {
  const { title, remedy } = known.get(id);
  // The first one's title stands above already.
  const heading = index === 0 ? [] : [holding('h3', [element('span', level, `chip ${level}`), title])];
  const signs = evidence.map(({ what, value, limit }) =>
    holding('div', [
      element('dt', what),
      holding('dd', [element('strong', value), limit === '' ? '' : element('span', ` ${limit}`)]),
    ]),
  );
  const card = holding('article', [...heading, holding('dl', signs, 'evidence')], `shown ${level}`);
  if (index === 0) card.append(holding('p', [element('strong', 'What to do: '), remedy]));
  else {
    const more = holding('details', [element('summary', 'What to do'), element('p', remedy)]);
    more.id = `remedy-${id}`;
    more.open = open.has(more.id);
    card.append(more);
  }
  return card;
}

/** For the list of everything that is watched. */
function watchedCard({ title, metrics, remedy, signs }) {
  const when = signs.length === 0 ? 'Only a longer look can tell.' : `${signs.join('; ')}.`;
  return holding(
    'article',
    [
      element('h3', title),
      element('p', when, 'signs'),
      element('p', remedy),
      element('code', metrics.join(', ')),
    ],
    'symptom',
  );
}
