/** A straight line through samples. */
export interface Slope {
  readonly perMinute: number;
  /** Half the width of the 95 % interval. */
  readonly margin: number;
}

export interface Sample {
  readonly minutes: number;
  readonly value: number;
}

/** Two-sided 95 % of the normal distribution: there are many samples. */
const Z = 1.96;
/** Neighbouring samples are correlated: this many count as one. */
const ALIKE = 10;

/** Least squares. The interval counts one in `ALIKE` samples only, as neighbours are not independent. */
export function slopeOf(samples: readonly Sample[]): Slope {
  const count = samples.length;
  if (count < 3) throw new RangeError('a slope wants three samples');
  const meanX = samples.reduce((sum, { minutes }) => sum + minutes, 0) / count;
  const meanY = samples.reduce((sum, { value }) => sum + value, 0) / count;
  let [squaresX, products] = [0, 0];
  for (const { minutes, value } of samples) {
    squaresX += (minutes - meanX) ** 2;
    products += (minutes - meanX) * (value - meanY);
  }
  const perMinute = products / squaresX;
  const squares = samples.reduce((sum, { minutes, value }) => {
    return sum + (value - meanY - perMinute * (minutes - meanX)) ** 2;
  }, 0);
  const variance = squares / (count - 2);
  return { perMinute, margin: Z * Math.sqrt((ALIKE * variance) / squaresX) };
}

/** Whether the whole interval is above `most`. */
export function isAbove({ perMinute, margin }: Slope, most: number): boolean {
  return perMinute - margin > most;
}

export function slopeText({ perMinute, margin }: Slope, unit: string, digits = 2): string {
  const sign = perMinute < 0 ? '' : '+';
  return `${sign}${perMinute.toFixed(digits)} ± ${margin.toFixed(digits)} ${unit} a minute`;
}
