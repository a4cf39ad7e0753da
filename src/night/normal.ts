/** The standard normal distribution: its quantiles and its shares. */

/** Coefficients of AS 241 (Wichura 1988, Applied Statistics 37:477), PPND16: numerators and denominators, lowest power first. */
const MIDDLE = [
  [3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987, 67265.7709270087, 33430.57558358813, 2509.0809287301227],
  [1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271, 28729.085735721943, 5226.495278852854],
] as const; // prettier-ignore
const NEAR = [
  [1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684, 0.2417807251774506, 0.022723844989269184, 0.0007745450142783414],
  [1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457, 0.0005475938084995345, 1.0507500716444169e-9],
] as const; // prettier-ignore
const FAR = [
  [6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124, 0.0012426609473880784, 0.000027115555687434876, 2.0103343992922881e-7],
  [1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133, 0.000018463183175100548, 1.421511758316446e-7, 2.0442631033899397e-15],
] as const; // prettier-ignore

/**
 * The quantile of a standard normal distribution: the value below which the share `p` (0 to 1, exclusive) lies;
 * relative error near 1e-16.
 */
export function probit(p: number): number {
  const fromMiddle = p - 0.5;
  if (Math.abs(fromMiddle) <= 0.425) return fromMiddle * ratio(MIDDLE, 0.180625 - fromMiddle * fromMiddle);
  const depth = Math.sqrt(-Math.log(fromMiddle < 0 ? p : 1 - p));
  const size = depth <= 5 ? ratio(NEAR, depth - 1.6) : ratio(FAR, depth - 5);
  return fromMiddle < 0 ? -size : size;
}

/** Hart's rational function (1968) as given by West (2005, Wilmott, May, 70). */
const CORE = [
  [220.206867912376, 221.213596169931, 112.079291497871, 33.912866078383, 6.37396220353165, 0.700383064443688, 0.0352624965998911],
  [440.413735824752, 793.826512519948, 637.333633378831, 296.564248779674, 86.7807322029461, 16.064177579207, 1.75566716318264, 0.0883883476483184],
] as const; // prettier-ignore
/** From here on a continued fraction is more accurate. */
const TAIL = 7.07106781186547;

/** The share of a standard normal distribution below `z`; error below 1e-14. */
export function normalCdf(z: number): number {
  const x = Math.abs(z);
  const density = Math.exp((-x * x) / 2);
  const beyond =
    x < TAIL
      ? density * ratio(CORE, x)
      : density / (x + 1 / (x + 2 / (x + 3 / (x + 4 / (x + 0.65))))) / Math.sqrt(2 * Math.PI);
  return z > 0 ? 1 - beyond : beyond;
}

function ratio([over, under]: readonly [readonly number[], readonly number[]], x: number): number {
  return polynomial(over, x) / polynomial(under, x);
}

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0);
}
