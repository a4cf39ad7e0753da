/** The request that was answered last, to be sent from elsewhere. */
import { byId, element, holding, setText } from '../dashboard/dom.js';
import { codeSamples } from './codeSamples.js';

let samples = [];
const language = element('select');
const pre = element('pre');
const copied = element('span', '', 'quiet');

export function makeCode() {
  for (const label of ['curl', 'TypeScript', 'Python']) language.append(new Option(label));
  language.setAttribute('aria-label', 'Language');
  language.addEventListener('change', show);
  const button = element('button', 'Copy');
  button.type = 'button';
  button.id = 'copy';
  button.addEventListener('click', () => void copy());
  copied.setAttribute('role', 'status');
  pre.tabIndex = 0;
  pre.setAttribute('aria-label', 'The request as code');
  const note =
    'From the sliders, each series is one average; a device sends its samples. The history is that of the last answer.';
  byId('code').append(
    holding('div', [language, button, copied], 'buttons'),
    pre,
    element('p', note, 'quiet'),
  );
}

export function showCode(request, url) {
  samples = codeSamples(request, url);
  show();
}

function show() {
  setText(pre, samples.find(({ label }) => label === language.value)?.source ?? '');
  setText(copied, '');
}

/** Only pages of this machine, or by https, may use the clipboard: elsewhere the text is selected. */
async function copy() {
  try {
    await navigator.clipboard.writeText(pre.textContent);
    setText(copied, 'copied');
  } catch {
    getSelection().selectAllChildren(pre);
    setText(copied, 'selected: copy it with the keyboard');
  }
}
