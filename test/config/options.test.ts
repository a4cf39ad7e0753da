import t from 'tap';
import { readConfig, type Config, type Environment, type Machine } from '#acuity/config/options.js';
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

// The table of the decisions, typed out: a default changed by accident fails here.
const DEFAULTS: { readonly [F in Field]: Config[F] } = {
  host: '127.0.0.1',
  port: 8080,
  adminHost: '127.0.0.1',
  connectionsMax: 768,
  adminPort: 9464,
  adminHosts: '',
  httpThreads: 1,
  workers: 7,
  intraOpThreads: 1,
  interOpThreads: 1,
  spinning: false,
  batchMax: 32,
  queueMax: 2048,
  bodiesMaxBytes: 67_108_864,
  deadlineMs: 1000,
  bodyMaxBytes: 4_194_304,
  keys: 'file:data/keys.json',
  keysStaleMs: 86_400_000,
  model: '/package/native-models/acuity-base',
  grafanaUrl: '',
  tryPage: true,
  shadowModel: '',
  shadowShare: 0.05,
  norms: '',
  logLevel: 'info',
  drainMs: 10_000,
  stopDelayMs: 0,
  daySamplesMax: 7200,
  nightSamplesMax: 43_200,
  hangMs: 5000,
  accessLogEvery: 1000,
  retryAfterS: 1,
  overloadStatus: 503,
  otlpEndpoint: '',
  otlpTracesEndpoint: '',
  tracesMax: 50,
  otelSdkDisabled: '',
};

