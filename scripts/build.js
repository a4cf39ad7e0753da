/** `npm run build`: compiles everything, tests and benches included. */
import { build, failWith, install } from './prepare.js';

try {
  await install();
  await build('all');
} catch (error) {
  failWith(error);
}
