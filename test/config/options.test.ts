import t from 'tap';
import {
  defaultConfig,
  environment,
  prepareEnvironment,
  readConfig,
  type Config,
  type Environment,
  type Machine,
} from '#acuity/config/options.js';
import { uselessThreads } from '#acuity/config/threads.js';
import { VARIABLES, type Field } from '#acuity/config/variables.js';

const MACHINE: Machine = { cores: 8, descriptors: 1024, workingDir: '/somewhere', packageDir: '/package' };

function configOf(env: Environment, machine = MACHINE): Config {
  const reading = readConfig(env, machine);
  if (!reading.ok) throw new Error(reading.mistakes.join('\n'));
  return reading.config;
}

function mistakesOf(env: Environment): readonly string[] {
  const reading = readConfig(env, MACHINE);
  return reading.ok ? [] : reading.mistakes;
}

// For each variable its default (one that is changed by accident fails here), a legal text, what it becomes, texts that
// are refused, parted by |, and what the environment of the case holds beside it, where values depend on each other.
const CASES: {
  readonly [F in Field]: readonly [
    name: string,
    byDefault: Config[F],
    text: string,
    value: Config[F],
    refused: string,
    beside?: Environment,
  ];
} = {
  host: ['ACUITY_HOST', '127.0.0.1', '::', '::', '|a b|http://a'],
  port: ['ACUITY_PORT', 8080, '65535', 65_535, '65536|-1|+1|1.0|1e3|0x10| 1|01||http|٣'],
  socket: [
    'ACUITY_SOCKET',
    '',
    'run/acuity.sock',
    '/somewhere/run/acuity.sock',
    `|/run/|/${'a'.repeat(107)}`,
  ],
  adminHost: ['ACUITY_ADMIN_HOST', '127.0.0.1', 'localhost', 'localhost', ''],
  adminPort: ['ACUITY_ADMIN_PORT', 9464, '0', 0, '65536|x'],
  connectionsMax: ['ACUITY_CONNECTIONS_MAX', 768, '1', 1, '0|1000001'],
  adminHosts: [
    'ACUITY_ADMIN_HOSTS',
    '',
    'metrics.example, acuity-1.ops.svc.cluster.local',
    'metrics.example, acuity-1.ops.svc.cluster.local',
    '*|a b|http://a|a:9464|a,,b|a,|.a|-a',
  ],
  tryPage: ['ACUITY_TRY', true, 'true', true, '1|yes|', { ACUITY_ADMIN_HOST: '0.0.0.0' }],
  grafanaUrl: [
    'ACUITY_GRAFANA_URL',
    '',
    'https://grafana.example/d/acuity',
    'https://grafana.example/d/acuity',
    'grafana.example|javascript:alert(1)|https://a b|https://a:99999',
  ],
  httpThreads: ['ACUITY_HTTP_THREADS', 1, '64', 64, '0|65'],
  workers: ['ACUITY_WORKERS', 7, '3', 3, '0|1025|2.5'],
  intraOpThreads: ['ACUITY_INTRA_OP_THREADS', 1, '2', 2, '0|257'],
  interOpThreads: ['ACUITY_INTER_OP_THREADS', 1, '2', 2, '0|257'],
  spinning: ['ACUITY_SPINNING', false, 'true', true, '1|0|TRUE|yes|| true'],
  batchMax: ['ACUITY_BATCH_MAX', 32, '1', 1, '0|1025'],
  queueMax: ['ACUITY_QUEUE_MAX', 2048, '1', 1, '0|1000001'],
  bodiesMaxBytes: ['ACUITY_BODIES_MAX_BYTES', 67_108_864, '4194304', 4_194_304, '1023|64M'],
  deadlineMs: ['ACUITY_DEADLINE_MS', 1000, '1', 1, '0|600001|1s'],
  bodyMaxBytes: [
    'ACUITY_BODY_MAX_BYTES',
    4_194_304,
    '268435456',
    268_435_456,
    '1023|268435457',
    { ACUITY_BODIES_MAX_BYTES: '268435456' },
  ],
  keys: [
    'ACUITY_KEYS',
    'file:data/keys.json',
    'redis://:secret@host:6379/0',
    'redis://:secret@host:6379/0',
    '|data/keys.json|file:|redi://:secret@host|redis://h:99999|redis://:%@h|rediss://h/one',
  ],
  keysStaleMs: ['ACUITY_KEYS_STALE_MS', 86_400_000, '1000', 1000, '999|2592000001'],
  model: ['ACUITY_MODEL', '/package/native-models/acuity-base', 'models/mine', '/somewhere/models/mine', ''],
  shadowModel: ['ACUITY_SHADOW_MODEL', '', 'models/next', '/somewhere/models/next', ''],
  shadowShare: ['ACUITY_SHADOW_SHARE', 0.05, '.25', 0.25, '1.1|-0|5%||.|1e-1|00.5|Infinity'],
  norms: ['ACUITY_NORMS', '', 'norms.json', '/somewhere/norms.json', ''],
  logLevel: ['ACUITY_LOG_LEVEL', 'info', 'silent', 'silent', '|INFO|verbose'],
  drainMs: ['ACUITY_DRAIN_MS', 10_000, '0', 0, '600001|-1'],
  stopDelayMs: ['ACUITY_STOP_DELAY_MS', 0, '600000', 600_000, '600001|-1'],
  daySamplesMax: ['ACUITY_DAY_SAMPLES_MAX', 7200, '1', 1, '0|1000001'],
  nightSamplesMax: ['ACUITY_NIGHT_SAMPLES_MAX', 43_200, '1', 1, '0|1000001'],
  hangMs: ['ACUITY_HANG_MS', 5000, '10', 10, '9|600001'],
  accessLogEvery: ['ACUITY_ACCESS_LOG_EVERY', 1000, '0', 0, '-1|1000000001'],
  retryAfterS: ['ACUITY_RETRY_AFTER_S', 1, '3600', 3600, '0|3601'],
  overloadStatus: ['ACUITY_OVERLOAD_STATUS', 503, '429', 429, '500|504|430|'],
  otlpEndpoint: [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    '',
    'http://collector:4318',
    'http://collector:4318',
    'collector:4318|grpc://collector|http://user:secret@collector|http://collector:99999',
  ],
  otlpTracesEndpoint: [
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    '',
    'https://collector/v1/traces',
    'https://collector/v1/traces',
    'x|http://a b',
  ],
  tracesMax: ['ACUITY_TRACES_MAX', 50, '0', 0, '-1|10001|1.5'],
  otelSdkDisabled: ['OTEL_SDK_DISABLED', '', 'True', 'True', 'yes|1'],
};
const DEFAULTS = Object.fromEntries(Object.entries(CASES).map(([name, [, byDefault]]) => [name, byDefault]));

