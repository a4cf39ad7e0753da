/** The page `/try`: a night put together by hand, and its scores. Nothing of it is stored. */
import { byId, element, holding, setText } from '../dashboard/dom.js';
import { makeCode, showCode } from './code.js';
import { EXAMPLES, FIRST, hours, minutesOf, personOf, requestOf, SLIDERS } from './night.js';
import { makeRecording, shortened, tellRecording } from './recording.js';
import {
  chosenScore,
  clearScores,
  drawLine,
  makeScores,
  nameOf,
  sentenceOfAll,
  showScores,
} from './scores.js';
import { asker, tellService } from './service.js';

/** The first night lies so many days back, so that the last may be today: clients refuse nights that are to come. */
const NIGHTS_MAX = 60;
const DAY_MS = 86_400_000;
const TOLD_AFTER_MS = 1200;

let night = FIRST;
/** The request that was pasted, in place of what the sliders say. */
let pasted;
/** What the service said of each night before this one, the oldest first. */
let nights = [];
let history = '';
/** Of this night. */
let measurements = [];
/** What is shown, and the request that it answers. */
let shown;
let url = '';
let telling;
/** Nights are being made past ones. */
let isPassing = false;
const firstMs = Date.now() - (NIGHTS_MAX - 1) * DAY_MS;

const dateOf = (index) => new Date(firstMs + index * DAY_MS).toISOString().slice(0, 10);
const requestNow = () =>
  pasted === undefined
    ? requestOf(night, { history, date: dateOf(nights.length), measurements })
    : isWhole()
      ? { ...pasted, explain: true }
      : { current_session: { ...pasted.current_session, ...personOf(night) }, explain: true };
/** Whether what was pasted says who the person is: a recording alone does not. */
const isWhole = () => Object.keys(pasted?.current_session ?? {}).some((name) => name !== 'recording');

const ask = asker({ keyOf: () => byId('key').value.trim(), onProblem: tellProblem });
const sliders = new Map(Object.entries(SLIDERS).map(([name, slider]) => [name, makeSlider(name, slider)]));
const examples = new Map(
  Object.values(EXAMPLES).map((example, index) => [
    button(Object.keys(EXAMPLES)[index], () => change(example)),
    example,
  ]),
);
const sex = choice('Sex', [
  ['F', 'female'],
  ['M', 'male'],
  ['', 'not said'],
]);
const test = {
  score: choice(
    'Test of',
    ['attention', 'memory', 'reasoning', 'stress'].map((one) => [one, one]),
  ),
};

start();

function start() {
  byId('person').append(sex.row);
  sex.select.addEventListener('change', () =>
    change({ sex: sex.select.value === '' ? null : sex.select.value }),
  );
  byId('examples').append(...examples.keys());
  byId('next').addEventListener('click', () => void pass(1));
  byId('week').addEventListener('click', () => void pass(7));
  byId('forget').addEventListener('click', forget);
  byId('key').addEventListener('change', () => void score());
  byId('key-card').addEventListener('submit', (event) => event.preventDefault());
  byId('inputs').addEventListener('submit', (event) => event.preventDefault());
  makeTest();
  makeScores(showNights);
  makeCode();
  showInputs();
  void makeRecording((read) => {
    pasted = read;
    showInputs();
    void score();
  });
  void tellService().then(({ address, needsKey }) => {
    byId('key-card').hidden = !needsKey;
    url = urlOf(address);
    if (needsKey && byId('key').value === '') tellProblem('Enter an API key to see scores.');
    else void score();
  });
}

