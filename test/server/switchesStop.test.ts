import { PassThrough } from 'node:stream';
import t from 'tap';
import { filesBy, runOperation, type FileOperation } from '#acuity/files/files.js';
import { createLog } from '#acuity/process/log.js';
import { ModelSwitch } from '#acuity/server/modelSwitch.js';
import { ShadowSwitch } from '#acuity/server/shadowSwitch.js';
import { MODEL } from '../fixtures/model.js';
import { until } from '../fixtures/until.js';

/** A disk whose operations wait until it is told that they are cut off, and a log that is kept. */
function scene(waits: readonly FileOperation[]) {
  let cutOff: (() => void) | undefined;
  const files = filesBy(async (name, args) => {
    if (!waits.includes(name)) return runOperation(name, args);
    return new Promise((_, reject) => {
      cutOff = () => reject(new Error('cut off'));
    });
  });
  const output = new PassThrough({ encoding: 'utf8' });
  const log = createLog({ level: 'info', sink: { write: (line) => void output.write(line) } });
  return {
    files: { look: files, load: files },
    log,
    begun: () => until(() => cutOff !== undefined),
    logged: (): string => String(output.read() ?? ''),
    async cutOff() {
      cutOff?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

t.test('a model that is being read when the service stops is not told as refused', async (t) => {
  const { files, log, begun, logged, cutOff } = scene(['readText']);
  const server = { prepareModel: () => Promise.resolve(), switchModel: () => Promise.resolve() };
  const models = new ModelSwitch({ folder: MODEL, loaded: MODEL, files, server, log });
  models.request();
  await begun();
  models.stop();
  await cutOff();
  t.equal(logged(), '');
  t.equal(models.refusal, undefined);
});

t.test('a model that is ready only when the service stops is not put in force', async (t) => {
  const { files, log, logged } = scene([]);
  let isPreparing = false;
  let ready = (): void => undefined;
  const server = {
    prepareModel: () =>
      new Promise<void>((resolve) => {
        isPreparing = true;
        ready = resolve;
      }),
    switchModel: () => {
      t.fail('it is put in force');
      return Promise.resolve();
    },
  };
  const models = new ModelSwitch({ folder: MODEL, loaded: MODEL, files, server, log });
  models.request();
  await until(() => isPreparing);
  models.stop();
  ready();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(logged(), '');
  t.equal(models.version, undefined);
});

t.test('a shadow model that is being read when the service stops is not told as refused', async (t) => {
  const { files, log, begun, logged, cutOff } = scene(['readText']);
  const server = { replaceShadow: () => Promise.resolve() };
  const shadow = new ShadowSwitch({ folder: MODEL, files, server, log });
  await begun();
  shadow.stop();
  await cutOff();
  t.equal(logged(), '');
  t.equal(shadow.refusal, undefined);
});
