/**
 * The exports of `acuity-client/adapters`, in the server's package `acuity/client/adapters`. This file only
 * re-exports.
 */
export { fromAppleHealth, type AppleHealthInput } from './adapters/appleHealth.js';
export { AdapterError } from './adapters/adapterError.js';
export { fromFitbitArchive, type FitbitArchiveInput } from './adapters/fitbitArchive.js';
export { fromGarmin, type GarminInput } from './adapters/garmin.js';
export { fromGarminConnect, type GarminConnectInput } from './adapters/garminConnect.js';
export { fromGoogleHealth, type GoogleHealthInput } from './adapters/googleHealth.js';
export { fromHealthAutoExport, type HealthAutoExportInput } from './adapters/healthAutoExport.js';
export { fromHealthConnect, type HealthConnectInput } from './adapters/healthConnect.js';
export { fromJunction, type JunctionInput } from './adapters/junction.js';
export type { Adapted, AdapterOptions, UsedSleep } from './adapters/adapt.js';
export type { Left } from './adapters/records.js';
export { fromOura, type OuraInput } from './adapters/oura.js';
export { fromPolar, type PolarInput } from './adapters/polar.js';
export { fromTerra, type TerraInput } from './adapters/terra.js';
export { fromWhoop, type WhoopInput } from './adapters/whoop.js';
export { fromWithings, type WithingsInput } from './adapters/withings.js';
