/** The operations on files of others, and how they run: directly, or on a thread. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { removeLeftovers, replaceFile } from './atomicFile.js';
import { ifPresentSync, NOT_A_FILE, systemError } from './fileError.js';

/** The result of a look at a file. */
export interface Look {
  /** Changes with the file or its content; undefined: there is no file. */
  readonly signature: string | undefined;
  /** The content; undefined if there is no file, or its signature is the known one. */
  readonly text: string | undefined;
}

/**
 * The service's operations on files of others: keys, daily counts, models. Anything may take the place of such a file,
 * and its disk may stop answering; fileThreads.ts bounds the wait.
 */
export const FILE_OPERATIONS = {
  look,
  readText: (path: string): string => readRegular(path).toString('utf8'),
  /** SHA-256 of the content, in hex. */
  hashOf: (path: string): string => createHash('sha256').update(readRegular(path)).digest('hex'),
  realPath: (path: string): string => realpathSync.native(path),
  /** Changes with the files of a folder and their content. */
  folderSignature: (folder: string): string =>
    readdirSync(folder)
      .map((name) => `${name} ${signatureOf(join(folder, name))}`)
      .join('\n'),
  replaceFile: (path: string, text: string): void => replaceFile(path, [text]),
  removeLeftovers,
  namesIn: (folder: string): string[] => readdirSync(folder),
  remove: (path: string): void => unlinkSync(path),
};

type Operations = typeof FILE_OPERATIONS;
export type FileOperation = keyof Operations;

/** The same operations, asynchronous. They reject with a system error. */
export type Files = {
  readonly [Name in FileOperation]: (
    ...args: Parameters<Operations[Name]>
  ) => Promise<ReturnType<Operations[Name]>>;
};

/** `Files` that pass each call to `run`. */
export function filesBy(run: (name: FileOperation, args: readonly string[]) => Promise<unknown>): Files {
  const names = Object.keys(FILE_OPERATIONS) as FileOperation[];
  const entries = names.map((name) => [name, (...args: string[]) => run(name, args)]);
  return Object.fromEntries(entries) as Files;
}

/** Runs one operation on this thread. */
export function runOperation(name: FileOperation, args: readonly string[]): unknown {
  return (FILE_OPERATIONS[name] as (...given: readonly string[]) => unknown)(...args);
}

/** For commands, which can wait: runs each operation on the caller's thread. */
export const directFiles: Files = filesBy(async (name, args) => runOperation(name, args));

function look(path: string, knownSignature?: string): Look {
  // Before reading, so that the next look sees a write in between.
  const signature = signatureOf(path);
  const isKnown = signature === undefined || signature === knownSignature;
  const text = isKnown ? undefined : ifPresentSync(() => readRegular(path).toString('utf8'));
  return { signature, text };
}

function signatureOf(path: string): string | undefined {
  const status = ifPresentSync(() => statSync(path, { bigint: true }));
  return status && `${status.dev}:${status.ino}:${status.size}:${status.mtimeNs}:${status.ctimeNs}`;
}

/** @throws a system error; EFTYPE for a folder, a pipe or a device, which could be read without end */
function readRegular(path: string): Buffer {
  // Without O_NONBLOCK, which Windows lacks, opening a pipe without a writer waits for ever.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!fstatSync(file).isFile()) throw systemError(NOT_A_FILE, `${path} is not a regular file`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** An operation to be run on another thread. */
export interface FileQuestion {
  readonly operation: FileOperation;
  readonly args: readonly string[];
}
