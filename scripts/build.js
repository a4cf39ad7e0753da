/** `npm run build`: compiles everything, tests and benches included; `node scripts/build.js src` the service alone. */
import { build, failWith, install } from './prepare.js';

try {
  const step = process.argv[2] ?? 'all';
  await install(step === 'all' ? 'all' : 'service');
  await build(step);
} catch (error) {
  failWith(error);
}
