import t from 'tap';
import { ABSENT, BEAT_MS, BlockedLoops, type Heartbeats } from '#acuity/base/heartbeats.js';

const SILENT_MS = 5 * BEAT_MS;

function scene() {
  const beats = [7, 7];
  const heartbeats = { loops: 2, beatsOf: (loop: number) => beats[loop] ?? ABSENT } as Heartbeats;
  const blocked = new BlockedLoops(heartbeats, SILENT_MS);
  blocked.look();
  return { beats, blocked };
}

t.test('one loop of several that is silent at every look is blocked, until it turns', async (t) => {
  const { beats, blocked } = scene();
  for (let look = 1; look <= 5; look++) {
    t.equal(blocked.any, false);
    beats[0] = 7 + look;
    blocked.look();
  }
  t.equal(blocked.any, true);
  beats[1] = 8;
  blocked.look();
  t.equal(blocked.any, false);
});

t.test('a process that was stopped for any time has made no looks, and is not blocked', async (t) => {
  const { blocked } = scene();
  // One late look, as after SIGCONT: it counts once, however much time has passed.
  blocked.look();
  t.equal(blocked.any, false);
});
