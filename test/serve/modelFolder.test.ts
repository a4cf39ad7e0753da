import { copyFileSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { filesBy, runOperation, type FileOperation } from '#acuity/base/files/files.js';
import { EXPLAIN_TABLE } from '#acuity/model/manifest.js';
import { createLog } from '#acuity/base/process/log.js';
import { ModelFolder, type ModelFolderOptions } from '#acuity/serve/modelFolder.js';
import { copyModel, graphsOf, MODEL } from '../fixtures/model.js';
import { until } from '../fixtures/until.js';

const RETIRED = { retired: Promise.resolve() };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A model folder on a disk that holds up the operations that `waits` names, until `goOn` or `cutOff`. */
function scene(
  t: Test,
  options: Partial<ModelFolderOptions> = {},
  waits: (name: FileOperation, args: readonly unknown[]) => boolean = () => false,
) {
  let held: { goOn(): void; cutOff(): void } | undefined;
  let logged = '';
  let opened = 0;
  const files = filesBy(async (name, args) => {
    if (waits(name, args))
      await new Promise<void>((goOn, reject) => {
        held = { goOn, cutOff: () => reject(new Error('cut off')) };
      });
    return runOperation(name, args);
  });
  const models = new ModelFolder({
    folder: MODEL,
    role: 'model',
    ...(options.role !== 'shadow model' && { loaded: MODEL }), // of the other one there is none yet
    files: { look: files, load: files },
    log: createLog({ level: 'info', sink: { write: (line) => void (logged += line) } }),
    use: async () => {
      opened++;
      return RETIRED;
    },
    ...options,
  });
  t.teardown(() => models.stop());
  models.request();
  return { models, held: () => held, logged: () => logged, opened: () => opened };
}

for (const one of [{ role: 'model' }, { role: 'shadow model' }] as const) {
  t.test(`a stop while a ${one.role} is read does not report it as refused`, async (t) => {
    const { models, held, logged } = scene(t, one, (name) => name === 'readText');
    await until(() => held() !== undefined);
    models.stop();
    held()?.cutOff();
    await turn();
    t.equal(logged(), '');
    t.equal(models.refusal, undefined);
  });

  // Workers that start after the event loops have closed would keep their threads, and so the process, from ending.
  t.test(`a ${one.role} that is read completely only after the stop starts no workers`, async (t) => {
    const isLast = (name: FileOperation, [path]: readonly unknown[]): boolean =>
      name === 'readText' && String(path).endsWith(EXPLAIN_TABLE);
    for (const isStopped of [false, true]) {
      const { models, held, opened } = scene(t, one, isLast);
      await until(() => held() !== undefined);
      if (isStopped) models.stop();
      held()?.goOn();
      await turn();
      t.equal(opened(), isStopped ? 0 : 1, isStopped ? 'stopped' : 'not stopped');
    }
  });
}

t.test('a model that is ready only when the service stops is not put in force', async (t) => {
  let ready: (() => void) | undefined;
  let wasStopped: boolean | undefined;
  const { models, logged } = scene(t, {
    async use(_, isStopped) {
      await new Promise<void>((resolve) => (ready = resolve));
      wasStopped = isStopped();
      return RETIRED;
    },
  });
  await until(() => ready !== undefined);
  models.stop();
  ready?.();
  await turn();
  t.equal(wasStopped, true);
  t.equal(logged(), '');
  t.equal(models.version, undefined);
});

t.test('a request for a model that is not there is answered in the log', async (t) => {
  const { models, logged } = scene(t, { folder: `${MODEL}-gone` });
  await until(() => models.refusal !== undefined);
  t.match(logged(), 'model refused, the old one stays');
});

t.test('a model that was refused half copied is put in force once it is whole', async (t) => {
  const folder = copyModel(t.testdir());
  const { base } = graphsOf(folder);
  writeFileSync(base, 'half');
  const { models, logged } = scene(t, { folder });
  await until(() => models.refusal !== undefined);
  copyFileSync(graphsOf(MODEL).base, base);
  await until(() => models.version !== undefined);
  t.equal(models.refusal, undefined);
  t.equal(logged().match(/model refused/g)?.length, 1, 'and it is refused once');
});
