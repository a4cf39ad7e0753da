/** The exit codes of all commands, from sysexits.h where it has one. */
export const EXIT = {
  failed: 1,
  /** Mistaken options or names. */
  usage: 64,
  /** Bad rows, damaged data. */
  data: 65,
  /** A defect, or a worker that hangs. */
  software: 70,
  /** An input or output that fails. */
  io: 74,
  /** To be run again. */
  again: 75,
  misconfigured: 78,
  /** As of a program that SIGPIPE ends, which Node ignores. */
  noReader: 141,
} as const;
