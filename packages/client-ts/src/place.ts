/** @throws Error unless this is a server's process: every reader of a web page can read the key in it */
export function refuseBrowser(place: object = globalThis): void {
  const { document, window, importScripts } = place as Record<string, unknown>;
  if (document === undefined && window === undefined && importScripts === undefined) return;
  throw new Error(
    'the API key belongs on a server: call the scoring service from your backend, never from a browser or an app',
  );
}
