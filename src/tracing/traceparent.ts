/** Where a request stands in its caller's trace. */
export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string;
  /** The caller's span, 16 hex digits. */
  readonly spanId: string;
}

const FORM =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([13579bdf])(?:-.*)?$/;
/** `00-` trace `-` span `-` flags, the least form. */
const LENGTH = 55;
/** The last digit of the flags where the lowest bit is set. */
const ODD = '13579bdf';

/**
 * The parent in a `traceparent` header whose sampled flag is set; undefined where it is not set, and where the header
 * is absent or not of its form (W3C Trace Context, sections 3.2 and 4.3: a later version may have more behind the
 * flags, version 00 has not).
 */
export function sampledParent(header: string): TraceParent | undefined {
  // The flag first: most requests go no further.
  if (header.length < LENGTH || !ODD.includes(header.charAt(LENGTH - 1))) return undefined;
  if (header.length > LENGTH && header.startsWith('00')) return undefined;
  const [, traceId, spanId] = FORM.exec(header) ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
}
