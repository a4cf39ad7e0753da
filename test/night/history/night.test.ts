import t from 'tap';
import { dateOf } from '#acuity/base/days.js';
import { LAST_DAY, dayOf } from '#acuity/night/history/night.js';

t.test('every day of the years is its own date', async (t) => {
  let wrong = 0;
  for (let day = 0; day <= LAST_DAY; day++) if (dayOf(dateOf(day)) !== day) wrong++;
  t.equal(wrong, 0);
  t.equal(dateOf(0), '1970-01-01');
  t.equal(dateOf(LAST_DAY), '2149-12-31');
});

t.test('other texts are no date', async (t) => {
  for (const year of [1969, 1970, 2000, 2026, 2100, 2149, 2150]) {
    for (let month = 0; month <= 13; month++) {
      for (let day = 0; day <= 32; day++) {
        const two = (value: number): string => String(value).padStart(2, '0');
        const date = `${year}-${two(month)}-${two(day)}`;
        const time = Date.parse(date);
        const isDate =
          year >= 1970 && year <= 2149 && !Number.isNaN(time) && dateOf(time / 86_400_000) === date;
        if ((dayOf(date) !== undefined) !== isDate) t.fail(date);
      }
    }
  }
  for (const date of [
    '',
    '2026-1-01',
    '2026/01/01',
    '+2026-01-1',
    '2026-01-0１',
    '2026-01-01 ',
    '２026-01-01',
    ' 026-01-01',
  ])
    // prettier-ignore
    t.equal(dayOf(date), undefined, date);
});
