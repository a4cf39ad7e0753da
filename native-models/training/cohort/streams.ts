/**
 * Streams of a person (see `Random`). What a body does and what a device makes of it are drawn apart, so that the same
 * night can be seen by another device.
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
