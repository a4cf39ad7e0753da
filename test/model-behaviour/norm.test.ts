import t from 'tap';
import type { Session } from '#acuity/contract/request.js';
import { follow, model, simulate } from './weeks.js';

/** Mean change of the five scores over women or men, without history and with five sessions. */
async function shifts(weeks: readonly Session[][], sex: 'F' | 'M', withhold: (session: Session) => Session) {
  const [alone, together] = [new Float64Array(5), new Float64Array(5)];
  const chosen = weeks.filter(([first]) => first?.sex === sex);
  for (const week of chosen) {
    const without = week.map(withhold);
    const [before, after] = [(await follow(week)).last, (await follow(without)).last];
    const [known, unknown] = [week.at(-1) ?? {}, without.at(-1) ?? {}];
    const beforeAlone = (await model.score({ current_session: known })).slice();
    const afterAlone = await model.score({ current_session: unknown });
    for (let k = 0; k < 5; k++) {
      together[k] = (together[k] ?? 0) + ((after[k] ?? NaN) - (before[k] ?? NaN)) / chosen.length;
      alone[k] = (alone[k] ?? 0) + ((afterAlone[k] ?? NaN) - (beforeAlone[k] ?? NaN)) / chosen.length;
    }
  }
  return [...alone, ...together];
}

for (const age of [20, 45, 70, 85]) {
  const weeks = simulate(40, { parameters: { ageMin: age - 0.49, ageMax: age + 0.49 } });
  for (const sex of ['F', 'M'] as const) {
    t.test(`${sex} ${age}: what is withheld does not change whom one is compared with`, async (t) => {
      const bySex = await shifts(weeks, sex, (session) => ({ ...session, sex: null }));
      for (const shift of bySex) t.ok(Math.abs(shift) <= 1, `sex withheld: ${shift.toFixed(2)}`);
      const byAge = await shifts(weeks, sex, (session) => ({ ...session, age: null }));
      for (const shift of byAge) t.ok(Math.abs(shift) <= 4, `age withheld: ${shift.toFixed(2)}`);
    });
  }
}
