import t from 'tap';
import { script } from '../fixtures/repository.js';

interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  readonly glibc: string | undefined;
}

const { problemOf, thisMachine } = await script<{
  problemOf(machine: Machine): string | undefined;
  thisMachine(): Machine;
}>('platform.cjs');

/** Node’s version, glibc’s (or none, and what there is), and what is said: nothing where it runs. */
const CASES = `
linux 22.0.0 2.38 |
linux 24.0.0 3.0 |
linux 20.19.0 2.28 |
linux 22.23.3 2.36 | on Node 22 the HTTP library needs glibc 2.38
linux 24.21.0 2.37 | on Node 24 the HTTP library needs glibc 2.38
linux 18.20.8 2.41 | this is Node 18.20.8: use Node 24 or 22
linux 18.20.8 2.36 | this is Node 18.20.8: use Node 20.19 or newer of that line (glibc is 2.36)
linux 20.18.3 2.36 | this is Node 20.18.3: use Node 20.19
linux 21.7.3 2.41 | this is Node 21.7.3: use Node 24 or 22
linux 25.9.0 2.41 | this is Node 25.9.0: use Node 24 or 22
linux 26.10.0 2.41 | has no binary for Node 26 yet: use Node 24 or 22
linux 26.10.0 2.36 | has no binary for Node 26 yet: use Node 20.19
linux 22.23.3 none | (Alpine has musl): use a system with glibc 2.38
linux 20.19.0 2.27 | need glibc 2.28, and this system has 2.27
darwin 24.0.0 none |
darwin 26.0.0 none | no binary for Node 26
freebsd 24.0.0 none | no native libraries for freebsd`;

t.test('what does not run here is said in one sentence, with the remedy', async (t) => {
  for (const line of CASES.trim().split('\n')) {
    const [machine = '', said = ''] = line.split(' |').map((part) => part.trim());
    const [platform = '', node = '', glibc = ''] = machine.split(' ');
    const problem =
      problemOf({ node, platform, arch: 'arm64', glibc: glibc === 'none' ? undefined : glibc }) ?? '';
    t.ok(
      said === '' ? problem === '' : problem.includes(said) && !problem.includes('\n'),
      `${line}: ${problem}`,
    );
  }
  for (const [platform, arch] of [
    ['darwin', 'x64'],
    ['linux', 'arm'],
  ] as const)
    // prettier-ignore
    t.match(problemOf({ node: '24.0.0', platform, arch, glibc: '2.41' }), `no native libraries for ${platform} on ${arch}`);
  t.equal(problemOf(thisMachine()), undefined, 'the service runs wherever the tests run');
});
