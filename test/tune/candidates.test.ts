import t from 'tap';
import { candidatesFor, defaultsFor, environmentOf, nameOf, thinned } from '#acuity/tune/candidates.js';
import { readConfig } from '#acuity/config/options.js';

for (const cores of [1, 2, 3, 8, 64]) {
  t.test(
    `${cores} cores: the defaults first, none twice, every one a configuration that the service takes`,
    async (t) => {
      const candidates = candidatesFor(cores);
      t.strictSame(candidates[0], defaultsFor(cores));
      t.equal(new Set(candidates.map(nameOf)).size, candidates.length);
      const machine = { cores, descriptors: 1024, workingDir: '/', packageDir: '/' };
      for (const candidate of candidates)
        t.ok(readConfig(environmentOf(candidate), machine).ok, nameOf(candidate));
      const reading = readConfig({}, machine);
      t.match(
        reading,
        { ok: true, config: defaultsFor(cores) },
        'the defaults are those of the configuration',
      );
    },
  );
}

t.test('thinned candidates keep the first and lie apart', async (t) => {
  t.strictSame(thinned([0, 1, 2, 3, 4, 5, 6, 7], 4).length, 4);
  t.equal(thinned([0, 1, 2, 3, 4, 5, 6], 3)[0], 0);
  t.strictSame(thinned([0, 1], 5), [0, 1]);
});
