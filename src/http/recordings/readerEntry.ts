import { WasmParser } from '../../read/wasmParser.js';
import { readRecordingOf } from '../../read/readRecording.js';
import { givenToReader, runReader } from './runReader.js';

/** Code of the process that reads recordings. */

const parser = new WasmParser(givenToReader().limits);
runReader((body) => readRecordingOf(body, parser));
