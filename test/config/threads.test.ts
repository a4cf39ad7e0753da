import t from 'tap';
import { defaultConfig, type Config } from '#acuity/config/options.js';
import { uselessThreads } from '#acuity/config/threads.js';

const CORES = 2;
const MACHINE = { cores: CORES, descriptors: 1024, workingDir: '/', packageDir: '/' };

/** What can't help, and what is said of it. */
const CASES: readonly (readonly [Partial<Config>, areChains: boolean, ...said: RegExp[]])[] = [
  [{}, true],
  [{ workers: 3 }, false],
  [{ workers: 2, intraOpThreads: 2 }, false, /^ACUITY_WORKERS=2 × ACUITY_INTRA_OP_THREADS=2 \+ ACUITY_HTTP_THREADS=1 are 5 threads: .*2 cores/], // prettier-ignore
  [{ interOpThreads: 2 }, false],
  [{ interOpThreads: 2 }, true, /^ACUITY_INTER_OP_THREADS=2 .*2 cores.* chains/],
  [{ workers: 3, httpThreads: 3 }, false, /^ACUITY_WORKERS=3/, /^ACUITY_HTTP_THREADS=3 .*2 cores/],
];

t.test('settings of threads that can not help are told, each once', async (t) => {
  for (const [changed, areChains, ...said] of CASES) {
    const found = uselessThreads({ ...defaultConfig(MACHINE), ...changed }, CORES, areChains);
    t.equal(found.length, said.length, JSON.stringify(changed));
    for (const [at, words] of said.entries()) t.match(found[at], words);
  }
});
