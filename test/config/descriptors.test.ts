import t from 'tap';
import { descriptorsMax } from '#acuity/config/cores.js';

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max open files            1024                 4096                 files
`;

t.test('the soft limit counts: Node has raised it as far as it goes', async (t) => {
  t.equal(
    descriptorsMax(() => LIMITS),
    1024,
  );
  t.equal(
    descriptorsMax(() => LIMITS.replace('1024     ', 'unlimited')),
    Infinity,
  );
});

t.test('where the system doesn’t say, a modest number', async (t) => {
  t.equal(
    descriptorsMax(() => ''),
    10_240,
  );
});
