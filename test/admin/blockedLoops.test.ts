import t from 'tap';
import { ABSENT, allocateHeartbeats, BEAT_MS, BlockedLoops, Heartbeats } from '#acuity/base/heartbeats.js';
import type { ThreadTimes } from '#acuity/base/threadTimes.js';

const LOOKS = 5;
const [SILENT, SILENT_STARVED] = [0, 1];

/** Two loops, each silent since it began; `times` are those of the loop. */
function scene(times: (look: number, loop: number) => ThreadTimes | undefined) {
  const beats = [7, 7];
  const heartbeats = new Heartbeats(allocateHeartbeats(2));
  heartbeats.beatsOf = (loop) => beats[loop] ?? ABSENT;
  heartbeats.threadOf = (loop) => loop + 1;
  let looks = 0;
  const readTimes = (folder: string) => times(looks, Number(folder.split('/').at(-1)) - 1);
  const blocked = new BlockedLoops(heartbeats, { silentMs: LOOKS * BEAT_MS, nowMs: 0, readTimes });
  const look = (): boolean => {
    blocked.look(++looks * BEAT_MS);
    return blocked.any;
  };
  return { beats, look };
}

t.test('one loop of several that is silent at every look is blocked, until it turns', async (t) => {
  const { beats, look } = scene(() => ({ state: 'S', ranMs: 0, waitedMs: 0 }));
  for (let turn = 0; turn <= LOOKS; turn++) {
    t.equal(look(), false);
    beats[0] = 8 + turn;
  }
  t.equal(look(), true);
  beats[1] = 8;
  t.equal(look(), false);
});

t.test('a loop that waits for a processor is not blocked', async (t) => {
  const { beats, look } = scene((looks, loop) =>
    loop === SILENT_STARVED ? { state: 'R', ranMs: 0, waitedMs: looks * BEAT_MS } : undefined,
  );
  for (let turn = 0; turn < 6 * LOOKS; turn++) {
    beats[SILENT] = 8 + turn;
    t.equal(look(), false);
  }
});
