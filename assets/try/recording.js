/** A night as a provider sent it: what is pasted becomes a recording, and what was read of it is told. */
import { byId, element, holding, setText } from '../dashboard/dom.js';

/** A request longer than this is shown without its answers. */
const SHOWN_MAX = 20_000;
const OPTIONS = ['provider', 'at', 'zone', 'newest_night_within_hours'];

/** An example for each provider: its other fields are the names of that provider's answers, the main one first. */
let examples = {};
let onChange = () => undefined;

/** `onRecording` is called with each recording that is to be scored, or with undefined where sliders count again. */
export async function makeRecording(onRecording) {
  onChange = onRecording;
  const response = await fetch('try/recordings.json', { cache: 'no-store' });
  examples = await response.json();
  for (const provider of Object.keys(examples)) byId('provider').append(new Option(provider));
  byId('example').addEventListener('click', () => {
    byId('pasted').value = JSON.stringify(examples[chosen()], null, 2);
    read();
  });
  byId('read').addEventListener('click', read);
  byId('sliders').addEventListener('click', () => onChange(undefined));
}

const chosen = () => byId('provider').value;

function read() {
  const { recording, problem } = recordingOf(byId('pasted').value, chosen());
  setText(byId('unread'), problem ?? '');
  if (recording !== undefined) onChange(recording);
}

/** A recording as it is, its answers by their names, or the main answer alone. */
function recordingOf(text, provider) {
  let sent;
  try {
    sent = JSON.parse(text);
  } catch {
    return { problem: 'This is no JSON: paste the whole answer, from its first bracket to its last.' };
  }
  const names = Object.keys(examples[provider]).filter((name) => !OPTIONS.includes(name));
  const isObject = typeof sent === 'object' && sent !== null && !Array.isArray(sent);
  const nested = isObject && sent.current_session?.recording;
  if (nested) return { recording: nested };
  if (isObject && 'provider' in sent && sent.provider in examples) return { recording: sent };
  const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions();
  if (isObject && names.some((name) => name in sent)) return { recording: { provider, zone, ...sent } };
  return { recording: { provider, zone, [names[0]]: sent } };
}

/** The same request, short enough to be read. */
export function shortened(request) {
  if (JSON.stringify(request).length <= SHOWN_MAX) return request;
  const { recording, ...person } = request.current_session;
  const names = Object.entries(recording).map(([name, value]) => [
    name,
    OPTIONS.includes(name) ? value : '…',
  ]);
  return { ...request, current_session: { recording: Object.fromEntries(names), ...person } };
}

/** What the answer says of the recording; undefined without one. */
export function tellRecording(recording) {
  byId('recorded').hidden = recording === undefined;
  if (recording === undefined) return;
  const { night, sleep, left } = recording;
  const parts = sleep === null || sleep.parts.length < 2 ? '' : `, in ${sleep.parts.length} parts`;
  const source = sleep?.source ? `, recorded by ${sleep.source}` : '';
  const text =
    sleep === null
      ? 'No night was found: the hour before is scored alone.'
      : `The night of ${night ?? 'an unknown date'}, ${clock(sleep.from)} to ${clock(sleep.to)} UTC${parts}${source}.`;
  setText(byId('found'), text);
  byId('left').replaceChildren(
    ...left.map(({ what, why }) => holding('li', [element('code', what), ` ${why}`])),
  );
  setText(byId('left-title'), left.length === 0 ? 'All that was sent was used.' : 'Sent and not used:');
}

const clock = (time) => time.slice(11, 16);
