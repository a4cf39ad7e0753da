/** What is true of a request wherever it is looked at: the service and the clients have it in common. */
const RULES = '^packages/rules/';
/** Sessions from what providers send: the service's own thread and the TypeScript client have it in common. */
const ADAPTERS = '^packages/adapters/';

/**
 * The import arrows of docs/internals/ARCHITECTURE.md, as rules. Each layer names the layers that it may import; all may import
 * packages/rules. A folder in a layer that is named here is a layer of its own.
 */
const LAYERS = {
  base: [],
  'base/files': ['base'],
  'base/process': ['base', 'scripts/platform\\.cjs'],
  config: ['base'],
  contract: ['packages/adapters', 'base'],
  model: ['base', 'base/files', 'config', 'contract'],
  night: ['contract', 'model'],
  'night/history': ['base', 'contract', 'night'],
  'night/explained': ['contract', 'model', 'night'],
  read: ['packages/adapters', 'base', 'contract', 'night', 'night/history'],
  score: ['base', 'base/process', 'config', 'contract', 'model', 'night', 'night/explained', 'read'],
  'score/worker': [
    'base',
    'base/process',
    'contract',
    'model',
    'night',
    'night/explained',
    'score/(protocol|taskRing|batchBuffers)\\.',
  ],
  auth: ['base', 'base/files', 'config', 'contract'],
  http: [
    'base',
    'base/process',
    'config',
    'contract',
    'night',
    'night/history',
    'night/explained',
    'read',
    'score',
    'auth',
  ],
  admin: ['base', 'base/files', 'base/process', 'config', 'contract'],
  serve: [
    'base',
    'base/files',
    'base/process',
    'config',
    'contract',
    'model',
    'night',
    'read',
    'score',
    'auth',
    'http',
    'admin',
  ],
  lake: [
    'base',
    'base/files',
    'base/process',
    'config',
    'contract',
    'model',
    'night',
    'night/history',
    'night/explained',
    'read',
    'score',
  ],
  judge: ['base', 'base/process', 'config', 'contract', 'model', 'night', 'lake'],
  adapt: ['packages/adapters', 'base', 'base/process'],
  'tune/load': ['base', 'contract'],
  tune: ['base', 'base/process', 'config', 'contract', 'auth', 'tune/load'],
};

/** The only files that may import a technology. */
const OWNERS = {
  'uWebSockets\\.js': ['^src/http/'],
  piscina: ['^src/score/pool\\.ts$'],
  'onnxruntime-node': ['^src/score/worker/session\\.ts$', '^native-models/training/'],
  '(redis|ioredis|@redis/.*)': ['^src/auth/redis/redisConnection\\.ts$'],
  'apache-arrow': ['^src/lake/\\w+/(arrow\\w+|engineSources|page|scoreColumns)\\.ts$'],
  '@duckdb': ['^src/lake/\\w+/engine\\w*\\.ts$'],
  pino: ['^src/base/process/log\\.ts$'],
  commander: ['^src/main\\.ts$', '^src/commands/'],
  'lru-cache': ['^src/auth/'],
  '@opentelemetry': ['^src/serve/exporter\\.ts$'],
};

/** The layers in the folder of `layer`. */
const within = (layer) => Object.keys(LAYERS).filter((other) => other.startsWith(`${layer}/`));
/** The files of a layer, without those of the layers in its folder. */
const filesOf = (layer) =>
  `^src/${layer}/${within(layer)
    .map((other) => `(?!${other.slice(layer.length + 1)}/)`)
    .join('')}`;
/** What an entry of LAYERS names: a layer, some of its files, or a package. */
const pathOf = (name) => {
  if (name.startsWith('scripts/')) return `^${name}$`;
  if (name.startsWith('packages/')) return `^${name}/`;
  return name.includes('\\.') ? `^src/${name}` : filesOf(name);
};

const arrows = Object.entries(LAYERS).map(([layer, below]) => ({
  name: `${layer.replace('/', '-')}-imports-down`,
  comment: `src/${layer} may import ${below.length === 0 ? 'nothing of ours' : below.join(', ')}`,
  severity: 'error',
  from: { path: filesOf(layer) },
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
      comment: 'worker code runs in its own thread: score/pool.ts names it by URL',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/score/worker/' },
      to: { path: '^src/score/worker/' },
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
