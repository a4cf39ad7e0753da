/** The ready line of a peer, in the form of the service's own. */
export function announce(port: number): void {
  process.stdout.write(`${JSON.stringify({ event: 'listening', pid: process.pid, port })}\n`);
}
