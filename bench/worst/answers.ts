import { isUtf8 } from 'node:buffer';
import assert from 'node:assert/strict';
import type { BodyProblem } from '#acuity/contract/problems.js';

/** What plain code says of a body, and whether a reader's answer agrees. */
export type Verdict = 'structure' | 'malformed' | 'json';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export interface Structure {
  readonly levels: number;
  readonly brackets: number;
  readonly strings: number;
}

/**
 * Counts brackets and strings in bytes that need not be JSON, byte by byte. Outside strings a backslash means
 * nothing; unmatched closing brackets are skipped.
 */
export function structureOf(bytes: Uint8Array): Structure {
  let [levels, brackets, strings, level, at] = [0, 0, 0, 0, 0];
  while (at < bytes.length) {
    const byte = String.fromCharCode(bytes[at++] ?? 0);
    if (byte === '{' || byte === '[') {
      brackets++;
      level++;
      levels = Math.max(levels, level);
    } else if (byte === '}' || byte === ']') level = Math.max(0, level - 1);
    else if (byte === '"') {
      strings++;
      at = behindString(bytes, at);
    }
  }
  return { levels, brackets, strings };
}

function behindString(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

export function isBeyondBounds({ levels, brackets, strings }: Structure): boolean {
  return levels > 64 || brackets > 10_000 || strings > 20_000;
}

export function verdictOn(bytes: Uint8Array): Verdict {
  if (isBeyondBounds(structureOf(bytes))) return 'structure';
  return isJson(bytes) ? 'json' : 'malformed';
}

/** Whether the engine accepts `bytes` as JSON. */
export function isJson(bytes: Uint8Array): boolean {
  if (!isUtf8(bytes)) return false;
  try {
    JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
    return true;
  } catch {
    return false; // its message quotes the input
  }
}

/** @throws AssertionError if a body with that verdict must not get `answer` (undefined: a request) */
export function checkAnswer(verdict: Verdict, answer: BodyProblem | undefined): void {
  const found = answer === undefined ? 'request' : answer.kind;
  if (verdict === 'malformed') return assert.equal(found, 'malformed');
  assert.notEqual(found, 'malformed');
  const findings = answer?.kind === 'unprocessable' ? answer.findings : [];
  const isStructure = findings.some(({ loc, type }) => loc.length === 1 && type === 'too_long');
  assert.equal(isStructure, verdict === 'structure');
  assert.ok(found === 'request' || (findings.length > 0 && findings.length <= 8));
}
