import { UsageError } from './usage.js';

/** @throws UsageError */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new UsageError(`${text} is no whole number above 0`);
  return Number(text);
}
