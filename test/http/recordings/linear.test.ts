import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { PROVIDERS } from '#adapters/recording.js';
import type { Steps } from '../../fixtures/recordingSteps.js';

/** Recordings cost what their length says: the steps of the adapters are counted, no time is taken. */

/** Steps at twice the size; sorting takes a little more. */
const TWICE_MAX = 2.7;
/** Steps of two lists in one recording over those of two recordings: what several records share is read once. */
const TOGETHER_MAX = 1.3;

const worker = new Worker(new URL('../../fixtures/recordingSteps.js', import.meta.url));
const all: Steps[] = [];
worker.on('message', (one: Steps) => all.push(one));
await once(worker, 'exit');

for (const provider of PROVIDERS) {
  t.test(
    `${provider}: twice the length takes twice the steps, two lists no more than each alone`,
    async (t) => {
      const shapes = all.filter((one) => one.provider === provider);
      t.ok(shapes.length >= 8, `${shapes.length} shapes`);
      const read = shapes.filter(({ isRead }) => isRead).length;
      t.ok(read >= shapes.length / 3, `${read} of ${shapes.length} are read`);
      for (const { name, steps, apart, isPair } of shapes) {
        const ratio = steps / apart.reduce((sum, one) => sum + one, 0);
        if (!(ratio < (isPair ? TOGETHER_MAX : TWICE_MAX)))
          t.fail(`${name}: ${ratio.toFixed(2)} times the steps`);
      }
    },
  );
}
