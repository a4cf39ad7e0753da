import { PassThrough } from 'node:stream';
import t from 'tap';
import { filesBy, runOperation, type FileOperation } from '#acuity/files/files.js';
import { EXPLAIN_TABLE } from '#acuity/model/manifest.js';
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

t.test('a stop while a model is read does not report it as refused', async (t) => {
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

/** A server that counts the models it is told to open, and a disk that holds back the last file of a model. */
function lastFile() {
  let goOn: (() => void) | undefined;
  const files = filesBy(async (name, args) => {
    const isLast = String(args[0]).endsWith(EXPLAIN_TABLE) && name === 'readText';
    if (isLast) await new Promise<void>((resolve) => (goOn = resolve));
    return runOperation(name, args);
  });
  let opened = 0;
  const open = (): Promise<void> => {
    opened++;
    return Promise.resolve();
  };
  const server = { prepareModel: open, switchModel: () => Promise.resolve(), replaceShadow: open };
  return {
    options: { folder: MODEL, files: { look: files, load: files }, server, log: scene([]).log },
    begun: () => until(() => goOn !== undefined),
    async opened(): Promise<number> {
      goOn?.();
      await new Promise((resolve) => setImmediate(resolve));
      return opened;
    },
  };
}

const SWITCHES = {
  model(options: ReturnType<typeof lastFile>['options']) {
    const models = new ModelSwitch({ ...options, loaded: MODEL });
    models.request();
    return models;
  },
  'shadow model': (options: ReturnType<typeof lastFile>['options']) => new ShadowSwitch(options),
};

// Workers that start after the event loops have closed would keep their threads, and so the process, from ending.
for (const [name, open] of Object.entries(SWITCHES)) {
  t.test(`a ${name} that is read completely only after the stop starts no workers`, async (t) => {
    for (const isStopped of [false, true]) {
      const { options, begun, opened } = lastFile();
      const opening = open(options);
      await begun();
      if (isStopped) opening.stop();
      t.equal(await opened(), isStopped ? 0 : 1, isStopped ? 'stopped' : 'not stopped');
      opening.stop();
    }
  });
}
