/**
 * The providers that are read, a line each. The names of recordings, the exports of clients, examples and tests are made
 * of it.
 */
export { fromAppleHealth, type AppleHealthInput } from './providers/appleHealth.js';
export { fromFitbitArchive, type FitbitArchiveInput } from './providers/fitbitArchive.js';
export { fromFlutterHealth, type FlutterHealthInput } from './providers/flutterHealth.js';
export { fromGarmin, type GarminInput } from './providers/garmin.js';
export { fromGarminConnect, type GarminConnectInput } from './providers/garminConnect.js';
export { fromGoogleHealth, type GoogleHealthInput } from './providers/googleHealth.js';
export { fromHealthAutoExport, type HealthAutoExportInput } from './providers/healthAutoExport.js';
export { fromHealthConnect, type HealthConnectInput } from './providers/healthConnect.js';
export { fromIntervals, type IntervalsInput } from './providers/intervals.js';
export { fromJunction, type JunctionInput } from './providers/junction.js';
export { fromOura, type OuraInput } from './providers/oura.js';
export { fromPolar, type PolarInput } from './providers/polar.js';
export { fromSamsungHealth, type SamsungHealthInput } from './providers/samsungHealth.js';
export { fromTerra, type TerraInput } from './providers/terra.js';
export { fromWhoop, type WhoopInput } from './providers/whoop.js';
export { fromWithings, type WithingsInput } from './providers/withings.js';
export { fromZepp, type ZeppInput } from './providers/zepp.js';
