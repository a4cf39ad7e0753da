import { messageOf, OperatorError } from '../base/errors.js';
import { errorCode, systemReason } from '../files/fileError.js';

/** An address to listen on, and the variables that set it. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  readonly hostVariable: 'ACUITY_HOST' | 'ACUITY_ADMIN_HOST';
  readonly portVariable: 'ACUITY_PORT' | 'ACUITY_ADMIN_PORT';
}

/** Why `listener` could not be opened and what to change, in one line. */
export function listenError(error: unknown, listener: Listener): OperatorError {
  const { host, port } = listener;
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new OperatorError(`cannot listen on ${address}: ${causeOf(error, listener)}`, { cause: error });
}

function causeOf(error: unknown, { hostVariable, portVariable }: Listener): string {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return `the port is taken; set ${portVariable} to another (0 takes a free one)`;
    case 'EACCES':
      return `this user may not take that port; set ${portVariable} to one of 1024 or more`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `that is no address of this machine; set ${hostVariable} to one that is`;
    default:
      return systemReason(error) ?? messageOf(error);
  }
}
