import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { VARIABLES, type Variable } from '#acuity/config/variables.js';
import { REPOSITORY, script } from '../fixtures/repository.js';

const PAGE = readFileSync(join(REPOSITORY, 'docs/SECURITY.md'), 'utf8');
/** Licences that ask for no more than their text. */
const PERMISSIVE =
  /^(MIT|MIT OR Apache-2\.0|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|CC0-1\.0|\(MIT OR CC0-1\.0\))$/;

t.test('every test that the page names is there', async (t) => {
  const paths = [...PAGE.matchAll(/`(test\/[\w/.]+)`/g)].map(([, path = '']) => path);
  t.ok(paths.length > 15);
  for (const path of paths) t.ok(existsSync(join(REPOSITORY, path)), path);
});

t.test('every variable that has the service connect to somebody is in the list of connections', async (t) => {
  const isAddress = ({ secret = false }: Variable): boolean => secret;
  const addresses = Object.values<Variable>(VARIABLES).filter(isAddress);
  t.ok(addresses.length > 2);
  for (const { env } of addresses) t.match(PAGE, `\`${env}\``, env);
});

t.test('each package that ships has a licence that lets it', async (t) => {
  const { shippedPackages } = await script<{ shippedPackages(): string[] }>('archive.js');
  const packages = shippedPackages();
  t.ok(packages.length > 20);
  for (const path of packages) {
    const { license = '' } = JSON.parse(readFileSync(join(REPOSITORY, path, 'package.json'), 'utf8')) as {
      readonly license?: string;
    };
    t.ok(
      license.split(' AND ').every((one) => PERMISSIVE.test(one)),
      `${path}: ${license}`,
    );
  }
});
