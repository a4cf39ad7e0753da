import t from 'tap';
import { filesBy, runOperation } from '#acuity/files/files.js';
import { EXPLAIN_TABLE } from '#acuity/model/manifest.js';
import { createLog } from '#acuity/process/log.js';
import { ModelSwitch } from '#acuity/server/modelSwitch.js';
import { ShadowSwitch } from '#acuity/server/shadowSwitch.js';
import { MODEL } from '../fixtures/model.js';
import { until } from '../fixtures/until.js';

const silent = createLog({ level: 'silent' });

t.test('a model that is ready only when the service stops is not put in force', async (t) => {
  const files = filesBy(async (name, args) => runOperation(name, args));
  let ready: (() => void) | undefined;
  const server = {
    prepareModel: () => new Promise<void>((resolve) => (ready = resolve)),
    switchModel: () => Promise.reject(new Error('it is put in force')),
  };
  const models = new ModelSwitch({
    folder: MODEL,
    loaded: MODEL,
    files: { look: files, load: files },
    server,
    log: silent,
  });
  models.request();
  await until(() => ready !== undefined);
  models.stop();
  ready?.();
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame([models.version, models.refusal], [undefined, undefined]);
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
    options: { folder: MODEL, files: { look: files, load: files }, server, log: silent },
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
