/** Reads a file with one reader, in a process of its own: `read.js READER FILE`. Prints what it took, as JSON. */
import { READERS } from './readers.js';

const [name = '', path = ''] = process.argv.slice(2);
const reader = READERS[name];
if (reader === undefined) throw new Error(`no reader is called ${name}`);
const startMs = performance.now();
const rows = await reader.read(path);
const seconds = (performance.now() - startMs) / 1000;
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ rows, seconds, cpuSeconds: (user + system) / 1e6 }));
