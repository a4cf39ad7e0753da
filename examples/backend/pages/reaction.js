/**
 * A test of vigilance in the browser: a signal after a random wait, a press, again, for three minutes.
 *
 * A reaction runs from the frame that shows the signal to the press as the browser dated it, both on the clock of
 * `performance.now()`. The delay of the screen in showing that frame, and of the keyboard or touch screen in reporting the
 * press, is invisible to a page; it is about the same for each reaction on one device.
 */
const part = (id) => document.getElementById(id);
const [test, who, field, told] = ['test', 'who', 'field', 'told'].map(part);
const RESULT_MS = 1000;
/** Without a press in this time the person has left. */
const REACTION_MAX_MS = 30_000;

/** The current run: the reactions in milliseconds, presses before the signal, and the timer of the next step. */
let run;
/** When the frame with the signal was shown; undefined while there is none. */
let shownMs;

part('back').href = location.pathname.replace(/\/reaction$/, '');
who.addEventListener('submit', (event) => {
  event.preventDefault();
  const age = Number(part('age').value);
  const ages = test.dataset.ages.split(' ').map((span) => span.split('-').map(Number));
  // Before three minutes are spent.
  if (ages.some(([from, to]) => age >= from && age <= to)) start();
  else
    say(
      `There are norms for ages ${ages.map((span) => span.join(' to ')).join(' and ')} alone: for yours the test says nothing.`,
    );
});
document.addEventListener('keydown', (event) => {
  if (run === undefined || event.code !== 'Space') return;
  event.preventDefault();
  if (!event.repeat) press(event.timeStamp);
});
field.addEventListener('pointerdown', (event) => {
  event.preventDefault();
  press(event.timeStamp);
});
// A page in the background gets no frames, so it can't measure reactions.
document.addEventListener('visibilitychange', () => {
  if (document.hidden && run !== undefined)
    end('The page was left. Start again when you have three minutes.');
});

function start() {
  run = { reactionsMs: [], early: 0, endMs: performance.now() + 1000 * Number(test.dataset.seconds) };
  who.hidden = true;
  field.hidden = false;
  field.focus();
  say('');
  wait();
}

function wait() {
  if (performance.now() >= run.endMs) return void finish();
  show('off', 'wait');
  const { leastWaitMs, mostWaitMs } = test.dataset;
  run.timer = setTimeout(signal, Number(leastWaitMs) + Math.random() * (mostWaitMs - leastWaitMs));
}

function signal() {
  const ours = run;
  requestAnimationFrame(() => {
    if (run !== ours) return;
    show('on', 'press');
    // A frame is on the screen when the next one begins.
    requestAnimationFrame((ms) => {
      if (run === ours && field.dataset.state === 'on') shownMs = ms;
    });
  });
  run.timer = setTimeout(
    () => end('No press for half a minute. Start again when you have time.'),
    REACTION_MAX_MS,
  );
}

function press(pressedMs) {
  if (run === undefined) return;
  if (field.dataset.state === 'result') return;
  clearTimeout(run.timer);
  if (shownMs === undefined) run.early++;
  else run.reactionsMs.push(pressedMs - shownMs);
  show('result', shownMs === undefined ? 'too early' : `${Math.round(pressedMs - shownMs)} ms`);
  shownMs = undefined;
  run.timer = setTimeout(wait, Math.min(RESULT_MS, Number(test.dataset.leastWaitMs)));
}

async function finish() {
  const { reactionsMs, early } = run;
  end('…');
  // Dates are those of the person's own day.
  const on = new Intl.DateTimeFormat('sv-SE').format(new Date());
  const result = { age: Number(part('age').value), sex: part('sex').value || null, on, reactionsMs };
  const answer = await fetch(location.pathname, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(result),
  }).catch(() => undefined);
  const said = answer?.headers.get('content-type') === 'application/json' ? await answer.json() : undefined;
  const count = `${reactionsMs.length} reactions, ${early} presses too early. `;
  say(count + (said?.told ?? said?.why ?? 'It could not be sent: try again later.'));
}

function end(sentence) {
  clearTimeout(run.timer);
  run = undefined;
  shownMs = undefined;
  field.hidden = true;
  who.hidden = false;
  say(sentence);
}

function show(state, text) {
  field.dataset.state = state;
  field.textContent = text;
}

function say(sentence) {
  told.textContent = sentence;
}
