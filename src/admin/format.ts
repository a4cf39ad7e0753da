/**
 * Formats numbers for people. The pages format their own numbers in the browser
 * (assets/dashboard/numbers.js).
 */
export type NumberFormat = (value: number) => string;

/** `0.974` → `97 %`. A share below 1 is never shown as 100 %. */
export const percent: NumberFormat = (share) => {
  const rounded = Math.round(share * 100);
  return `${share < 1 && rounded === 100 ? 99 : rounded} %`;
};

export const milliseconds: NumberFormat = (ms) => `${decimals(ms)} ms`;

export const count: NumberFormat = (number) => Math.round(number).toLocaleString('en');

/** `7 s ago`, `3 min ago`. */
export const secondsAgo: NumberFormat = (seconds) =>
  seconds < 120 ? `${Math.round(seconds)} s ago` : `${count(seconds / 60)} min ago`;

export const perSecond: NumberFormat = (rate) => `${decimals(rate)}/s`;

export const mebibytes: NumberFormat = (bytes) => `${decimals(bytes / 2 ** 20)} MiB`;

/** `1 worker`, `2 workers`. */
export function counted(number: number, noun: string): string {
  return `${count(number)} ${noun}${Math.round(number) === 1 ? '' : 's'}`;
}

function decimals(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });
}