/** A listener on every address is reached as this page is. */
function urlOf(address) {
  if (address === null) return 'http://127.0.0.1:8080';
  const { host, port } = address;
  if (host === null) return 'https://acuity.example'; // a socket: callers know the proxy before it
  const name =
    host === '0.0.0.0' || host === '::' ? location.hostname : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

function change(parts) {
  night = { ...night, ...parts };
  showInputs();
  void score();
}

/** Scores what the sliders say now. */
async function score() {
  const request = requestNow();
  const answer = await ask(request);
  if (answer === undefined) return undefined;
  shown = { request, answer };
  showScores(answer);
  tellRecording(answer.recording);
  showCode(shortened(request), url);
  clearTimeout(telling);
  telling = setTimeout(() => setText(byId('told'), sentenceOfAll()), TOLD_AFTER_MS);
  return answer;
}

/** Makes this night one of the past, `count` times. */
async function pass(count) {
  isPassing = true;
  setBusy();
  for (let left = count; left > 0 && nights.length < NIGHTS_MAX - 1; left--) {
    const isShown = shown !== undefined && JSON.stringify(shown.request) === JSON.stringify(requestNow());
    const answer = isShown ? shown.answer : await score();
    if (answer === undefined) break;
    nights = [...nights, { ...answer, asleep: asleepMin() }];
    history = answer.history;
    measurements = [];
    showNights();
    showResults();
  }
  await score();
  isPassing = false;
  setBusy();
}

function forget() {
  nights = [];
  history = '';
  showNights();
  void score();
}

function asleepMin() {
  const { deep, rem, light } = minutesOf(night);
  return deep + rem + light;
}

function setBusy() {
  const isFull = nights.length >= NIGHTS_MAX - 1;
  const isPasted = pasted !== undefined; // its nights lie elsewhere than those of this page
  byId('next').disabled = isPassing || isFull || isPasted;
  byId('week').disabled = isPassing || isFull || isPasted;
  byId('add').disabled = isPasted;
  for (const part of document.querySelectorAll('.by-hand')) part.disabled = isPasted;
  for (const reason of document.querySelectorAll('.off')) reason.hidden = !isPasted;
  byId('past').hidden = isPasted;
  byId('person').disabled = isWhole();
  byId('whole').hidden = !isWhole();
  byId('forget').disabled = isPassing || nights.length === 0;
}

function showInputs() {
  for (const [name, { input, output }] of sliders) {
    input.value = String(night[name]);
    const text = SLIDERS[name].show(night[name], night);
    input.setAttribute('aria-valuetext', text);
    setText(output, text);
  }
  setText(byId('sleep'), `Asleep ${hours(asleepMin())}, of it ${hours(minutesOf(night).light)} light.`);
  for (const [made, example] of examples) {
    const isChosen =
      pasted === undefined && Object.entries(example).every(([name, value]) => night[name] === value);
    made.setAttribute('aria-pressed', String(isChosen));
  }
  sex.select.value = night.sex ?? '';
  setBusy();
}

function showNights() {
  setBusy();
  const last = nights.at(-1);
  byId('line').replaceChildren(...(nights.length < 2 ? [] : [drawLine(nights)]));
  if (last === undefined) {
    setText(
      byId('past'),
      'None yet: the night is compared with a typical one. Add nights, and it is compared with those.',
    );
    return;
  }
  const count = nights.length === 1 ? 'One night' : `${nights.length} nights`;
  const full = nights.length >= NIGHTS_MAX - 1 ? ' No more fit in.' : '';
  const score = `${nameOf(chosenScore())} ${Math.round(last[chosenScore()])}`;
  setText(byId('past'), `${count}; the last with ${hours(last.asleep)} of sleep, ${score}.${full}`);
}

function makeTest() {
  const slider = makeSlider('percentile', {
    group: 'test',
    label: 'Percentile',
    min: 1,
    max: 99,
    step: 1,
    show: String,
  });
  slider.input.value = '80';
  setText(slider.output, '80');
  byId('test').prepend(test.score.row);
  const add = button('Add the result', () => {
    const result = { score: test.score.select.value, value: Number(slider.input.value) };
    measurements = [...measurements.filter((one) => one.score !== result.score), result];
    showResults();
    void score();
  });
  add.id = 'add';
  byId('test').append(holding('div', [add], 'buttons'));
}

function showResults() {
  byId('results').replaceChildren(
    ...measurements.map((result) => {
      const remove = button('remove', () => {
        measurements = measurements.filter((one) => one !== result);
        showResults();
        void score();
      });
      remove.setAttribute('aria-label', `Remove ${result.score} ${result.value}`);
      return holding('li', [`${result.score}: ${result.value} `, remove]);
    }),
  );
}

function makeSlider(name, { group, label, min, max, step, show }) {
  const input = element('input');
  Object.assign(input, { type: 'range', id: `slider-${name}`, min, max, step });
  const output = element('output');
  output.htmlFor = input.id;
  input.addEventListener('input', () => {
    if (name in SLIDERS) change({ [name]: Number(input.value) });
    else setText(output, show(input.value));
  });
  const row = holding('label', [element('span', label), input, output], 'row');
  row.htmlFor = input.id;
  byId(group).append(row);
  return { input, output };
}

function choice(label, options) {
  const select = element('select');
  for (const [value, text] of options) select.append(new Option(text, value));
  return { select, row: holding('label', [element('span', label), select], 'row') };
}

function button(text, onClick) {
  const made = element('button', text);
  made.type = 'button';
  made.addEventListener('click', onClick);
  return made;
}

/** Scores that answer another night would pass for this one's: with a problem there are none. */
function tellProblem(text, { status, retryMs } = {}) {
  const problem = byId('problem');
  problem.hidden = text === '';
  const isError = status !== undefined && retryMs === undefined;
  problem.className = isError ? 'red' : 'amber';
  setText(problem, text !== '' && isError ? `Error: ${text}` : text);
  if (text !== '') {
    shown = undefined;
    clearTimeout(telling);
    clearScores();
    tellRecording(undefined);
  }
  if (status === 401) byId('key-card').hidden = false;
}
