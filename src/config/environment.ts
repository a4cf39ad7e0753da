/** The variables of the process's environment; an absent one is undefined. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** uWebSockets.js allows 4 KiB of request head by default, less than a proxy's cookies and tracing headers may need. */
const REQUEST_HEAD_BYTES_MAX = 16_384;

/** The process's environment. This file is its only reader, and loads nothing: signals wait for it. */
export function environment(): Environment {
  return process.env;
}

/**
 * Sets the environment variables that native libraries read when they load; call it before importing any of
 * them. ONNX Runtime reports usage to its vendor by default. This service sends no data to third parties.
 */
export function prepareEnvironment(): void {
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(REQUEST_HEAD_BYTES_MAX);
}