// For each variable a legal text, what it becomes, and texts that are refused. The environment of a case may hold
// more, where values depend on each other.
const CASES: {
  readonly [F in Field]: {
    readonly name: string;
    readonly text: string;
    readonly value: Config[F];
    readonly refused: readonly string[];
    readonly beside?: Environment;
  };
} = {
  host: { name: 'ACUITY_HOST', text: '::', value: '::', refused: ['', 'a b', 'http://a'] },
  port: {
    name: 'ACUITY_PORT',
    text: '65535',
    value: 65535,
    refused: ['65536', '-1', '+1', '1.0', '1e3', '0x10', ' 1', '01', '', 'http', '٣'],
  },
  adminHost: { name: 'ACUITY_ADMIN_HOST', text: 'localhost', value: 'localhost', refused: [''] },
  adminPort: { name: 'ACUITY_ADMIN_PORT', text: '0', value: 0, refused: ['65536', 'x'] },
  connectionsMax: { name: 'ACUITY_CONNECTIONS_MAX', text: '1', value: 1, refused: ['0', '1000001'] },
  adminHosts: {
    name: 'ACUITY_ADMIN_HOSTS',
    text: 'metrics.example, acuity-1.ops.svc.cluster.local',
    value: 'metrics.example, acuity-1.ops.svc.cluster.local',
    refused: ['*', 'a b', 'http://a', 'a:9464', 'a,,b', 'a,', '.a', '-a'],
  },
  tryPage: {
    name: 'ACUITY_TRY',
    text: 'true',
    value: true,
    refused: ['1', 'yes', ''],
    beside: { ACUITY_ADMIN_HOST: '0.0.0.0' },
  },
  grafanaUrl: {
    name: 'ACUITY_GRAFANA_URL',
    text: 'https://grafana.example/d/acuity',
    value: 'https://grafana.example/d/acuity',
    refused: ['grafana.example', 'javascript:alert(1)', 'https://a b'],
  },
  httpThreads: { name: 'ACUITY_HTTP_THREADS', text: '64', value: 64, refused: ['0', '65'] },
  workers: { name: 'ACUITY_WORKERS', text: '3', value: 3, refused: ['0', '1025', '2.5'] },
  intraOpThreads: { name: 'ACUITY_INTRA_OP_THREADS', text: '2', value: 2, refused: ['0', '257'] },
  interOpThreads: { name: 'ACUITY_INTER_OP_THREADS', text: '2', value: 2, refused: ['0', '257'] },
  spinning: {
    name: 'ACUITY_SPINNING',
    text: 'true',
    value: true,
    refused: ['1', '0', 'TRUE', 'yes', '', ' true'],
  },
  batchMax: { name: 'ACUITY_BATCH_MAX', text: '1', value: 1, refused: ['0', '1025'] },
  queueMax: { name: 'ACUITY_QUEUE_MAX', text: '1', value: 1, refused: ['0', '1000001'] },
  bodiesMaxBytes: {
    name: 'ACUITY_BODIES_MAX_BYTES',
    text: '4194304',
    value: 4_194_304,
    refused: ['1023', '64M'],
  },
  deadlineMs: { name: 'ACUITY_DEADLINE_MS', text: '1', value: 1, refused: ['0', '600001', '1s'] },
  bodyMaxBytes: {
    name: 'ACUITY_BODY_MAX_BYTES',
    text: '268435456',
    value: 268_435_456,
    refused: ['1023', '268435457'],
    beside: { ACUITY_BODIES_MAX_BYTES: '268435456' },
  },
  keys: {
    name: 'ACUITY_KEYS',
    text: 'redis://:secret@host:6379/0',
    value: 'redis://:secret@host:6379/0',
    refused: ['', 'data/keys.json', 'file:', 'redi://:secret@host'],
  },
  keysStaleMs: { name: 'ACUITY_KEYS_STALE_MS', text: '1000', value: 1000, refused: ['999', '2592000001'] },
  model: { name: 'ACUITY_MODEL', text: 'models/mine', value: '/somewhere/models/mine', refused: [''] },
  shadowModel: {
    name: 'ACUITY_SHADOW_MODEL',
    text: 'models/next',
    value: '/somewhere/models/next',
    refused: [],
  },
  shadowShare: {
    name: 'ACUITY_SHADOW_SHARE',
    text: '.25',
    value: 0.25,
    refused: ['1.1', '-0', '5%', '', '.', '1e-1', '00.5', 'Infinity'],
  },
  norms: { name: 'ACUITY_NORMS', text: 'norms.json', value: '/somewhere/norms.json', refused: [] },
  logLevel: { name: 'ACUITY_LOG_LEVEL', text: 'silent', value: 'silent', refused: ['', 'INFO', 'verbose'] },
  drainMs: { name: 'ACUITY_DRAIN_MS', text: '0', value: 0, refused: ['600001', '-1'] },
  stopDelayMs: { name: 'ACUITY_STOP_DELAY_MS', text: '600000', value: 600_000, refused: ['600001', '-1'] },
  daySamplesMax: { name: 'ACUITY_DAY_SAMPLES_MAX', text: '1', value: 1, refused: ['0', '1000001'] },
  nightSamplesMax: { name: 'ACUITY_NIGHT_SAMPLES_MAX', text: '1', value: 1, refused: ['0', '1000001'] },
  hangMs: { name: 'ACUITY_HANG_MS', text: '10', value: 10, refused: ['9', '600001'] },
  accessLogEvery: { name: 'ACUITY_ACCESS_LOG_EVERY', text: '0', value: 0, refused: ['-1', '1000000001'] },
  retryAfterS: { name: 'ACUITY_RETRY_AFTER_S', text: '3600', value: 3600, refused: ['0', '3601'] },
  overloadStatus: {
    name: 'ACUITY_OVERLOAD_STATUS',
    text: '429',
    value: 429,
    refused: ['500', '504', '430', ''],
  },
  otlpEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    text: 'http://collector:4318',
    value: 'http://collector:4318',
    refused: ['collector:4318', 'grpc://collector', 'http://user:secret@collector'],
  },
  otlpTracesEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    text: 'https://collector/v1/traces',
    value: 'https://collector/v1/traces',
    refused: ['x', 'http://a b'],
  },
  tracesMax: { name: 'ACUITY_TRACES_MAX', text: '0', value: 0, refused: ['-1', '10001', '1.5'] },
  otelSdkDisabled: { name: 'OTEL_SDK_DISABLED', text: 'True', value: 'True', refused: ['yes', '1'] },
};

t.test('an empty environment gives the defaults, frozen', async (t) => {
  const config = configOf({ HOME: '/root', ACUITYX: 'not ours' });
  t.strictSame(config, DEFAULTS);
  t.ok(Object.isFrozen(config));
});

