import { readFileSync } from 'node:fs';
import { InvalidRequestError, type AcuityClient, type Measurement } from 'acuity-client';
import { documentOf, escaped } from './document.js';
import type { Store } from './store.js';

const QUESTIONS = 10;
const ANSWERS = ['never', 'almost never', 'sometimes', 'fairly often', 'very often'] as const;

/** The outcome of a result, in words. */
export interface Told {
  readonly told: string;
}

/**
 * The texts of the Perceived Stress Scale, one per line, from a file of your own: they belong to their author and are
 * not included.
 */
export function questionsFrom(file: string | undefined): readonly string[] | undefined {
  if (file === undefined) return undefined;
  const lines = readFileSync(file, 'utf8').trim().split(/\r?\n/);
  if (lines.length !== QUESTIONS) throw new Error(`PSS10_QUESTIONS: ${QUESTIONS} lines, a question each`);
  return lines;
}

/** The form of the scale. */
export function pageOfQuestions(person: string, questions: readonly string[] | undefined): string {
  const sets = Array.from({ length: QUESTIONS }, (_, index) => {
    const text = questions?.[index];
    const legend = text === undefined ? `Question ${index + 1}` : `${index + 1}. ${escaped(text)}`;
    const choices = ANSWERS.map(
      (words, value) =>
        `<label><input type="radio" name="q${index + 1}" value="${value}" required>${value}<span>${words}</span></label>`,
    );
    return `<fieldset><legend>${legend}</legend><div class="answers">${choices.join('')}</div></fieldset>`;
  });
  const missing =
    questions === undefined
      ? '<p class="weak">The texts of the ten questions do not come with this example: have their sheet beside you, or set PSS10_QUESTIONS.</p>'
      : '';
  return documentOf(
    'Stress in the last month',
    `<div class="narrow page"><h1>Stress in the last month</h1><p>Ten questions about the last month; there is no right answer. Two minutes.</p>${missing}<form method="post">${sets.join('')}<div class="who"><label>Age <input name="age" type="number" min="18" max="120" step="1" required></label><label>Sex <select name="sex"><option value="">not said</option><option value="F">female</option><option value="M">male</option></select></label><button class="act">Done</button></div></form><p><a href="${pathOf(person)}">Back</a></p></div>`,
  );
}

/** The page after a result. */
export function pageAfter(person: string, title: string, sentence: string): string {
  return documentOf(
    title,
    `<div class="narrow page"><h1>${title}</h1><p>${escaped(sentence)}</p><p><a class="act" href="${pathOf(person)}">To the scores</a></p></div>`,
  );
}

function pathOf(person: string): string {
  return `/people/${encodeURIComponent(person)}`;
}

/** What a result needs: where it is kept, and the service, which knows the norms. */
export interface Keeping {
  readonly store: Store;
  readonly client: AcuityClient;
}

/**
 * Stores the result of the scale, as the form sends it.
 * @throws RangeError if an answer or the age is missing, or there is no norm for that age
 */
export function keepQuestions(keeping: Keeping, person: string, form: URLSearchParams): Promise<Told> {
  const given = Array.from({ length: QUESTIONS }, (_, index) => form.get(`q${index + 1}`));
  const answers = given.flatMap((answer) => (answer === null ? [] : [Number(answer)]));
  if (answers.length < QUESTIONS) throw new RangeError('the scale has ten answers');
  const on = new Date().toISOString().slice(0, 10);
  return keep(keeping, person, { test: 'pss10', answers, on }, whoOf(form.get('age'), form.get('sex')));
}

/** The body that the page of the reaction test sends. */
export interface ReactionResult {
  readonly age?: unknown;
  readonly sex?: unknown;
  readonly on?: unknown;
  readonly reactionsMs?: unknown;
}

/**
 * Stores the result of the reaction test. `delayMs`: the delay that the screens and keyboards of your devices add to
 * each reaction.
 * @throws RangeError if it is not a test, or there is no norm for that age
 */
export async function keepReactions(
  keeping: Keeping,
  person: string,
  { age, sex, on, reactionsMs }: ReactionResult,
  delayMs: number,
): Promise<Told> {
  const isList = Array.isArray(reactionsMs) && reactionsMs.every((ms) => typeof ms === 'number');
  if (!isList || typeof on !== 'string') throw new RangeError('this is no result of the reaction test');
  const reactions_ms = (reactionsMs as number[]).map((ms) => ms - delayMs);
  return keep(keeping, person, { test: 'vigilance_speed', reactions_ms, on }, whoOf(age, sex));
}

interface Who {
  readonly age: number;
  readonly sex: 'M' | 'F' | null;
}

/** The percentile of a result is asked for with an empty session, so that the person learns it at once. */
async function keep(
  { store, client }: Keeping,
  person: string,
  taken: Measurement & { readonly on: string },
  who: Who,
): Promise<Told> {
  const request = { current_session: { ...who }, history: '', night: taken.on, measurements: [taken] };
  const { measured = [] } = await client.predict(request).catch((error: unknown) => {
    if (!(error instanceof InvalidRequestError)) throw error;
    throw new RangeError(error.findings.map(({ msg }) => msg).join('; '));
  });
  const [result] = measured;
  if (result === undefined) throw new RangeError('the service knows no raw results');
  const { score, value, on } = result;
  await store.measure(person, { score, value, on });
  const among = who.sex === 'M' ? 'men' : who.sex === 'F' ? 'women' : 'people';
  const told = `More ${score} than ${value.toFixed(0)} in 100 ${among} of your age. It counts from the next night on.`;
  return { told };
}

function whoOf(age: unknown, sex: unknown): Who {
  return { age: Number(age ?? NaN), sex: sex === 'M' || sex === 'F' ? sex : null };
}
