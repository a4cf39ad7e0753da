import type { HttpResponse } from 'uWebSockets.js';
import {
  MALFORMED,
  PROBLEMS,
  UNPROCESSABLE,
  malformedBody,
  problemBody,
  unprocessableBody,
  type BodyProblem,
  type ProblemName,
} from '../contract/problems.js';

/** A header line of one answer beyond those that every answer has; several are put one behind the other. */
export function headerLine(name: string, value: string): string {
  return `\r\n${name}: ${value}`;
}

/**
 * What becomes of the connection behind an answer: it ends by our wish, or by that of its caller, which the library
 * has seen itself and then does not say in the answer.
 */
export type ConnectionEnd = 'stays' | 'ends' | 'endsAsAsked';

export interface Answer {
  /** Status line without the protocol, as in "200 OK". */
  readonly status: string;
  readonly requestId: string;
  /** Of `headerLine`; '' for none. */
  readonly headers: string;
  readonly body: string;
  /** HEAD: the body's length is told, the body is not sent. */
  readonly isHead: boolean;
  readonly connection: ConnectionEnd;
}

/** The one place that writes responses: whole, corked, once. The caller knows that `res` is still there. */
export function writeAnswer(res: HttpResponse, answer: Answer): void {
  if (answer.isHead && answer.connection === 'ends') return writeLastHead(res, answer);
  res.cork(() => {
    writeHead(res, answer);
    // Told to end a connection that was to stay, the library writes the header itself.
    if (answer.connection === 'endsAsAsked') writeClose(res);
    if (!answer.isHead) return res.end(answer.body, answer.connection !== 'stays');
    writeLength(res, answer);
    return res.endWithoutBody();
  });
}

/**
 * The library can't end a connection after an answer whose body is told and not sent: the build for Node 20 leaves
 * such an answer open. So the head is written to its empty line, and the connection closed; not while the library
 * reads a packet, when it has sent nothing yet.
 */
function writeLastHead(res: HttpResponse, answer: Answer): void {
  res.cork(() => {
    writeHead(res, answer);
    writeLength(res, answer);
    res.writeHeader('Connection', 'close\r\n');
  });
  res.close();
}

/**
 * RFC 9110 section 8.6: a length in the answer to HEAD must be that of the body it stands for. The build for Node 20
 * leaves the answer open where `endWithoutBody` is told a length.
 */
function writeLength(res: HttpResponse, { body }: Answer): void {
  res.writeHeader('Content-Length', String(Buffer.byteLength(body)));
}

/**
 * Writes status, headers and body at once but leaves the response open, so that what the caller still sends
 * can be watched; `res.end()` or `res.close()` finishes it.
 */
export function writeAnswerHeldOpen(res: HttpResponse, answer: Answer): void {
  res.cork(() => {
    writeHead(res, answer);
    if (answer.connection !== 'stays') writeClose(res);
    res.write(answer.body);
  });
}

const CONTENT_TYPE = Buffer.from('Content-Type');

/** Status line of an answered request. */
export const OK = '200 OK';

function writeHead(res: HttpResponse, { status, requestId, headers }: Answer): void {
  // The library writes this one by itself, and each call into it costs.
  if (status !== OK) res.writeStatus(status);
  // Each call into the library costs as much as the rest of its line, so the lines go over as one value. Nothing
  // of a caller's is in them but the request id, whose form has no line ends.
  res.writeHeader(
    CONTENT_TYPE,
    `application/json\r\nCache-Control: no-store\r\nX-Request-Id: ${requestId}${headers}`,
  );
}

function writeClose(res: HttpResponse): void {
  res.writeHeader('Connection', 'close');
}

/** Status line and body of each problem of the catalogue, made once. */
const PREPARED = Object.fromEntries(
  Object.entries(PROBLEMS).map(([name, problem]) => [
    name,
    { status: `${problem.status} ${problem.reason}`, body: problemBody(problem) },
  ]),
) as Readonly<Record<ProblemName, { readonly status: string; readonly body: string }>>;

export function problemAnswer(name: ProblemName): { readonly status: string; readonly body: string } {
  return PREPARED[name];
}

/** Status line and body of a body that cannot be scored. */
export function bodyProblemAnswer(problem: BodyProblem): { readonly status: string; readonly body: string } {
  return problem.kind === 'malformed'
    ? { status: `${MALFORMED.status} ${MALFORMED.reason}`, body: malformedBody(problem.byte) }
    : {
        status: `${UNPROCESSABLE.status} ${UNPROCESSABLE.reason}`,
        body: unprocessableBody(problem.findings),
      };
}