for (const field of Object.keys(VARIABLES) as Field[]) {
  const { name, text, value, refused, beside = {} } = CASES[field];
  t.test(name, async (t) => {
    t.strictSame(configOf({ ...beside, [name]: text })[field], value, 'takes a legal value');
    for (const wrong of refused) {
      const mistakes = mistakesOf({ ...beside, [name]: wrong });
      t.equal(mistakes.length, 1, `${JSON.stringify(wrong)} is one mistake`);
      t.ok(mistakes[0]?.startsWith(`${name} must be `), 'that names the variable');
      t.notMatch(mistakes[0], '\n', 'in one line');
    }
  });
}

t.test('every mistake is reported, not only the first', async (t) => {
  t.strictSame(mistakesOf({ ACUITY_PORT: 'x', ACUITY_SPINNING: 'maybe', ACUITY_COLOUR: 'red' }), [
    'ACUITY_COLOUR is not a known variable',
    'ACUITY_PORT must be an integer from 0 to 65535, not "x"',
    'ACUITY_SPINNING must be true or false, not "maybe"',
  ]);
});

t.test('a mistyped name is answered with the nearest one', async (t) => {
  t.strictSame(mistakesOf({ ACUITY_WORKER: '2', ACUITY_DEADLINE: '5', ACUITY_HTTP_THREAD: '1' }), [
    'ACUITY_WORKER is not a known variable; did you mean ACUITY_WORKERS?',
    'ACUITY_DEADLINE is not a known variable; did you mean ACUITY_DEADLINE_MS?',
    'ACUITY_HTTP_THREAD is not a known variable; did you mean ACUITY_HTTP_THREADS?',
  ]);
});

t.test('a wrong address of a key store is not repeated: it may hold a password', async (t) => {
  t.strictSame(mistakesOf({ ACUITY_KEYS: 'rediss:/:secret@host' }), [
    'ACUITY_KEYS must be file:PATH or redis://…',
  ]);
});

t.test('a long or many-lined value is shown as one short line', async (t) => {
  const [mistake = ''] = mistakesOf({ ACUITY_PORT: `1\n${'2'.repeat(10_000)}` });
  t.ok(mistake.length < 150);
  t.notMatch(mistake, '\n');
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
  t.match(mistakesOf({ ACUITY_HTTP_THREADS: '3', ACUITY_WORKERS: '2' }), [
    /^ACUITY_WORKERS must be at least/,
  ]);
  t.match(mistakesOf({ ACUITY_BODIES_MAX_BYTES: '4194303' }), [/^ACUITY_BODIES_MAX_BYTES must be at least/]);
  t.match(mistakesOf({ ACUITY_PORT: '9464' }), [/^ACUITY_ADMIN_PORT must differ/]);
  t.strictSame(mistakesOf({ ACUITY_PORT: '9464', ACUITY_ADMIN_HOST: '127.0.0.2' }), []);
  t.strictSame(mistakesOf({ ACUITY_PORT: '0', ACUITY_ADMIN_PORT: '0' }), [], 'two free ports differ');
});

t.test(
  'the page /try is there where only this machine reaches it, and elsewhere where it is wanted',
  async (t) => {
    for (const ACUITY_ADMIN_HOST of [
      '127.0.0.1',
      '127.1.2.3',
      '::1',
      '::ffff:127.0.0.1',
      'localhost',
      'LOCALHOST',
    ]) {
      t.equal(configOf({ ACUITY_ADMIN_HOST }).tryPage, true, ACUITY_ADMIN_HOST);
      t.equal(configOf({ ACUITY_ADMIN_HOST, ACUITY_TRY: 'false' }).tryPage, false, ACUITY_ADMIN_HOST);
    }
    for (const ACUITY_ADMIN_HOST of [
      '0.0.0.0',
      '::',
      '10.0.0.1',
      '127.0.0.1.example',
      'ops.example',
      '1271.0.0.1',
    ]) {
      t.equal(configOf({ ACUITY_ADMIN_HOST }).tryPage, false, ACUITY_ADMIN_HOST);
      t.equal(configOf({ ACUITY_ADMIN_HOST, ACUITY_TRY: 'true' }).tryPage, true, ACUITY_ADMIN_HOST);
    }
  },
);
