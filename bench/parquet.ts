import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { messageOf } from '#acuity/base/errors.js';
import { markdownTable } from '#acuity/base/table.js';
import { peakMiBOf } from './bulk/run.js';
import { machine } from './machine.js';
import { COLUMNS, READERS, installedBytes } from './parquet/readers.js';
import { compiledPath } from './paths.js';
import { UsageError } from './usage.js';

export const USAGE = `npm run bench -- parquet FILES… [options]

  --readers LIST   of ${Object.keys(READERS).join(', ')} (default all; npm i --no-save @duckdb/node-api brings the last one)
  --seconds N      after which a reader is stopped (default 300)

Reads the columns ${COLUMNS.join(' and ')} of each file with every reader, each in a process of its own.`;

const LOOK_MS = 20;
const MIB = 2 ** 20;

/** What reads Parquet, how fast, and in how much memory. @throws UsageError */
export async function runParquet(args: readonly string[]): Promise<void> {
  const { files, readers, seconds } = optionsOf(args);
  const rows: string[][] = [];
  for (const file of files) {
    for (const name of readers) {
      const { read, peakMiB } = await readIn(name, file, seconds);
      const installed = READERS[name] === undefined ? 0 : installedBytes(READERS[name]);
      rows.push([
        `${file.replace(/^.*\//, '')}, ${Math.round(statSync(file).size / MIB)} MiB`,
        name,
        ...(typeof read === 'string'
          ? ['', '', '', read]
          : [String(read.rows), read.seconds.toFixed(1), read.cpuSeconds.toFixed(1), '']),
        peakMiB.toFixed(0),
        (installed / MIB).toFixed(1),
      ]);
    }
  }
  const header = [
    'file',
    'reader',
    'rows',
    'seconds',
    'processor seconds',
    'fails',
    'peak MiB',
    'installed MiB',
  ];
  console.log(`${machine()}\n`);
  console.log(markdownTable([header, ...rows]));
}

interface Took {
  readonly rows: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** @returns what reading took, or how it failed */
async function readIn(
  name: string,
  file: string,
  seconds: number,
): Promise<{ read: Took | string; peakMiB: number }> {
  const child = spawn(process.execPath, [compiledPath('parquet/read.js'), name, file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: seconds * 1000,
  });
  let said = '';
  let error = '';
  let peakMiB = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (error += text));
  const looks = setInterval(() => {
    try {
      peakMiB = peakMiBOf(child.pid ?? 0) || peakMiB;
    } catch {
      clearInterval(looks); // it has ended
    }
  }, LOOK_MS);
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  clearInterval(looks);
  if (code === 0) return { read: JSON.parse(said) as Took, peakMiB };
  const reason = /^\w*Error.*$/m.exec(error)?.[0] ?? /FATAL ERROR.*$/m.exec(error)?.[0];
  return { read: signal === null ? (reason ?? `ends with ${code}`) : `stopped after ${seconds} s`, peakMiB };
}

function optionsOf(args: readonly string[]): { files: string[]; readers: string[]; seconds: number } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        readers: { type: 'string', default: Object.keys(READERS).join(',') },
        seconds: { type: 'string', default: '300' },
      },
    });
    const readers = values.readers.split(',');
    const unknown = readers.find((name) => READERS[name] === undefined);
    if (unknown !== undefined) throw new Error(`no reader is called ${unknown}`);
    if (positionals.length === 0) throw new Error('no file is named');
    if (!/^[1-9]\d*$/.test(values.seconds)) throw new Error(`${values.seconds} is no whole number above 0`);
    return { files: positionals, readers, seconds: Number(values.seconds) };
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}
