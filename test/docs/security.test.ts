import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { VARIABLES, type Variable } from '#acuity/config/variables.js';
import { REPOSITORY, cleanEnvironment } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';

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

interface Component {
  readonly name: string;
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string };
    readonly expression?: string;
  }[];
}

t.test('the list of what ships names each package, with a licence that lets it', async (t) => {
  const { code, stdout, stderr } = await ended(process.execPath, ['scripts/sbom.js'], {
    cwd: REPOSITORY,
    env: cleanEnvironment(),
  });
  t.equal(code, 0, stderr);
  const { components } = JSON.parse(stdout) as { readonly components: readonly Component[] };
  const { dependencies } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const names = components.map(({ name }) => name);
  for (const name of Object.keys(dependencies)) {
    t.ok(names.includes(name) || (name === 'uWebSockets.js' && names.includes('uwebsockets')), name);
  }
  for (const { name, licenses = [] } of components) {
    const given = licenses.map(({ license, expression }) => license?.id ?? expression ?? '');
    t.ok(
      given.length > 0 &&
        given.every((licence) => licence.split(' AND ').every((one) => PERMISSIVE.test(one))),
      `${name}: ${given.join()}`,
    );
  }
});
