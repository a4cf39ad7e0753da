/** @throws Error where this is no server's process: whoever can read the page can read the key */
export function refuseBrowser(place: object = globalThis): void {
  const { document, window, importScripts } = place as Record<string, unknown>;
  if (document === undefined && window === undefined && importScripts === undefined) return;
  throw new Error(
    'the API key belongs on a server: call the scoring service from your backend, never from a browser or an app',
  );
}
