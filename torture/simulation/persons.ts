import { HistoryDesk } from '#acuity/history/historyDesk.js';
import { dateOf } from '#acuity/history/night.js';
import { QUANTITIES } from '#acuity/history/longRun.js';
import type { Random } from '#acuity/base/random.js';
import { LAYOUT } from '#acuity/records/layout.js';
import { createReader, isBodyProblem } from '#acuity/reading/read.js';
import { SlowHistory } from '#fixtures/slowHistory.js';
import { pastSumOf, THRESHOLDS, type Marks } from './scores.js';

const FIRST_DAY = 20_000;
const readRequest = createReader({ daySamplesMax: 200, nightSamplesMax: 200 });
const desk = new HistoryDesk();

/** Somebody whose past is kept by a caller: it sends a night, and keeps what the answer gives of the history. */
export class Person {
  /** As it was last stored. */
  history = '';
  nights = 0;
  isWaiting = false;
  private latest: number;
  private readonly slow = new SlowHistory();

  constructor(private readonly random: Random) {
    this.latest = FIRST_DAY + Math.floor(1000 * random());
  }

  /** The next night: as a rule the one after, now and then the same again, a late one, or one after a pause. */
  nextDay(): number {
    const chance = this.random();
    if (chance < 0.7) return this.latest + 1;
    if (chance < 0.8) return this.latest;
    if (chance < 0.9) return this.latest - Math.floor(9 * this.random());
    return this.latest + 2 + Math.floor((chance < 0.97 ? 20 : 200) * this.random());
  }

  nightOf(day: number): string {
    return dateOf(day);
  }

  /** What tells the night, with the past as it is, from every other. */
  marks(weight: number, day: number): Marks {
    const past = copyOf(this.slow).take({ day, record: new Float64Array(LAYOUT.RECORD_LENGTH) }).past;
    const pastSum = pastSumOf(past.map(({ hundredths }) => (hundredths[0] ?? NaN) / 100));
    return { weight, pastCount: past.length, pastSum };
  }

  /** The answer has come, and is stored. */
  store(body: Uint8Array, day: number, scores: Float32Array, history: string): void {
    const request = readRequest(body);
    if (isBodyProblem(request)) throw new Error('a night that the service scored is none');
    const record = request.records.slice(0, LAYOUT.RECORD_LENGTH);
    const [valence = NaN, arousal = NaN] = scores.subarray(5);
    this.slow.take({ day, record }).scored({
      hundredths: [...scores.subarray(0, 5)].map((score) => Math.round(score * 100)),
      chances: [valence, arousal].map((chance) => Math.round(chance * 10_000) / 10_000),
      labels: [valence >= THRESHOLDS.valence ? 1 : -1, arousal >= THRESHOLDS.arousal ? 1 : -1],
    });
    this.history = history;
    this.latest = Math.max(this.latest, day);
    this.nights++;
  }

  /** Where the stored history is not what plain code says; undefined where it is. */
  difference(): string | undefined {
    if (this.history === '') return this.nights === 0 ? undefined : 'no history';
    if (!desk.read(this.history)) return 'a history that can not be read';
    const { history } = desk;
    const { nights, retired } = this.slow;
    if (history.count !== nights.length) return `${history.count} nights, not ${nights.length}`;
    for (const [at, { day, hundredths, labels, chances, record }] of nights.entries()) {
      const first = at * LAYOUT.TARGET_LENGTH;
      const target = [...history.targets.subarray(first, first + LAYOUT.TARGET_LENGTH)];
      const weight = history.records[at * LAYOUT.RECORD_LENGTH + LAYOUT.WEIGHT] ?? NaN;
      const said = [history.days[at], ...target, ...history.chances.subarray(2 * at, 2 * at + 2)].join();
      const due = [day, ...hundredths.map((score) => score / 100), ...labels, ...chances].join();
      if (said !== due) return `night ${at}: ${said}, not ${due}`;
      if (Math.abs(weight - (record[LAYOUT.WEIGHT] ?? NaN)) > 0.01) return `night ${at}: another weight`;
    }
    return this.longRunDifference(retired.length);
  }

  private longRunDifference(nights: number): string | undefined {
    const { longRun } = desk.history;
    if (longRun.nights !== nights) return `${longRun.nights} nights in the long run, not ${nights}`;
    const due = this.slow.longRun();
    for (const [at, { name, least, most }] of QUANTITIES.entries()) {
      const { count, mean } = due.get(name) ?? { count: 0, mean: 0 };
      if (longRun.counts[at] !== count) return `${name}: in ${longRun.counts[at]} nights, not ${count}`;
      if (Math.abs((longRun.means[at] ?? NaN) - mean) > (most - least) * 1e-5) return `${name}: another mean`;
    }
    return undefined;
  }
}

function copyOf(slow: SlowHistory): SlowHistory {
  const copy = new SlowHistory();
  copy.nights = [...slow.nights];
  copy.retired = [...slow.retired];
  return copy;
}
