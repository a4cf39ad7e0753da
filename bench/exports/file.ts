import { closeSync, openSync, writeSync } from 'node:fs';

/** The end of the export, and its last night. */
export interface MadeExport {
  /** The morning after the last night. */
  readonly at: string;
  readonly sleepSeconds: number;
  readonly records: number;
}

const MEGABYTE = 1_000_000;
const DAY_MS = 86_400_000;
const LAST_MORNING = Date.UTC(2026, 2, 2, 6);
/** As an iPhone writes them: a watch on most of what it measures. */
const DEVICE =
  '&lt;&lt;HKDevice: 0x2825d3c00&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:11.0&gt;';
/** One of this many records is a step count, which is not read. */
const STEPS_EVERY = 3;
const STAGES = [
  ['AsleepCore', 260],
  ['AsleepDeep', 90],
  ['AsleepREM', 100],
  ['Awake', 30],
] as const;

/** An export of the Health app of about this many megabytes and years: every type in turn, oldest first. */
export function writeExport(path: string, megabytes: number, years: number): MadeExport {
  const file = new Pieces(path);
  const days = Math.round(years * 365);
  const nightBytes = nightOf(LAST_MORNING).length;
  const beatBytes = beat(0, LAST_MORNING).length;
  const beats = Math.max(60, Math.floor((megabytes * MEGABYTE - days * nightBytes) / beatBytes));
  const stepMs = (days * DAY_MS) / beats;
  file.write('<?xml version="1.0" encoding="UTF-8"?>\n<HealthData locale="en_GB">\n');
  file.write(` <ExportDate value="${written(LAST_MORNING + DAY_MS / 2)}"/>\n`);
  for (let index = beats; index > 0; index--) file.write(beat(index, LAST_MORNING - (index - 1) * stepMs));
  for (let day = days; day > 0; day--) file.write(nightOf(LAST_MORNING - (day - 1) * DAY_MS));
  file.write('</HealthData>\n');
  file.close();
  const at = new Date(LAST_MORNING + 1_800_000).toISOString();
  return { at, sleepSeconds: 450 * 60, records: beats + days * STAGES.length };
}

class Pieces {
  private readonly descriptor: number;
  private rest = '';

  constructor(path: string) {
    this.descriptor = openSync(path, 'w');
  }

  write(text: string): void {
    this.rest += text;
    if (this.rest.length > MEGABYTE) this.flush();
  }

  close(): void {
    this.flush();
    closeSync(this.descriptor);
  }

  private flush(): void {
    writeSync(this.descriptor, this.rest);
    this.rest = '';
  }
}

function beat(index: number, ms: number): string {
  const isStep = index % STEPS_EVERY === 0;
  const type = isStep ? 'HKQuantityTypeIdentifierStepCount' : 'HKQuantityTypeIdentifierHeartRate';
  return record(type, ms, ms, `unit="${isStep ? 'count' : 'count/min'}" `, String(55 + (index % 30)));
}

/** Eight hours until this morning. */
function nightOf(morningMs: number): string {
  let fromMs = morningMs - 480 * 60_000;
  return STAGES.map(([stage, minutes]) => {
    const toMs = fromMs + minutes * 60_000;
    const type = 'HKCategoryTypeIdentifierSleepAnalysis';
    const text = record(type, fromMs, toMs, '', `HKCategoryValueSleepAnalysis${stage}`);
    fromMs = toMs;
    return text;
  }).join('');
}

function record(type: string, fromMs: number, toMs: number, unit: string, value: string): string {
  const [from, to] = [written(fromMs), written(toMs)];
  return ` <Record type="${type}" sourceName="Watch" sourceVersion="11.0" device="${DEVICE}" ${unit}creationDate="${to}" startDate="${from}" endDate="${to}" value="${value}"/>\n`;
}

/** "2026-03-02 07:00:00 +0100" */
function written(ms: number): string {
  return `${new Date(ms + 3_600_000).toISOString().slice(0, 19).replace('T', ' ')} +0100`;
}
