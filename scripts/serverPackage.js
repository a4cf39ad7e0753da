/** Builds what the server's package ships; `npm pack` runs it first. */
import { build, failWith, install } from './prepare.js';

try {
  await install();
  await build('src');
} catch (error) {
  failWith(error);
}
