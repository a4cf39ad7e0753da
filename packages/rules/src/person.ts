/** Plausible values of a person beyond the bounds of the fields: outside of them a unit was mistaken. */

/** No age in years is this high; a year of birth is. */
export const FIRST_YEAR_OF_BIRTH = 1890;
/** A height below this is in metres. */
export const METRES_BELOW = 3;
/** Outside of this range height or weight is in another unit: inches give some 300, metres thousands. */
export const BODY_MASS_INDEX = { min: 7, max: 130 } as const;
