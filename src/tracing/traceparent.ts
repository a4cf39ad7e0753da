/** The position of a request in its caller's trace. */
export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string;
  /** The caller's span, 16 hex digits. */
  readonly spanId: string;
}

const FORM =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([13579bdf])(?:-.*)?$/;
/** `00-` trace `-` span `-` flags, the shortest form. */
const LENGTH = 55;
/** The last hex digit of the flags if the lowest bit is set. */
const ODD = '13579bdf';

/**
 * The parent in a `traceparent` header with the sampled flag; undefined without the flag, and for an absent or
 * malformed header (W3C Trace Context, sections 3.2 and 4.3: a later version may append fields after the flags,
 * version 00 may not).
 */
export function sampledParent(header: string): TraceParent | undefined {
  // The flag first: most requests need no further check.
  if (header.length < LENGTH || !ODD.includes(header.charAt(LENGTH - 1))) return undefined;
  if (header.length > LENGTH && header.startsWith('00')) return undefined;
  const [, traceId, spanId] = FORM.exec(header) ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
}
