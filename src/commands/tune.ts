/** The command `acuity tune`. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { PAYLOADS } from '../tune/load/payloads.js';
import { configOrExit } from './config.js';
import type { TuneOptions } from '../tune/tune.js';
import { messageOf } from '../base/errors.js';
import { OutputError } from '../base/process/print.js';
import { EXIT } from '../base/process/exitCodes.js';

const MINUTES_MAX = 1_440;
const MS_MAX = 60_000;
const CONNECTIONS_MAX = 1_024;

interface TuneFlags {
  readonly p99Ms?: number;
  readonly minutes: number;
  readonly connections: number;
  readonly payload: TuneOptions['payload'];
  readonly requests?: string;
}

export function registerTune(program: Command): void {
  program
    .command('tune')
    .description('find the best settings for this machine, and print them as environment variables to paste')
    .option('--p99-ms <n>', 'accept no setting whose 99th percentile is above this', numberUpTo(MS_MAX))
    .option('--minutes <n>', 'never take longer than this', numberUpTo(MINUTES_MAX), 5)
    .option('--connections <n>', 'connections of the load', numberUpTo(CONNECTIONS_MAX), 64)
    .addOption(
      new Option('--payload <name>', 'which requests to send')
        .choices([...PAYLOADS, 'mixed'])
        .default('mixed'),
    )
    .option('--requests <file>', 'send your own requests instead: one JSON body a line')
    .addHelpText('after', '\nRun it on the machine that will serve, with nothing else to do.')
    .action(async (flags: TuneFlags, command: Command) => {
      configOrExit(); // otherwise a mistake in the environment fails every trial
      const { tune } = await import('../tune/tune.js');
      try {
        await tune(optionsOf(flags));
      } catch (error) {
        if (error instanceof OutputError) throw error;
        command.error(`acuity tune: ${messageOf(error)}`, { exitCode: EXIT.failed });
      }
    });
}

function optionsOf({ p99Ms, minutes, connections, payload, requests }: TuneFlags): TuneOptions {
  return {
    goal: { p99Ms },
    minutes,
    connections: Math.ceil(connections),
    payload,
    requestsFile: requests,
  };
}

function numberUpTo(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+(\.\d+)?$/.test(text) && value > 0 && value <= most) return value;
    throw new InvalidArgumentError(`It must be a number above 0, at most ${most}.`);
  };
}
