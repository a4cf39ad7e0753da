/** Reads the configuration from the environment, and checks it. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { isLoopback } from '../base/loopback.js';
import { nearestName } from '#rules/nearest.js';
import { descriptorsMax, usableCores } from './cores.js';
import type { Environment } from './environment.js';
import { expectation, type Field, keyword, type Variable, VARIABLES } from './variables.js';

export { environment, prepareEnvironment, type Environment } from './environment.js';

/** The effective configuration: every value checked, every default filled in, frozen. */
export type Config = { readonly [F in Field]: Static<(typeof VARIABLES)[F]['schema']> };

/** The properties of the machine that derived defaults depend on. */
export interface Machine {
  readonly cores: number;
  /** File descriptors that the process may open. */
  readonly descriptors: number;
  /** Folder that the operator's relative paths start from. */
  readonly workingDir: string;
  /** Folder of the package, which contains the default model. */
  readonly packageDir: string;
}

export type ConfigReading =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; /** One line each. */ readonly mistakes: readonly string[] };

type Given = { [F in Field]?: Config[F] | undefined };

const FIELDS = Object.keys(VARIABLES) as Field[];
const NAMES = FIELDS.map((field) => VARIABLES[field].env);
const PREFIX = 'ACUITY_';
const SHOWN_CHARS_MAX = 60;

/** Reads the configuration, or lists every mistake in it. */
export function readConfig(env: Environment, machine: Machine = thisMachine()): ConfigReading {
  const given: Given = {};
  const mistakes = unknownNames(env);
  const mistaken = new Set<Field>();
  for (const field of FIELDS) {
    const reading = readVariable(field, env);
    if (reading === undefined) continue;
    if (reading.mistake === undefined) Object.assign(given, { [field]: reading.value });
    else {
      mistakes.push(reading.mistake);
      mistaken.add(field);
    }
  }
  const config = withDefaults(given, machine);
  mistakes.push(...contradictions(config, mistaken));
  return mistakes.length > 0 ? { ok: false, mistakes } : { ok: true, config };
}

/** The configuration with no variable set. */
export function defaultConfig(machine: Machine = thisMachine()): Config {
  return withDefaults({}, machine);
}

function thisMachine(): Machine {
  return {
    cores: usableCores(),
    descriptors: descriptorsMax(),
    workingDir: process.cwd(),
    packageDir: fileURLToPath(new URL('../../', import.meta.url)),
  };
}

/** The callers' variables (docs/API.md). A shell that sets them for the SDK may start the server too. */
const CALLERS_NAMES: readonly string[] = ['ACUITY_API_KEY', 'ACUITY_URL'];

function unknownNames(env: Environment): string[] {
  return Object.keys(env)
    .filter(
      (name) =>
        name.startsWith(PREFIX) &&
        !NAMES.some((known) => known === name) &&
        !CALLERS_NAMES.includes(name) &&
        !isFromKubernetes(name),
    )
    .map((name) => {
      // One edit for every three letters after the prefix that all names share.
      const meant = nearestName(name, NAMES, Math.ceil((name.length - PREFIX.length) / 3));
      return `${name} is not a known variable${meant === undefined ? '' : `; did you mean ${meant}?`}`;
    });
}

/** Kubernetes injects these into every pod beside a Service called acuity. */
function isFromKubernetes(name: string, value = ''): boolean {
  return /^ACUITY_(SERVICE|PORT)_/.test(name) || (name === 'ACUITY_PORT' && value.startsWith('tcp://'));
}

interface VariableReading {
  readonly value?: unknown;
  readonly mistake?: string;
}

function readVariable(field: Field, env: Environment): VariableReading | undefined {
  const variable: Variable = VARIABLES[field];
  const [name, text] = lookUp(field, env);
  if (text === undefined) return undefined;
  const value = decode(variable.schema, text);
  if (text === '' && name.startsWith('OTEL_')) return undefined; // as OpenTelemetry requires
  if (text !== '' && Value.Check(variable.schema, value) && isUsable(text)) return { value };
  const shown = variable.secret ? '' : `, not ${JSON.stringify(text.slice(0, SHOWN_CHARS_MAX))}`;
  return { mistake: `${name} must be ${expectation(variable)}${shown}` };
}

