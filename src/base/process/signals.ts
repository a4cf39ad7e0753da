/** The signals of this process, taken in one place from the first line of its code to its end. */
import inspector from 'node:inspector';
import { constants } from 'node:os';
import { TERMINALS } from './leave.js';

/** Each would end the process by default; SIGQUIT would also write its memory to a file. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2', 'SIGALRM'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/**
 * Whether a signal asks for another look at the model. A terminal that closes sends the same signal, and then none is
 * left to stop the service.
 */
export const isReload = (signal: StopSignal): boolean => signal === 'SIGHUP' && TERMINALS.length === 0;

/**
 * Keeps Node's inspector shut, which SIGUSR1 opens on a port of this machine: a user who reaches that runs code in this
 * process. Before its first line of code a process can't take signals, so what one has opened by then is closed,
 * unless an option of the command line or `nodeOptions` (the variable) asks for it.
 */
export function keepInspectorShut(nodeOptions = ''): void {
  process.on('SIGUSR1', () => undefined);
  const options = [...process.execArgv, nodeOptions].join(' ');
  if (!/--inspect(-brk|-wait)?(=|\s|$)/.test(options)) inspector.close();
}

/** Nothing has begun yet that would have to be finished, and no model was loaded. */
let take = (signal: StopSignal): void => {
  if (!isReload(signal)) process.exit(128 + constants.signals[signal]);
};

/** Takes the signals that stop a service. Until there is one, they end the process at once. */
export function takeStopSignals(): void {
  for (const signal of STOP_SIGNALS) process.on(signal, () => take(signal));
}

/** `onSignal` gets every further signal. */
export function passStopSignals(onSignal: (signal: StopSignal) => void): void {
  take = onSignal;
}
