/**
 * The exports of `acuity-client/adapters`, in the server's package `acuity/client/adapters`. This file only
 * re-exports.
 */
export { fromAppleHealth, type AppleHealthInput } from '#adapters/providers/appleHealth.js';
export { AdapterError } from '#adapters/adapterError.js';
export { fromFitbitArchive, type FitbitArchiveInput } from '#adapters/providers/fitbitArchive.js';
export { fromGarmin, type GarminInput } from '#adapters/providers/garmin.js';
export { fromGarminConnect, type GarminConnectInput } from '#adapters/providers/garminConnect.js';
export { fromGoogleHealth, type GoogleHealthInput } from '#adapters/providers/googleHealth.js';
export { fromHealthAutoExport, type HealthAutoExportInput } from '#adapters/providers/healthAutoExport.js';
export { fromHealthConnect, type HealthConnectInput } from '#adapters/providers/healthConnect.js';
export { fromIntervals, type IntervalsInput } from '#adapters/providers/intervals.js';
export { fromJunction, type JunctionInput } from '#adapters/providers/junction.js';
export type { Adapted, AdapterOptions, UsedSleep } from '#adapters/adapt.js';
export type { Left } from '#adapters/records.js';
export { fromOura, type OuraInput } from '#adapters/providers/oura.js';
export { fromPolar, type PolarInput } from '#adapters/providers/polar.js';
export { fromTerra, type TerraInput } from '#adapters/providers/terra.js';
export { fromWhoop, type WhoopInput } from '#adapters/providers/whoop.js';
export { fromWithings, type WithingsInput } from '#adapters/providers/withings.js';
export { readRecording, type Recording } from '#adapters/recording.js';
export type { Person } from '#adapters/person.js';
export { UnitError } from '#adapters/unitChecks.js';
export type { Moment } from '#rules/moment.js';
