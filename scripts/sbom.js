/**
 * `node scripts/sbom.js`: every package that ships, in CycloneDX form, from the lock file. (`npm sbom --omit=dev` leaves
 * out packages that a development dependency needs too, so half of ours.)
 */
import { LOCK, shippedPackages } from './shipped.js';

const { version, packages } = LOCK;

const components = shippedPackages().map(([path, entry]) =>
  componentOf(entry.name ?? path.replace(/^.*node_modules\//, ''), entry),
);

const list = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: {
    component: { type: 'application', name: 'acuity', version, licenses: licensesOf(packages['']) },
  },
  components,
};
process.stdout.write(`${JSON.stringify(list, undefined, 2)}\n`);

function componentOf(name, entry) {
  const [algorithm, digest] = (entry.integrity ?? '').split(/-(.*)/s);
  return {
    type: 'library',
    name,
    version: entry.version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${entry.version}`,
    licenses: licensesOf(entry),
    hashes:
      algorithm === 'sha512'
        ? [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }]
        : [],
  };
}

function licensesOf({ license }) {
  if (license === undefined) return [];
  return [/^[\w.-]+$/.test(license) ? { license: { id: license } } : { expression: license }];
}
