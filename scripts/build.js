/** `npm run build`: compiles everything, tests and benches included; `node scripts/build.js STEP` the service (`src`) or the client. */
import { build, endOnError, install } from './prepare.js';

endOnError();
const step = process.argv[2] ?? 'all';
await install(step === 'all' ? 'all' : 'service');
await build(step);
