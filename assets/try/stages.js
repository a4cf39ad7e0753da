/** The bar of sleep stages: three handles between four stages, to be dragged or moved with the arrow keys. */
import { element, holding, setText } from '../dashboard/dom.js';

export const DAY_MIN = 1440;
const STAGES = ['deep', 'REM', 'light', 'awake'];
const STEP_MIN = 5;
const LARGE_STEP_MIN = 30;

/** Calls `onChange` with the shares of the four stages; `update` shows others. */
export function stageBar(holder, onChange) {
  let bedMin = 1;
  /** Where each handle stands, in minutes after going to bed. */
  let ends = [0, 0, 0];
  const parts = STAGES.map((name) => element('div', undefined, `stage ${name}`));
  const handles = ends.map((_, index) => handle(index));
  const bar = holding('div', [...parts, ...handles], 'bar');
  const values = STAGES.map(() => element('b'));
  const legend = holding(
    'ul',
    STAGES.map((name, index) =>
      holding('li', [element('span', undefined, `key ${name}`), `${name} `, values[index]]),
    ),
    'stage-legend',
  );
  const asleep = element('b');
  holder.append(holding('p', [element('span', 'Asleep'), asleep], 'asleep'), bar, legend);

  function handle(index) {
    const made = element('div', undefined, 'handle');
    made.setAttribute('role', 'slider');
    made.setAttribute('aria-label', `Between ${STAGES[index]} and ${STAGES[index + 1]}`);
    made.setAttribute('aria-orientation', 'horizontal');
    made.tabIndex = 0;
    made.addEventListener('keydown', (event) => onKey(index, event));
    made.addEventListener('pointerdown', (event) => {
      made.setPointerCapture(event.pointerId);
      made.focus();
      event.preventDefault();
    });
    made.addEventListener('pointermove', (event) => {
      if (!made.hasPointerCapture(event.pointerId)) return;
      const { left, width } = bar.getBoundingClientRect();
      move(index, ((event.clientX - left) / width) * bedMin);
    });
    return made;
  }

  function onKey(index, event) {
    const steps = {
      ArrowLeft: -STEP_MIN,
      ArrowDown: -STEP_MIN,
      ArrowRight: STEP_MIN,
      ArrowUp: STEP_MIN,
      PageDown: -LARGE_STEP_MIN,
      PageUp: LARGE_STEP_MIN,
      Home: -Infinity,
      End: Infinity,
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    move(index, ends[index] + step);
  }

  /** A handle stays between its neighbours. */
  function move(index, minutes) {
    const [least, most] = [ends[index - 1] ?? 0, ends[index + 1] ?? bedMin];
    const moved = Math.min(most, Math.max(least, Math.round(minutes / STEP_MIN) * STEP_MIN));
    if (moved === ends[index]) return;
    ends = ends.with(index, moved);
    show();
    onChange(sharesOf());
  }

  function sharesOf() {
    return [...ends, bedMin].map((end, index) => (end - (ends[index - 1] ?? 0)) / bedMin);
  }

  function show() {
    const lengths = sharesOf().map((share) => Math.round(share * bedMin));
    parts.forEach((part, index) => (part.style.flexGrow = lengths[index]));
    values.forEach((value, index) => setText(value, hours(lengths[index])));
    setText(asleep, hours(ends[2]));
    handles.forEach((made, index) => {
      made.style.left = `${(ends[index] / bedMin) * 100}%`;
      made.setAttribute('aria-valuemin', ends[index - 1] ?? 0);
      made.setAttribute('aria-valuemax', ends[index + 1] ?? bedMin);
      made.setAttribute('aria-valuenow', ends[index]);
      const text = [index, index + 1].map((stage) => `${STAGES[stage]} ${hours(lengths[stage])}`);
      made.setAttribute('aria-valuetext', text.join(', '));
    });
  }

  return {
    update({ bed, wake, stages }) {
      bedMin = wake - bed;
      const [deep, rem, light] = stages;
      ends = [deep, deep + rem, deep + rem + light].map((share) => Math.round(share * bedMin));
      show();
    },
  };
}

/** `1 h 20 min`. */
export function hours(minutes) {
  const whole = Math.floor(minutes / 60);
  if (whole === 0) return `${minutes} min`;
  return minutes % 60 === 0 ? `${whole} h` : `${whole} h ${minutes % 60} min`;
}
