import { WasmParser } from '../reading/wasmParser.js';
import { readRecordingOf } from './readRecording.js';
import { givenToReader, runReader } from './runReader.js';

/** Code of the process that reads recordings. */

const parser = new WasmParser(givenToReader().limits);
runReader((body) => readRecordingOf(body, parser));
