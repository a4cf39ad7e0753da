import { PassThrough } from 'node:stream';
import t from 'tap';
import { filesBy, runOperation, type FileOperation } from '#acuity/files/files.js';
import { EXPLAIN_TABLE } from '#acuity/model/manifest.js';
import { createLog } from '#acuity/process/log.js';
import { ModelFolder } from '#acuity/server/modelFolder.js';
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

const RETIRED = { retired: Promise.resolve() };
const ROLES = [
  { role: 'model', loaded: MODEL },
  { role: 'shadow model' }, // there is none yet
] as const;

for (const one of ROLES) {
  t.test(`a stop while a ${one.role} is read does not report it as refused`, async (t) => {
    const { files, log, begun, logged, cutOff } = scene(['readText']);
    const models = new ModelFolder({
      ...one,
      folder: MODEL,
      files,
      use: () => Promise.resolve(RETIRED),
      log,
    });
    models.request();
    await begun();
    models.stop();
    await cutOff();
    t.equal(logged(), '');
    t.equal(models.refusal, undefined);
  });

  // Workers that start after the event loops have closed would keep their threads, and so the process, from ending.
  t.test(`a ${one.role} that is read completely only after the stop starts no workers`, async (t) => {
    for (const isStopped of [false, true]) {
      let goOn: (() => void) | undefined;
      const files = filesBy(async (name, args) => {
        const isLast = String(args[0]).endsWith(EXPLAIN_TABLE) && name === 'readText';
        if (isLast) await new Promise<void>((resolve) => (goOn = resolve));
        return runOperation(name, args);
      });
      let opened = 0;
      const use = (): Promise<typeof RETIRED> => {
        opened++;
        return Promise.resolve(RETIRED);
      };
      const parts = { folder: MODEL, files: { look: files, load: files }, use, log: scene([]).log };
      const models = new ModelFolder({ ...one, ...parts });
      models.request();
      await until(() => goOn !== undefined);
      if (isStopped) models.stop();
      goOn?.();
      await new Promise((resolve) => setImmediate(resolve));
      t.equal(opened, isStopped ? 0 : 1, isStopped ? 'stopped' : 'not stopped');
      models.stop();
    }
  });
}

t.test('a model that is ready only when the service stops is not put in force', async (t) => {
  const { files, log, logged } = scene([]);
  let ready: (() => void) | undefined;
  let wasStopped: boolean | undefined;
  const models = new ModelFolder({
    folder: MODEL,
    loaded: MODEL,
    role: 'model',
    files,
    async use(_, isStopped) {
      await new Promise<void>((resolve) => (ready = resolve));
      wasStopped = isStopped();
      return RETIRED;
    },
    log,
  });
  models.request();
  await until(() => ready !== undefined);
  models.stop();
  ready?.();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(wasStopped, true);
  t.equal(logged(), '');
  t.equal(models.version, undefined);
});

t.test('a request for a model that is not there is answered in the log', async (t) => {
  const { files, log, logged } = scene([]);
  const folder = `${MODEL}-gone`;
  const models = new ModelFolder({
    folder,
    loaded: MODEL,
    role: 'model',
    files,
    use: () => Promise.resolve(RETIRED),
    log,
  });
  models.request();
  await until(() => models.refusal !== undefined);
  t.match(logged(), 'model refused, the old one stays');
  models.stop();
});
