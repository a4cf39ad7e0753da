import t from 'tap';
import { cpuQuota, descriptorsMax, usableCores } from '#acuity/config/cores.js';

type Files = Readonly<Record<string, string>>;

const reading = (files: Files) => (path: string) => files[path];

const V2 = '/sys/fs/cgroup';
const CASES: readonly (readonly [name: string, files: Files, quota: number])[] = [
  ['no control groups', {}, Infinity],
  ['version 2, in a container', { '/proc/self/cgroup': '0::/\n', [`${V2}/cpu.max`]: '200000 100000\n' }, 2],
  ['version 2, no quota', { '/proc/self/cgroup': '0::/\n', [`${V2}/cpu.max`]: 'max 100000\n' }, Infinity],
  [
    'version 2, a nested group, limited by its ancestor',
    {
      '/proc/self/cgroup': '0::/system.slice/acuity.service/inner\n',
      [`${V2}/system.slice/acuity.service/inner/cpu.max`]: 'max 100000\n',
      [`${V2}/system.slice/acuity.service/cpu.max`]: '150000 100000\n',
      [`${V2}/system.slice/cpu.max`]: '400000 100000\n',
    },
    1.5,
  ],
  [
    'version 2, a path that the container does not see',
    { '/proc/self/cgroup': '0::/../../pod7\n', [`${V2}/cpu.max`]: '300000 100000\n' },
    3,
  ],
  [
    'version 1',
    {
      '/proc/self/cgroup': '5:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n',
      [`${V2}/cpu,cpuacct/docker/abc/cpu.cfs_quota_us`]: '250000\n',
      [`${V2}/cpu,cpuacct/docker/abc/cpu.cfs_period_us`]: '100000\n',
    },
    2.5,
  ],
  [
    'version 1, the group mounted as the root',
    {
      '/proc/self/cgroup': '5:cpu:/docker/abc\n',
      [`${V2}/cpu/cpu.cfs_quota_us`]: '50000\n',
      [`${V2}/cpu/cpu.cfs_period_us`]: '100000\n',
    },
    0.5,
  ],
  ['files that make no sense', { '/proc/self/cgroup': 'what\n0::\n', [`${V2}/cpu.max`]: 'a b\n' }, Infinity],
];

t.test('the quota of the control group', async (t) => {
  for (const [name, files, quota] of CASES) t.equal(cpuQuota(reading(files)), quota, name);
});

t.test('cores are capped by the quota, rounded down, never below one', async (t) => {
  const limited = (quotaUs: number) =>
    reading({ '/proc/self/cgroup': '0::/\n', [`${V2}/cpu.max`]: `${quotaUs} 100000` });
  t.equal(usableCores(8, limited(250_000)), 2);
  t.equal(usableCores(8, limited(50_000)), 1);
  t.equal(usableCores(2, limited(800_000)), 2);
  t.equal(usableCores(6, reading({})), 6);
});

t.test('the soft limit of descriptors counts: Node has raised it; else a modest number', async (t) => {
  const limits = (soft: string) => () =>
    `Limit               Soft Limit    Hard Limit  Units\nMax cpu time  unlimited  unlimited  seconds\nMax open files      ${soft}          4096        files\n`;
  t.equal(descriptorsMax(limits('1024')), 1024);
  t.equal(descriptorsMax(limits('unlimited')), Infinity);
  t.equal(descriptorsMax(() => ''), 10_240); // prettier-ignore
});
