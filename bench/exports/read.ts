/** `node read.js FILE [AT]`: the session of an export, what it took and how much memory, as a line of JSON. */
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { fromAppleHealth } from '#acuity/client/adapters.js';

/** A file in pieces: one of two gigabytes does not fit into a string. */
function* piecesOf(path: string): Generator<string> {
  const [file, decoder, bytes] = [openSync(path, 'r'), new StringDecoder('utf8'), Buffer.alloc(65_536)];
  for (let read = 1; read > 0;) {
    read = readSync(file, bytes);
    yield decoder.write(bytes.subarray(0, read));
  }
  closeSync(file);
}

const [path = '', at] = process.argv.slice(2);
const start = performance.now();
const { night, session } = fromAppleHealth({ export: piecesOf(path), ...(at !== undefined && { at }) });
const seconds = (performance.now() - start) / 1000;
const { sleepTimeSeconds, HR_night: heart } = session;
const peakKb = process.resourceUsage().maxRSS;
console.log(JSON.stringify({ night, sleepTimeSeconds, beats: heart?.length, seconds, peakKb }));
