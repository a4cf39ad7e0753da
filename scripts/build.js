/** `npm run build`: compiles everything, tests and benches included; `node scripts/build.js src` the service alone. */
import { build, failWith, install } from './prepare.js';

try {
  await install();
  await build(process.argv[2] ?? 'all');
} catch (error) {
  failWith(error);
}