t.test('an empty environment gives the defaults, frozen', async (t) => {
  const config = configOf({ HOME: '/root', ACUITYX: 'not ours' });
  t.strictSame(config, DEFAULTS);
  t.ok(Object.isFrozen(config));
});

t.test('each variable takes a legal value, and refuses others in one line that names it', async (t) => {
  for (const field of Object.keys(VARIABLES) as Field[]) {
    const [name, , text, value, refused, beside = {}] = CASES[field];
    t.strictSame(configOf({ ...beside, [name]: text })[field], value, name);
    for (const wrong of refused.split('|')) {
      const mistakes = mistakesOf({ ...beside, [name]: wrong });
      t.equal(mistakes.length, 1, `${name}: ${JSON.stringify(wrong)} is one mistake`);
      t.ok(mistakes[0]?.startsWith(`${name} must be `) && !mistakes[0].includes('\n'), `${mistakes[0]}`);
    }
  }
});

t.test('an empty value is a mistake; of a variable of OpenTelemetry it counts as absent', async (t) => {
  for (const { env } of Object.values(VARIABLES)) {
    const told = mistakesOf({ [env]: '' });
    if (env.startsWith('OTEL_')) t.strictSame([told, configOf({ [env]: '' })], [[], DEFAULTS], env);
    else t.ok(told.length === 1 && told[0]?.startsWith(`${env} must be `), `${env}: ${told.join()}`);
  }
});

t.test('every mistake is reported in one short line, a mistyped name with the nearest one', async (t) => {
  t.strictSame(
    mistakesOf({ ACUITY_PORT: 'x', ACUITY_SPINNING: 'maybe', ACUITY_COLOUR: 'red', ACUITY_WORKER: '2' }),
    [
      'ACUITY_COLOUR is not a known variable',
      'ACUITY_WORKER is not a known variable; did you mean ACUITY_WORKERS?',
      'ACUITY_PORT must be an integer from 0 to 65535, not "x"',
      'ACUITY_SPINNING must be true or false, not "maybe"',
    ],
  );
  // It may hold a password.
  const masked = ['ACUITY_KEYS must be file:PATH or redis://user:password@host:port/0'];
  t.strictSame(mistakesOf({ ACUITY_KEYS: 'rediss:/:secret@host' }), masked);
  const [mistake = ''] = mistakesOf({ ACUITY_PORT: `1\n${'2'.repeat(10_000)}` });
  t.ok(mistake.length < 150 && !mistake.includes('\n'));
});

t.test('PORT is honoured where ACUITY_PORT is absent', async (t) => {
  t.equal(configOf({ PORT: '3000' }).port, 3000);
  t.equal(configOf({ PORT: '3000', ACUITY_PORT: '4000' }).port, 4000);
  t.strictSame(mistakesOf({ PORT: 'none' }), ['PORT must be an integer from 0 to 65535, not "none"']);
  t.strictSame(mistakesOf({ PORT: 'none', ACUITY_PORT: '4000' }), [], 'and not read otherwise');
});

