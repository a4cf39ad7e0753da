import { PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import { SCORES, type Context } from './context.js';
import { outcomesOf, scoreDay } from './rollout.js';
import { demand, fixed, type Section } from './section.js';
import { rms } from './statistics.js';

export const NIGHTS_CAPTION = 'What each further night earns, points';

/** Point 3: each further session lowers the error. */
export async function history(context: Context): Promise<Section> {
  const { model, people, scored, bundle } = context;
  const distances: number[][] = [];
  for (let sessions = 0; sessions <= PAST_MAX; sessions++) {
    const scores = outcomesOf(await scoreDay(model, people, scored.targets, people.days - 1, sessions));
    distances.push(SCORES.map((_, k) => rms(scored.expected[k] ?? [], scores[k] ?? [])));
  }
  const limits = bundle.explain?.notable.lastNights.changes ?? [];
  const row = (what: string, of: (sessions: number) => number): string[] => [
    what,
    ...distances.map((_, sessions) => fixed(of(sessions), 1)),
  ];
  return {
    number: 3,
    title: 'History helps',
    why: 'Does each further night of history help? Distances are known for simulated people (root mean square); what is usual is that of an explained request, its limits are in `explain.json`. That newer nights count more is fixed in the graph and tested (`test/model-behaviour/network.test.ts`).',
    demands: SCORES.map((name, k) => {
      const curve = distances.map((errors) => errors[k] ?? NaN);
      const falls = curve.every((value, index) => index === 0 || value < (curve[index - 1] ?? 0));
      return demand(
        `${name}: error falls with each session`,
        curve.map((e) => fixed(e, 2)).join(' → '),
        falls,
      );
    }),
    tables: [
      {
        caption: NIGHTS_CAPTION,
        header: ['past nights sent', ...distances.map((_, sessions) => String(sessions))],
        rows: (['attention', 'stress'] as const).flatMap((name) => [
          row(
            `${name}: distance from what is to be expected`,
            (sessions) => distances[sessions]?.[SCORES.indexOf(name)] ?? NaN,
          ),
          row(
            `${name}: nine ordinary days in ten stay so near to a day like the last nights`,
            (sessions) => limits[sessions]?.[SCORE_FIELDS.indexOf(name)] ?? NaN,
          ),
        ]),
      },
    ],
  };
}
