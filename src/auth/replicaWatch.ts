import { fieldsOf, KEYS } from './redisNames.js';

/** A replica that was not heard of for this long has no share of a quota. */
const SILENT_MS = 5000;
/** And after this long it is forgotten. */
const FORGOTTEN_MS = 60_000;
const FORGOTTEN_S = FORGOTTEN_MS / 1000;

/** Knows which replicas report, and notices when the store forgot a report of this one. */
export class ReplicaWatch {
  readonly #name: string;
  /** What each replica last said of itself, and when that was new. */
  readonly #heard = new Map<string, { readonly field: string; readonly atMs: number }>();
  #sent = 0;
  /** The last report that was answered. */
  #answered = 0;
  #nowMs = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** How many replicas there are, this one included. */
  get count(): number {
    const living = [...this.#heard.values()].filter(({ atMs }) => this.#nowMs - atMs < SILENT_MS);
    return 1 + living.length;
  }

  /** The commands at the head of a report; `heard` takes the reply to the first of them. */
  commands(keysToken: string): string[][] {
    const isForgotten = ({ atMs }: { readonly atMs: number }): boolean => this.#nowMs - atMs > FORGOTTEN_MS;
    const gone = [...this.#heard].filter(([, heard]) => isForgotten(heard)).map(([name]) => name);
    return [
      ['HGETALL', KEYS.replicas],
      ['HSET', KEYS.replicas, this.#name, `${++this.#sent} ${keysToken}`],
      ['EXPIRE', KEYS.replicas, `${FORGOTTEN_S}`],
      ...(gone.length > 0 ? [['HDEL', KEYS.replicas, ...gone]] : []),
    ];
  }

  /**
   * Returns whether the store has the last answered report of this replica, and none since. If not, it has forgotten
   * something, or may have before a report of which the answer was lost.
   */
  heard(reply: unknown, nowMs: number): boolean {
    this.#nowMs = nowMs;
    const fields = fieldsOf(reply);
    for (const [name, field] of fields)
      if (name !== this.#name && this.#heard.get(name)?.field !== field)
        this.#heard.set(name, { field, atMs: nowMs });
    for (const name of this.#heard.keys())
      if (!fields.has(name) && nowMs - (this.#heard.get(name)?.atMs ?? 0) > SILENT_MS)
        this.#heard.delete(name);
    const stored = Number.parseInt(fields.get(this.#name) ?? '0', 10);
    const isKept = stored === this.#answered;
    this.#answered = this.#sent;
    return isKept;
  }
}
