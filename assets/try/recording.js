/** A night that is pasted, as a provider sent it or as a whole request; and what was read of it. */
import { byId, element, holding, setText } from '../dashboard/dom.js';

/** A request longer than this is shown without its answers. */
const SHOWN_MAX = 20_000;
const OPTIONS = ['provider', 'at', 'zone', 'newest_night_within_hours'];

/** An example for each provider: its other fields are the names of that provider's answers, the main one first. */
let examples = {};
let onChange = () => undefined;
let zone;

/**
 * `onPasted` is called with each request that is to be scored (without the person, where a recording alone was
 * pasted), or with undefined where sliders count again. The address may name an example of the reference:
 * `#example=oura`.
 */
export async function makeRecording(onPasted) {
  onChange = onPasted;
  makeTabs();
  const response = await fetch('try/recordings.json', { cache: 'no-store' });
  examples = await response.json();
  for (const provider of Object.keys(examples)) byId('provider').append(new Option(provider));
  byId('example').addEventListener('click', () => {
    byId('pasted').value = JSON.stringify(examples[chosen()], null, 2);
    read();
  });
  byId('read').addEventListener('click', read);
  byId('sliders').addEventListener('click', () => onChange(undefined));
  addEventListener('hashchange', () => void openNamed());
  await openNamed();
}

async function openNamed() {
  const name = new URLSearchParams(location.hash.slice(1)).get('example');
  if (name === null) return;
  const { paths } = await (await fetch('openapi.json')).json();
  const example = paths['/predict'].post.requestBody.content['application/json'].examples[name];
  if (example === undefined) return;
  open('paste');
  if (name in examples) byId('provider').value = name;
  byId('pasted').value = JSON.stringify(example.value, null, 2);
  read();
}

const TABS = ['compose', 'paste'];

/** As the ARIA practices have it: one tab is in the order of focus, arrows go to the other. */
function makeTabs() {
  for (const name of TABS) {
    const tab = byId(`tab-${name}`);
    tab.addEventListener('click', () => open(name));
    tab.addEventListener('keydown', ({ key }) => {
      if (key !== 'ArrowLeft' && key !== 'ArrowRight') return;
      const other = TABS.find((one) => one !== name);
      open(other);
      byId(`tab-${other}`).focus();
    });
  }
  open('compose');
}

function open(name) {
  for (const one of TABS) {
    byId(one).hidden = one !== name;
    byId(`tab-${one}`).setAttribute('aria-selected', String(one === name));
    byId(`tab-${one}`).tabIndex = one === name ? 0 : -1;
  }
}

const chosen = () => byId('provider').value;

function read() {
  const { request, recording, problem } = pastedOf(byId('pasted').value, chosen());
  setText(byId('unread'), problem ?? '');
  byId('pasted').setAttribute('aria-invalid', String(problem !== undefined));
  if (problem !== undefined) return;
  zone = zoneOf(request?.current_session.recording ?? recording);
  onChange(request ?? { current_session: { recording } });
}

/** A request, a recording as it is, its answers by their names, or the main answer alone. */
function pastedOf(text, provider) {
  let sent;
  try {
    sent = JSON.parse(text);
  } catch {
    return { problem: 'Error: this is no JSON. Paste the whole answer, from its first bracket to its last.' };
  }
  const names = Object.keys(examples[provider]).filter((name) => !OPTIONS.includes(name));
  const isObject = typeof sent === 'object' && sent !== null && !Array.isArray(sent);
  if (isObject && typeof (sent.current_session ?? undefined) === 'object') return { request: sent };
  if (isObject && 'provider' in sent && sent.provider in examples) return { recording: sent };
  const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions();
  if (isObject && names.some((name) => name in sent)) return { recording: { provider, zone, ...sent } };
  return { recording: { provider, zone, [names[0]]: sent } };
}

/** The same request, short enough to be read. */
export function shortened(request) {
  const { recording, ...person } = request.current_session;
  if (recording === undefined || JSON.stringify(request).length <= SHOWN_MAX) return request;
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
      : `The night of ${night ?? 'an unknown date'}, ${clock(sleep.from)} to ${clock(sleep.to)} (${zone})${parts}${source}.`;
  setText(byId('found'), text);
  byId('left').replaceChildren(
    ...left.map(({ what, why }) => holding('li', [element('code', what), ` ${why}`])),
  );
  setText(byId('left-title'), left.length === 0 ? 'All that was sent was used.' : 'Sent and not used:');
}

/** At the end of a time, or by itself: "+01:00", "UTC+0100". */
const OFFSET = /(?:\d\d:\d\d[\d:.]* ?|"(?:UTC)?)([+-]\d\d:?\d\d)"/;

/** The person's: as sent, else of the first offset, else of this browser. */
function zoneOf(recording) {
  const [, offset] = OFFSET.exec(JSON.stringify(recording ?? {})) ?? [];
  const utc = offset && `UTC${offset.replace(/(?<=^...)(?=\d)/, ':')}`;
  return recording?.zone ?? utc ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function clock(time) {
  const [, sign, hours, minutes] = /^UTC([+-])(\d\d):(\d\d)$/.exec(zone) ?? [];
  const offsetMin = sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
  const timeZone = sign === undefined ? zone : 'UTC';
  const shown = new Date(Date.parse(time) + offsetMin * 60_000);
  return shown.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone });
}