/** Whether an address can be asked, where the text is one: not with port 99999, nor with a database that is no number. */
function isUsable(text: string): boolean {
  if (!/^(https?|rediss?):\/\//.test(text)) return true;
  try {
    const { protocol, username, password, pathname } = new URL(text);
    decodeURIComponent(`${username}:${password}`);
    return !protocol.startsWith('redis') || /^\/?\d*$/.test(pathname);
  } catch {
    return false;
  }
}

function lookUp(field: Field, env: Environment): [name: string, text: string | undefined] {
  const name = VARIABLES[field].env;
  const text = env[name];
  if (text !== undefined && !isFromKubernetes(name, text)) return [name, text];
  return field === 'port' ? ['PORT', env['PORT']] : [name, undefined];
}

/**
 * Converts text to the schema's type. Text that can't be converted stays text, and the schema then refuses
 * it.
 */
function decode(schema: TSchema, text: string): unknown {
  if (Type.IsInteger(schema)) return /^(0|[1-9]\d*)$/.test(text) ? Number(text) : text;
  if (Type.IsNumber(schema)) return /^(0|[1-9]\d*|(?=\.))(\.\d+)?$/.test(text) ? Number(text) : text;
  if (Type.IsBoolean(schema)) return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

function withDefaults(given: Given, machine: Machine): Config {
  const config = {} as { -readonly [F in Field]: Config[F] };
  for (const field of FIELDS) {
    const schema: TSchema = VARIABLES[field].schema;
    Object.assign(config, { [field]: given[field] ?? keyword(schema, 'default') });
  }
  config.connectionsMax ??= connectionsFor(machine.descriptors);
  config.tryPage ??= isLoopback(config.adminHost);
  config.workers ??= Math.max(config.httpThreads, machine.cores - config.httpThreads);
  config.model =
    given.model === undefined
      ? resolve(machine.packageDir, 'native-models/acuity-base')
      : resolve(machine.workingDir, given.model);
  if (config.shadowModel !== '') config.shadowModel = resolve(machine.workingDir, config.shadowModel);
  if (config.socket !== '') config.socket = resolve(machine.workingDir, config.socket);
  if (config.norms !== '') config.norms = resolve(machine.workingDir, config.norms);
  return Object.freeze(config);
}

/** The process opens more than sockets: files, threads and the admin listener need descriptors too. */
const OTHER_DESCRIPTORS = 256;
const CONNECTIONS_DEFAULT_MAX = 50_000;

function connectionsFor(descriptors: number): number {
  return Math.max(1, Math.min(CONNECTIONS_DEFAULT_MAX, descriptors - OTHER_DESCRIPTORS));
}

interface Rule {
  readonly fields: readonly Field[];
  readonly broken: (config: Config) => boolean;
  readonly mistake: string;
}

/** The longest path of a socket that the system takes. */
const SOCKET_BYTES_MAX = 107;

const RULES: readonly Rule[] = [
  {
    fields: ['overloadStatus'],
    broken: ({ overloadStatus }) => overloadStatus !== 503 && overloadStatus !== 429,
    mistake: 'ACUITY_OVERLOAD_STATUS must be 503 or 429',
  },
  {
    fields: ['workers', 'httpThreads'],
    broken: ({ workers, httpThreads }) => workers < httpThreads,
    mistake: 'ACUITY_WORKERS must be at least ACUITY_HTTP_THREADS: each event loop has its own workers',
  },
  {
    fields: ['bodiesMaxBytes', 'bodyMaxBytes'],
    broken: ({ bodiesMaxBytes, bodyMaxBytes }) => bodiesMaxBytes < bodyMaxBytes,
    mistake:
      'ACUITY_BODIES_MAX_BYTES must be at least ACUITY_BODY_MAX_BYTES: else no longest body is ever admitted',
  },
  {
    fields: ['socket', 'httpThreads'],
    broken: ({ socket, httpThreads }) =>
      socketPaths(socket, httpThreads).some((path) => Buffer.byteLength(path) > SOCKET_BYTES_MAX),
    mistake: `ACUITY_SOCKET must be a path of at most ${SOCKET_BYTES_MAX} bytes from the root, .1 of several event loops included`,
  },
  {
    fields: ['host', 'port', 'socket', 'adminHost', 'adminPort'],
    broken: ({ host, port, socket, adminHost, adminPort }) =>
      socket === '' && port !== 0 && port === adminPort && host === adminHost,
    mistake: 'ACUITY_ADMIN_PORT must differ from ACUITY_PORT on the same host',
  },
];

/** The sockets of `loops` event loops: none can be shared, as a port can. */
export function socketPaths(path: string, loops: number): string[] {
  return loops === 1 ? [path] : Array.from({ length: loops }, (_, loop) => `${path}.${loop + 1}`);
}

/** A rule is skipped if one of its values is itself mistaken. */
function contradictions(config: Config, mistaken: ReadonlySet<Field>): string[] {
  return RULES.filter(
    ({ fields, broken }) => !fields.some((field) => mistaken.has(field)) && broken(config),
  ).map(({ mistake }) => mistake);
}
