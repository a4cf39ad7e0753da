/** What is true of a request wherever it is looked at: the service and the clients have it in common. */
const RULES = '^packages/rules/';
/** Sessions from what providers send: the service's own thread and the TypeScript client have it in common. */
const ADAPTERS = '^packages/adapters/';

/** The import arrows of docs/internals/ARCHITECTURE.md, as rules. Each layer names the layers that it may import; all may import packages/rules. */
const LAYERS = {
  base: [],
  files: ['base'],
  process: ['base', 'scripts/platform\\.cjs'],
  config: ['base'],
  norms: ['base'],
  contract: ['packages/adapters', 'base', 'norms'],
  model: ['base', 'files', 'config', 'contract'],
  records: ['contract'],
  pipeline: ['norms', 'contract', 'model', 'records'],
  history: ['base', 'contract', 'records', 'pipeline'],
  reading: ['norms', 'contract', 'records', 'pipeline', 'history'],
  recording: ['packages/adapters', 'base', 'process', 'contract', 'reading'],
  auth: ['base', 'files', 'config', 'contract', 'model'],
  scoring: ['base', 'process', 'config', 'contract', 'model', 'records', 'reading', 'pipeline'],
  worker: [
    'base',
    'process',
    'contract',
    'model',
    'records',
    'pipeline',
    'scoring/(protocol|taskRing|batchBuffers)\\.',
  ],
  tracing: ['base', 'contract'],
  http: [
    'base',
    'process',
    'config',
    'contract',
    'model',
    'records',
    'history',
    'reading',
    'recording',
    'pipeline',
    'scoring',
    'auth',
    'tracing',
  ],
  admin: ['base', 'files', 'process', 'config', 'contract'],
  server: [
    'base',
    'files',
    'process',
    'config',
    'norms',
    'contract',
    'model',
    'records',
    'history',
    'reading',
    'recording',
    'pipeline',
    'scoring',
    'auth',
    'tracing',
    'http',
    'admin',
  ],
  lake: [
    'base',
    'files',
    'process',
    'config',
    'norms',
    'contract',
    'model',
    'records',
    'history',
    'reading',
    'recording',
    'pipeline',
    'scoring',
  ],
  adapt: ['packages/adapters', 'base', 'process'],
  judge: ['base', 'process', 'config', 'contract', 'model', 'records', 'pipeline', 'lake'],
  load: ['base', 'contract'],
  tune: ['base', 'process', 'config', 'contract', 'load', 'auth'],
};

/** The only files that may import a technology. */
const OWNERS = {
  'uWebSockets\\.js': ['^src/http/'],
  piscina: ['^src/scoring/pool\\.ts$'],
  'onnxruntime-node': ['^src/worker/session\\.ts$', '^native-models/training/'],
  '(redis|ioredis|@redis/.*)': ['^src/auth/redisConnection\\.ts$'],
  'apache-arrow': ['^src/lake/(arrow\\w+|engineSources|page|scoreColumns)\\.ts$'],
  '@duckdb': ['^src/lake/engine\\w*\\.ts$'],
  pino: ['^src/process/log\\.ts$'],
  commander: ['^src/main\\.ts$', '^src/commands/'],
  'lru-cache': ['^src/auth/'],
  '@opentelemetry': ['^src/tracing/exporter\\.ts$'],
};

/** What an entry of LAYERS names: a folder of src, some of its files, or a package. */
const pathOf = (name) =>
  name.startsWith('scripts/')
    ? `^${name}$`
    : name.startsWith('packages/')
      ? `^${name}/`
      : name.includes('\\.')
        ? `^src/${name}`
        : `^src/${name}/`;

const arrows = Object.entries(LAYERS).map(([layer, below]) => ({
  name: `${layer}-imports-down`,
  comment: `src/${layer} may import ${below.length === 0 ? 'nothing of ours' : below.join(', ')}`,
  severity: 'error',
  from: { path: `^src/${layer}/` },
  to: {
    path: '^(src|packages|test|bench|native-models|scripts)/',
    pathNot: [RULES, ...[layer, ...below].map(pathOf)],
  },
}));

// `commander` types are commands' own business; peers and tests under bench/ and test/ compare with other servers.
const owners = Object.entries(OWNERS).map(([technology, files]) => ({
  name: `one-owner-${technology.replace(/[^\w-]/g, '')}`,
  comment: `only ${files.join(' and ')} may import ${technology}`,
  severity: 'error',
  from: { path: '^(src|native-models|packages)/', pathNot: files },
  to: { path: `(^|node_modules/)${technology}(/|$)` },
}));

module.exports = {
  forbidden: [
    ...arrows,
    ...owners,
    {
      name: 'client-stands-alone',
      comment:
        'what others install may bring nothing of the service but its rules and adapters, and nothing of others',
      severity: 'error',
      from: { path: '^packages/client-ts/src/' },
      to: {
        pathNot: ['^packages/client-ts/src/', RULES, ADAPTERS],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'rules-stand-alone',
      comment: 'pure TypeScript: the service, the clients and the generated tables rest on it',
      severity: 'error',
      from: { path: RULES },
      to: { pathNot: [RULES] },
    },
    {
      name: 'adapters-stand-alone',
      comment: 'pure TypeScript, as the rules are: browsers and phones load it',
      severity: 'error',
      from: { path: ADAPTERS },
      to: { pathNot: [ADAPTERS, RULES] },
    },
    {
      name: 'no-circular',
      comment: 'a cycle has no bottom to start reading from',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'commands-compose-alone',
      comment: 'only main.ts may import commands',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/main\\.ts$', '^src/commands/'] },
      to: { path: '^src/commands/' },
    },
    {
      name: 'nothing-imports-main',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/main\\.ts$' },
    },
    {
      name: 'worker-by-url-only',
      comment: 'worker code runs in its own thread: scoring/pool.ts names it by URL',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/worker/' },
      to: { path: '^src/worker/' },
    },
    {
      name: 'service-without-tests',
      comment: 'nothing that ships imports what does not (scripts/platform.cjs ships)',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|native-models|scripts)/', pathNot: '^scripts/platform\\.cjs$' },
    },
    {
      name: 'production-dependencies-only',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: { path: '^src/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|\\.build)/' },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