t.test('variables that Kubernetes injects for a Service called acuity are ignored', async (t) => {
  const injected = {
    ACUITY_SERVICE_HOST: '10.0.0.1',
    ACUITY_SERVICE_PORT: '80',
    ACUITY_SERVICE_PORT_HTTP: '80',
    ACUITY_PORT: 'tcp://10.0.0.1:80',
    ACUITY_PORT_80_TCP: 'tcp://10.0.0.1:80',
    ACUITY_PORT_80_TCP_PROTO: 'tcp',
    ACUITY_PORT_80_TCP_PORT: '80',
    ACUITY_PORT_80_TCP_ADDR: '10.0.0.1',
  };
  t.strictSame(configOf(injected), DEFAULTS);
  t.equal(configOf({ ...injected, PORT: '3000' }).port, 3000);
  t.equal(mistakesOf({ ACUITY_SERVICES: '1' }).length, 1, 'but nothing that only looks alike');
});

t.test('the workers follow from the cores and the HTTP threads', async (t) => {
  const workersOn = (cores: number, env: Environment) => configOf(env, { ...MACHINE, cores }).workers;
  t.equal(workersOn(1, {}), 1);
  t.equal(workersOn(2, {}), 1);
  t.equal(workersOn(8, { ACUITY_HTTP_THREADS: '2' }), 6);
  t.equal(workersOn(4, { ACUITY_HTTP_THREADS: '3' }), 3);
  t.equal(workersOn(8, { ACUITY_WORKERS: '2' }), 2);
});

t.test('values that contradict each other are mistakes', async (t) => {
  const workers = { ACUITY_HTTP_THREADS: '3', ACUITY_WORKERS: '2' };
  t.match(mistakesOf(workers), [/^ACUITY_WORKERS must be at least/]);
  t.match(mistakesOf({ ACUITY_BODIES_MAX_BYTES: '4194303' }), [/^ACUITY_BODIES_MAX_BYTES must be at least/]);
  const socket = { ACUITY_SOCKET: `/${'x'.repeat(105)}`, ACUITY_WORKERS: '2', ACUITY_HTTP_THREADS: '2' };
  t.match(mistakesOf(socket), [/^ACUITY_SOCKET must be a path of at most 107 bytes/], 'with the suffix');
  t.match(mistakesOf({ ACUITY_PORT: '9464' }), [/^ACUITY_ADMIN_PORT must differ/]);
  t.strictSame(mistakesOf({ ACUITY_PORT: '9464', ACUITY_ADMIN_HOST: '127.0.0.2' }), []);
  t.strictSame(mistakesOf({ ACUITY_PORT: '0', ACUITY_ADMIN_PORT: '0' }), [], 'two free ports differ');
});

t.test('the page /try is there where only this machine reaches it, or it is wanted', async (t) => {
  for (const [hosts, isThere] of [
    ['127.0.0.1 127.1.2.3 ::1 ::ffff:127.0.0.1 localhost LOCALHOST', true],
    ['0.0.0.0 :: 10.0.0.1 127.0.0.1.example ops.example 1271.0.0.1', false],
  ] as const)
    for (const ACUITY_ADMIN_HOST of hosts.split(' ')) {
      t.equal(configOf({ ACUITY_ADMIN_HOST }).tryPage, isThere, ACUITY_ADMIN_HOST);
      const asked = configOf({ ACUITY_ADMIN_HOST, ACUITY_TRY: String(!isThere) });
      t.equal(asked.tryPage, !isThere, ACUITY_ADMIN_HOST);
    }
});

t.test('for the libraries: no telemetry in any case, a head as long as the operator says', async (t) => {
  process.env['ORT_DISABLE_TELEMETRY'] = '0';
  for (const [set, longest] of [
    [undefined, '16384'],
    ['8192', '8192'],
  ] as const) {
    if (set === undefined) delete process.env['UWS_HTTP_MAX_HEADERS_SIZE'];
    else process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = set;
    prepareEnvironment();
    t.match(environment(), { ORT_DISABLE_TELEMETRY: '1', UWS_HTTP_MAX_HEADERS_SIZE: longest });
  }
});

/** What can't help, and what is said of it. */
const THREADS: readonly (readonly [Partial<Config>, areChains: boolean, ...said: RegExp[]])[] = [
  [{}, true],
  [{ workers: 3 }, false],
  [{ workers: 2, intraOpThreads: 2 }, false, /^ACUITY_WORKERS=2 × ACUITY_INTRA_OP_THREADS=2 \+ ACUITY_HTTP_THREADS=1 are 5 threads: .*2 cores/], // prettier-ignore
  [{ interOpThreads: 2 }, false],
  [{ interOpThreads: 2 }, true, /^ACUITY_INTER_OP_THREADS=2 .*2 cores.* chains/],
  [{ workers: 3, httpThreads: 3 }, false, /^ACUITY_WORKERS=3/, /^ACUITY_HTTP_THREADS=3 .*2 cores/],
];

t.test('settings of threads that can not help are told, each once', async (t) => {
  for (const [changed, areChains, ...said] of THREADS) {
    const found = uselessThreads({ ...defaultConfig({ ...MACHINE, cores: 2 }), ...changed }, 2, areChains);
    t.equal(found.length, said.length, JSON.stringify(changed));
    for (const [at, words] of said.entries()) t.match(found[at], words);
  }
});
