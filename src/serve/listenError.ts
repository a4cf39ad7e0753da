import { messageOf, OperatorError } from '../base/errors.js';
import { errorCode, systemReason } from '../base/files/fileError.js';

/** Why `listener` could not be opened and what to change, in one line. */
export function listenError(error: unknown, listener: Listener): OperatorError {
  const { host, port } = listener;
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new OperatorError(`cannot listen on ${address}: ${causeOf(error, listener)}`, { cause: error });
}

/** An address to listen on, and the variables that set it. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  /** How their names begin. */
  readonly variables: 'ACUITY' | 'ACUITY_ADMIN';
}

function causeOf(error: unknown, { variables }: Listener): string {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return `the port is taken; set ${variables}_PORT to another (0 takes a free one)`;
    case 'EACCES':
      return `this user may not take that port; set ${variables}_PORT to one of 1024 or more`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `that is no address of this machine; set ${variables}_HOST to one that is`;
    default:
      return systemReason(error) ?? messageOf(error);
  }
}
