import { InvalidArgumentError } from 'commander';

/** Reads an option that is a whole number from `least` to `most`; `others` names the words that it may be too. */
export function wholeNumber(least: number, most: number, others = ''): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number, ${least} to ${most}${others}.`);
  };
}
