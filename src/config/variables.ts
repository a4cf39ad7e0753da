/** The catalogue of environment variables. */
import { Type, type TSchema } from 'typebox';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';

/**
 * One environment variable: its name, its schema, and what the documentation says of it. No schema is asked about an
 * empty value, which is a mistake (in `OTEL_*`: absent).
 */
export interface Variable<Schema extends TSchema = TSchema> {
  readonly env: string;
  readonly schema: Schema;
  readonly doc: string;
  readonly unit?: 'bytes' | 'ms' | 's';
  /** Text values: what is expected, as a noun phrase. */
  readonly expects?: string;
  /**
   * The default in words, if it depends on other values (its schema then has none) or reads badly as a value.
   */
  readonly derived?: string;
  /** The value may hold a password, so it is never shown in full. */
  readonly secret?: boolean;
}

/** Host names as in a URL, separated by commas and without a port. */
const HOST_NAME =
  '[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\\.?';
const HOST_NAMES = `^${HOST_NAME}( *, *${HOST_NAME})*$`;

/** User and password belong in `OTEL_EXPORTER_OTLP_HEADERS`. */
const COLLECTOR = '^https?://[^\\s@]+$';

/** Every variable that the service reads, under the name of its field in the configuration. */
export const VARIABLES = {
  host: {
    env: 'ACUITY_HOST',
    schema: Type.String({ default: '127.0.0.1', pattern: '^[^\\s/]+$' }),
    expects: 'a host name or an address',
    doc: 'Public listener: address',
  },
  port: {
    env: 'ACUITY_PORT',
    schema: Type.Integer({ default: 8080, minimum: 0, maximum: 65535 }),
    doc: 'Public listener: port; `0` takes a free one. `PORT` counts where this is absent',
  },
  socket: {
    env: 'ACUITY_SOCKET',
    schema: Type.String({ default: '', pattern: '[^/\\0]$' }),
    expects: 'a path',
    doc: 'Public listener: this Unix socket in the place of address and port, for callers or a proxy on the same machine. With several event loops each has its own: `PATH.1`, `PATH.2`, …',
  },
  adminHost: {
    env: 'ACUITY_ADMIN_HOST',
    schema: Type.String({ default: '127.0.0.1', pattern: '^[^\\s/]+$' }),
    expects: 'a host name or an address',
    doc: 'Admin listener (health, metrics, documentation): address',
  },
  adminPort: {
    env: 'ACUITY_ADMIN_PORT',
    schema: Type.Integer({ default: 9464, minimum: 0, maximum: 65535 }),
    doc: 'Admin listener: port; `0` takes a free one',
  },
  connectionsMax: {
    env: 'ACUITY_CONNECTIONS_MAX',
    schema: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    derived: 'the lesser of 50000 and the file descriptors that the process may open less 256',
    doc: 'Most open public connections; new ones beyond it are closed at once',
  },
  adminHosts: {
    env: 'ACUITY_ADMIN_HOSTS',
    schema: Type.String({ default: '', pattern: HOST_NAMES }),
    expects: 'host names, separated by commas',
    doc: 'Admin listener: names under which it may be asked, besides addresses and `localhost`',
  },
  tryPage: {
    env: 'ACUITY_TRY',
    schema: Type.Boolean(),
    derived: '`true` where the admin listener is on a loopback address, else `false`',
    doc: 'Whether the admin listener has the page `/try`, which scores a night that is put together by hand. If other machines can reach the listener, the page asks for an API key',
  },
  grafanaUrl: {
    env: 'ACUITY_GRAFANA_URL',
    schema: Type.String({ default: '', pattern: '^https?://[^\\s]+$' }),
    expects: 'an http or https URL',
    doc: 'Dashboard of the whole fleet in Grafana: the page of this replica links to it',
  },
  httpThreads: {
    env: 'ACUITY_HTTP_THREADS',
    schema: Type.Integer({ default: 1, minimum: 1, maximum: 64 }),
    doc: 'Event loops that accept requests on the public port, or each on its own socket',
  },
  workers: {
    env: 'ACUITY_WORKERS',
    schema: Type.Integer({ minimum: 1, maximum: 1024 }),
    derived: 'cores − HTTP threads, at least one for each HTTP thread',
    doc: 'Inference worker threads; at least as many as HTTP threads. Cores are those usable under the CPU quota of the container',
  },
  intraOpThreads: {
    env: 'ACUITY_INTRA_OP_THREADS',
    schema: Type.Integer({ default: 1, minimum: 1, maximum: 256 }),
    doc: 'ONNX Runtime threads within one operator, in each worker',
  },
  interOpThreads: {
    env: 'ACUITY_INTER_OP_THREADS',
    schema: Type.Integer({ default: 1, minimum: 1, maximum: 256 }),
    doc: 'ONNX Runtime threads across operators, in each worker: more than one runs branches of a graph in parallel',
  },
  spinning: {
    env: 'ACUITY_SPINNING',
    schema: Type.Boolean({ default: false }),
    doc: 'Whether ONNX Runtime threads spin while they wait: a little faster, at the price of a busy core',
  },
  batchMax: {
    env: 'ACUITY_BATCH_MAX',
    schema: Type.Integer({ default: 32, minimum: 1, maximum: 1024 }),
    doc: 'Most requests in one run of the model',
  },
  queueMax: {
    env: 'ACUITY_QUEUE_MAX',
    schema: Type.Integer({ default: 2048, minimum: 1, maximum: 1_000_000 }),
    doc: 'Most requests admitted and not yet answered; beyond it, 503. Lines of lists have as many places of their own',
  },
  bodiesMaxBytes: {
    env: 'ACUITY_BODIES_MAX_BYTES',
    schema: Type.Integer({ default: 67_108_864, minimum: 1024, maximum: 68_719_476_736 }),
    unit: 'bytes',
    doc: 'Most bytes of request bodies buffered at once; beyond it, 503',
  },
  deadlineMs: {
    env: 'ACUITY_DEADLINE_MS',
    schema: Type.Integer({ default: 1000, minimum: 1, maximum: 600_000 }),
    unit: 'ms',
    doc: 'Longest wait of a request before it is shed with 503',
  },
  bodyMaxBytes: {
    env: 'ACUITY_BODY_MAX_BYTES',
    schema: Type.Integer({ default: 4_194_304, minimum: 1024, maximum: 268_435_456 }),
    unit: 'bytes',
    doc: 'Longest request body; beyond it, 413',
  },
  keys: {
    env: 'ACUITY_KEYS',
    schema: Type.String({ default: 'file:data/keys.json', pattern: '^(file:.+|rediss?://.+)$' }),
    expects: 'file:PATH or redis://user:password@host:port/0',
    secret: true,
    doc: 'Key store: a file, its path relative to the working directory; or Redis or Valkey, which several replicas share',
  },
  keysStaleMs: {
    env: 'ACUITY_KEYS_STALE_MS',
    schema: Type.Integer({ default: 86_400_000, minimum: 1000, maximum: 2_592_000_000 }),
    unit: 'ms',
    doc: 'How long known keys stay valid while a shared key store is out of reach; then no key counts, and the replica is not ready',
  },
  model: {
    env: 'ACUITY_MODEL',
    schema: Type.String(),
    expects: 'a folder',
    derived: '`native-models/acuity-base` of the package',
    doc: 'Folder of the model; relative to the working directory',
  },
  shadowModel: {
    env: 'ACUITY_SHADOW_MODEL',
    schema: Type.String({ default: '' }),
    expects: 'a folder',
    doc: 'Folder of a model that scores copies of answered requests and is compared with `ACUITY_MODEL`; it may come, change and go while the service runs',
  },
  shadowShare: {
    env: 'ACUITY_SHADOW_SHARE',
    schema: Type.Number({ default: 0.05, minimum: 0, maximum: 1 }),
    doc: 'Share of the answered requests that the shadow model scores too',
  },
  norms: {
    env: 'ACUITY_NORMS',
    schema: Type.String({ default: '' }),
    expects: 'a JSON file',
    doc: 'File with norms of your own tests, and with your own norms of tests that have one, in the form of `packages/norms/published.json` (docs/MEASURED.md); read at the start',
  },
  logLevel: {
    env: 'ACUITY_LOG_LEVEL',
    schema: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], { default: 'info' }),
    doc: 'Least severe level that is logged',
  },
  drainMs: {
    env: 'ACUITY_DRAIN_MS',
    schema: Type.Integer({ default: 10_000, minimum: 0, maximum: 600_000 }),
    unit: 'ms',
    doc: 'Longest graceful shutdown',
  },
  stopDelayMs: {
    env: 'ACUITY_STOP_DELAY_MS',
    schema: Type.Integer({ default: 0, minimum: 0, maximum: 600_000 }),
    unit: 'ms',
    doc: 'How long a stopping replica answers requests as usual while `/readyz` says 503, before it takes no more requests: longer than a load balancer takes to notice',
  },
  daySamplesMax: {
    env: 'ACUITY_DAY_SAMPLES_MAX',
    schema: Type.Integer({ default: DEFAULT_SERIES_LIMITS.daySamplesMax, minimum: 1, maximum: 1_000_000 }),
    doc: 'Most samples in a day series',
  },
  nightSamplesMax: {
    env: 'ACUITY_NIGHT_SAMPLES_MAX',
    schema: Type.Integer({ default: DEFAULT_SERIES_LIMITS.nightSamplesMax, minimum: 1, maximum: 1_000_000 }),
    doc: 'Most samples in a night series',
  },
  hangMs: {
    env: 'ACUITY_HANG_MS',
    schema: Type.Integer({ default: 5000, minimum: 10, maximum: 600_000 }),
    unit: 'ms',
    doc: 'A worker silent for this long during a run, without its waits for a processor, counts as hung: the process says not-ready and exits with 70',
  },
  accessLogEvery: {
    env: 'ACUITY_ACCESS_LOG_EVERY',
    schema: Type.Integer({ default: 1000, minimum: 0, maximum: 1_000_000_000 }),
    doc: 'One access line for this many successful requests; `0` for none. Errors are always logged',
  },
  retryAfterS: {
    env: 'ACUITY_RETRY_AFTER_S',
    schema: Type.Integer({ default: 1, minimum: 1, maximum: 3600 }),
    unit: 's',
    doc: 'Least `Retry-After` of an overload; the value itself is computed, up to 30 s',
  },
  overloadStatus: {
    env: 'ACUITY_OVERLOAD_STATUS',
    schema: Type.Integer({ default: 503, minimum: 429, maximum: 503 }),
    expects: '503 or 429',
    doc: 'Status of a refusal because of overload: `429` for proxies that take a replica out for 5xx',
  },
  otlpEndpoint: {
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    schema: Type.String({ default: '', pattern: COLLECTOR }),
    expects: 'an http or https URL without user and password',
    derived: 'none: no traces',
    secret: true,
    doc: 'Collector that traces of sampled requests are sent to, by OTLP over HTTP; `/v1/traces` is added (docs/TRACING.md)',
  },
  otlpTracesEndpoint: {
    env: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    schema: Type.String({ default: '', pattern: COLLECTOR }),
    expects: 'an http or https URL without user and password',
    secret: true,
    doc: 'The same as a whole address, to which nothing is added; it comes first',
  },
  tracesMax: {
    env: 'ACUITY_TRACES_MAX',
    schema: Type.Integer({ default: 50, minimum: 0, maximum: 10_000 }),
    doc: 'Most requests that are traced in a second, in equal parts for the event loops, rounded up; requests above that are counted, and answered as usual. `0`: none',
  },
  otelSdkDisabled: {
    env: 'OTEL_SDK_DISABLED',
    schema: Type.String({ default: '', pattern: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$' }),
    expects: 'true or false',
    derived: '`false`',
    doc: '`true`: no traces, regardless of the other settings',
  },
} as const satisfies Record<string, Variable>;

export type Field = keyof typeof VARIABLES;

/** A keyword of a schema (`default`, `minimum`, …), which TypeBox's types don't expose. */
export function keyword(schema: TSchema, name: 'default' | 'minimum' | 'maximum'): unknown {
  return (schema as Readonly<Record<string, unknown>>)[name];
}

/** The range of a variable in words that follow "must be": "an integer from 0 to 65535". */
export function expectation({ schema, expects }: Variable): string {
  if (expects !== undefined) return expects;
  if (Type.IsInteger(schema)) {
    return `an integer from ${String(keyword(schema, 'minimum'))} to ${String(keyword(schema, 'maximum'))}`;
  }
  if (Type.IsNumber(schema)) {
    return `a number from ${String(keyword(schema, 'minimum'))} to ${String(keyword(schema, 'maximum'))}`;
  }
  if (Type.IsBoolean(schema)) return 'true or false';
  if (Type.IsEnum(schema)) return `one of ${schema.enum.join(', ')}`;
  throw new TypeError('a text variable says what it expects');
}
