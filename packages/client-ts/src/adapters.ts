/**
 * The exports of `acuity-client/adapters`, in the server's package `acuity/client/adapters`. This file only
 * re-exports.
 */
export { AdapterError } from '#adapters/adapterError.js';
export * from '#adapters/providers.js';
export type { Adapted, Adapter, AdapterOptions, UsedSleep } from '#adapters/adapt.js';
export type { Left } from '#adapters/records.js';
export { readRecording, type Recording } from '#adapters/recording.js';
export type { Person } from '#adapters/person.js';
export { UnitError } from '#adapters/unitChecks.js';
export type { Moment } from '#rules/moment.js';
