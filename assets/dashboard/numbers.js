/** Numbers for people. The sentences come from the service (`src/admin/symptoms.ts`, `src/admin/diagnosis.ts`). */
export const NONE = '–';

const isNone = (value) => value === null || value === undefined || Number.isNaN(value);

export const plain = (value, digits = 0) =>
  isNone(value)
    ? NONE
    : value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: 0 });
export const rate = (value) => plain(value, value < 10 ? 1 : 0);
export const milliseconds = (value) => plain(value, value < 10 ? 2 : value < 100 ? 1 : 0);
export const percent = (value) => (isNone(value) ? NONE : `${plain(Math.min(1, value) * 100)} %`);
export const mebibytes = (value) => plain(value / 2 ** 20);
export const compact = (value) =>
  value.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 2 });

/** A moment in milliseconds since 1970, in the reader's time. */
export const clockTime = (ms) => new Date(ms).toLocaleTimeString('en-GB');

/** The two largest units that count: `1 h 5 min`. */
export function duration(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  const parts = [
    [Math.floor(s / 86_400), 'd'],
    [Math.floor(s / 3600) % 24, 'h'],
    [Math.floor(s / 60) % 60, 'min'],
    [s % 60, 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** A value on a logarithmic axis of milliseconds: `0.1 ms`, `2 s`. */
export const axisMilliseconds = (ms) => (ms >= 1000 ? `${plain(ms / 1000, 3)} s` : `${plain(ms, 6)} ms`);
