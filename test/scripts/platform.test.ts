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

/** Node's version, glibc's, and what is said: nothing where it runs. */
const ON_LINUX: readonly (readonly [node: string, glibc: string | undefined, said?: RegExp])[] = [
  ['22.0.0', '2.38'],
  ['22.23.3', '2.41'],
  ['24.21.0', '2.39'],
  ['24.0.0', '3.0'],
  ['20.19.0', '2.28'],
  ['20.20.2', '2.36'],
  ['20.19.0', '2.41'],
  ['22.23.3', '2.36', /^on Node 22 the HTTP library needs glibc 2\.38 .*has 2\.36: use Node 20\.19 or newer/],
  ['24.21.0', '2.37', /^on Node 24 the HTTP library needs glibc 2\.38/],
  ['18.20.8', '2.41', /^acuity runs on Node 22 or 24.*this is Node 18\.20\.8: use Node 24 or 22$/],
  ['18.20.8', '2.36', /this is Node 18\.20\.8: use Node 20\.19 or newer of that line \(glibc is 2\.36\)$/],
  ['20.18.3', '2.36', /this is Node 20\.18\.3: use Node 20\.19/],
  ['8.17.0', '2.41', /this is Node 8\.17\.0: use Node 24 or 22$/],
  ['21.7.3', '2.41', /this is Node 21\.7\.3: use Node 24 or 22$/],
  ['23.11.1', '2.41', /this is Node 23\.11\.1: use Node 24 or 22$/],
  ['25.9.0', '2.41', /this is Node 25\.9\.0: use Node 24 or 22$/],
  [
    '26.10.0',
    '2.41',
    /^the HTTP library \(uWebSockets\.js\) has no binary for Node 26 yet: use Node 24 or 22$/,
  ],
  ['26.10.0', '2.36', /^the HTTP library .* has no binary for Node 26 yet: use Node 20\.19/],
  ['28.0.0', '2.45', /no binary for Node 28 yet/],
  [
    '22.23.3',
    undefined,
    /need glibc, which this system has not \(Alpine has musl\): use a system with glibc 2\.38/,
  ],
  ['20.19.0', undefined, /musl/],
  ['20.19.0', '2.27', /need glibc 2\.28, and this system has 2\.27/],
];

for (const [node, glibc, said] of ON_LINUX) {
  t.test(`Node ${node} with glibc ${glibc ?? 'absent'}`, async (t) => {
    for (const arch of ['x64', 'arm64']) {
      const problem = problemOf({ node, platform: 'linux', arch, glibc });
      if (said === undefined) t.equal(problem, undefined);
      else t.match(problem, said);
      t.notMatch(problem ?? '', '\n', 'one sentence');
    }
  });
}

const ELSEWHERE: readonly (readonly [platform: string, arch: string, node: string, said?: RegExp])[] = [
  ['darwin', 'arm64', '24.0.0'],
  ['darwin', 'arm64', '26.0.0', /no binary for Node 26/],
  ['win32', 'x64', '22.0.0'],
  ['darwin', 'x64', '24.0.0', /no native libraries for darwin on x64/],
  [
    'linux',
    'arm',
    '24.0.0',
    /no native libraries for linux on arm: it runs on Linux \(x64, arm64\), and untested on/,
  ],
  ['freebsd', 'x64', '24.0.0', /no native libraries for freebsd/],
];

for (const [platform, arch, node, said] of ELSEWHERE) {
  t.test(`${platform} on ${arch} with Node ${node}`, async (t) => {
    const glibc = platform === 'linux' ? '2.41' : undefined;
    const problem = problemOf({ node, platform, arch, glibc });
    if (said === undefined) t.equal(problem, undefined);
    else t.match(problem, said);
  });
}

t.test('the service runs wherever the tests run', async (t) => {
  t.equal(problemOf(thisMachine()), undefined);
});
