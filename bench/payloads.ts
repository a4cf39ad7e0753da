import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs, promisify } from 'node:util';
import { messageOf } from '#acuity/base/errors.js';
import { markdownTable } from '#acuity/base/table.js';
import * as adapters from '#acuity/client/adapters.js';
import { UnitError } from '#adapters/unitChecks.js';
import { ROOT, sourcePath } from './paths.js';
import { UsageError } from './usage.js';

export const USAGE = `npm run bench -- payloads FOLDER

What both clients' adapters make of payloads of your own: each file FOLDER/*.json is an object with "provider" (as
"oura", "googleHealth") and "input" (what the function takes, as in packages/cases/adapters). Python is left out where
there is none.`;

interface Payload {
  readonly provider: string;
  readonly input: unknown;
}

type Said = { readonly night: string | null; readonly session: unknown } | { readonly refused: string };

const ADAPTERS = adapters as unknown as Readonly<Record<string, (input: unknown) => adapters.Adapted>>;
const run = promisify(execFile);

/** What comes of a folder of payloads, in both clients. @throws UsageError */
export async function runPayloads(args: readonly string[]): Promise<void> {
  const files = filesOf(args);
  const payloads = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Payload);
  const said = payloads.map(saidOf);
  const inPython = await saidInPython(files);
  const rows = said.map((one, index) => [
    payloads[index]?.provider ?? '',
    files[index]?.split('/').at(-1) ?? '',
    'refused' in one ? `refused: ${one.refused}` : (one.night ?? 'the day alone'),
    inPython === undefined ? 'not run' : isDeepStrictEqual(one, inPython[index]) ? 'the same' : 'differs',
  ]);
  console.log(`${markdownTable([['provider', 'file', 'TypeScript', 'Python'], ...rows])}\n`);
  const refused = said.filter((one) => 'refused' in one).length;
  const providers = new Set(payloads.map(({ provider }) => provider)).size;
  const differ = rows.filter((row) => row[3] === 'differs').length;
  console.log(
    `${said.length} payloads of ${providers} providers: ${said.length - refused} read, ${refused} refused; in ${differ} the clients differ`,
  );
}

function filesOf(args: readonly string[]): string[] {
  try {
    const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
    const [folder, ...others] = positionals;
    if (folder === undefined || others.length > 0) throw new UsageError('one folder of payloads is needed');
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
    if (names.length === 0) throw new UsageError('the folder has no .json file');
    return names.toSorted().map((name) => join(folder, name));
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(messageOf(error));
  }
}

function saidOf({ provider, input }: Payload): Said {
  const adapter = ADAPTERS[`from${provider.charAt(0).toUpperCase()}${provider.slice(1)}`];
  if (adapter === undefined) throw new UsageError(`there is no adapter of ${provider}`);
  try {
    const { night, session } = adapter(input);
    return { night, session };
  } catch (error) {
    if (error instanceof adapters.AdapterError || error instanceof UnitError)
      return { refused: `${error.name}: ${error.message}` };
    throw error;
  }
}

async function saidInPython(files: readonly string[]): Promise<Said[] | undefined> {
  const isThere = await run('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  const env = { ...process.env, PYTHONPATH: join(ROOT, 'packages/client-python/src') };
  const script = sourcePath('payloads', 'read.py');
  const { stdout } = await run('python3', ['-B', script, ...files], { env, maxBuffer: 1 << 28 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Said);
}
