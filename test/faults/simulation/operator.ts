import { issue, revoked, successorOf } from '#acuity/auth/lifecycle.js';
import { RedisKeyStore } from '#acuity/auth/redis/redisKeys.js';
import type { KeyRecord } from '#acuity/auth/record.js';
import type { FleetStore } from './fleetStore.js';
import type { Line } from './line.js';
import type { Actor, Scheduler } from './scheduler.js';

/** `key`: in clear. */
export type Key = Pick<KeyRecord, 'id' | 'dailyMax' | 'ratePerS'> & { readonly key: string };

const BACKUP_MAX = 8;

/** Issues and revokes keys as an operator does: with commands of their own, which may fail. */
export class Operator {
  readonly keys: Key[] = [];
  private readonly actor: Actor;
  private readonly backup: KeyRecord[] = [];

  constructor(
    private readonly scheduler: Scheduler,
    private readonly store: FleetStore,
    /** Key id → predictions a day: those that it issues are added. */
    private readonly quotas: Map<string, number>,
    private readonly onFault: (fault: string) => void,
  ) {
    this.actor = scheduler.createActor('operator');
  }

  issue(dailyMax: number | null, ratePerS: number | null): void {
    const { record, key } = issue({ kind: 'live', dailyMax, ratePerS }, this.scheduler.wallMs);
    this.operate(async (keys) => {
      await keys.insert(record);
      if (this.backup.length < BACKUP_MAX) this.backup.push(record);
      this.know(record, key);
    });
  }

  revoke(id: string, isRotated: boolean): void {
    const nowMs = this.scheduler.wallMs;
    this.operate(async (keys) => {
      const record = (await keys.list()).find((known) => known.id === id);
      if (record === undefined || record.revokedAt !== null) return;
      const successor = isRotated ? successorOf(record, nowMs) : undefined;
      if (successor !== undefined) this.know(successor.record, successor.key);
      await keys.amend(id, (known) => ({
        ...revoked(known, nowMs),
        ...(successor && { successor: successor.record }),
      }));
    });
  }

  /** Puts the keys of the backup into a store that has lost its own. */
  restore(): void {
    this.operate(async (keys) => void (await keys.insertMissing(this.backup)));
  }

  private know({ id, dailyMax, ratePerS }: KeyRecord, key: string): void {
    this.keys.push({ id, key, dailyMax, ratePerS });
    if (dailyMax !== null) this.quotas.set(id, dailyMax);
  }

  private operate(work: (keys: RedisKeyStore) => Promise<void>): void {
    const lines: Line[] = [];
    const line = this.store.line(this.actor, lines);
    const keys = new RedisKeyStore(line, () => line);
    this.scheduler.after(this.actor, 0, () => {
      work(keys).catch(() => this.onFault('operator’s command failed'));
    });
  }
}
