/** Items by day; only those near the moment to score are kept, or else the newest. @internal */
export class Recent<Item> {
  private readonly byDay = new Map<number, Item[]>();
  private fromDay: number;
  private hasDropped = false;

  constructor(
    /** The first and the last day to keep; without them `days` and the newest. */
    private readonly around: { readonly fromDay: number; readonly toDay: number } | undefined,
    private readonly days: number,
  ) {
    this.fromDay = around?.fromDay ?? -Infinity;
  }

  add(day: number, item: Item): void {
    if (!(day <= (this.around?.toDay ?? Infinity))) return;
    if (day < this.fromDay) {
      this.hasDropped = true;
      return;
    }
    const ofDay = this.byDay.get(day);
    if (ofDay !== undefined) {
      ofDay.push(item);
      return;
    }
    this.byDay.set(day, [item]);
    if (this.around === undefined) this.dropBefore(day - this.days);
  }

  private dropBefore(day: number): void {
    this.fromDay = Math.max(this.fromDay, day);
    for (const kept of this.byDay.keys()) {
      if (kept >= this.fromDay) continue;
      this.byDay.delete(kept);
      this.hasDropped = true;
    }
  }

  /** Whether an item of this day would be kept. */
  holds(day: number): boolean {
    return day >= this.fromDay && day <= (this.around?.toDay ?? Infinity);
  }

  /** Whether some of a day may be missing because newer ones came. */
  lacks(day: number): boolean {
    return this.around === undefined && this.hasDropped && day < this.fromDay;
  }

  items(): Item[] {
    return [...this.byDay.values()].flat();
  }
}
