/**
 * The random streams of a person (see `Random`). Body and device draw from separate ones, so that another device can
 * record the same night.
 */
export const STREAM = {
  traits: 1,
  days: 2,
  sensor: 3,
  scores: 4,
  device: 5,
  newDevice: 6,
  body: 7,
  activity: 8,
  ownShare: 9,
  tests: 10,
} as const;
