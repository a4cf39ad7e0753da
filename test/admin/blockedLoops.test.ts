import t from 'tap';
import { ABSENT, BEAT_MS, BlockedLoops, type Heartbeats } from '#acuity/base/heartbeats.js';

// Looks count, not time: a process that was stopped has made none meanwhile.
t.test('one loop of several that is silent at every look is blocked, until it turns', async (t) => {
  const beats = [7, 7];
  const heartbeats = { loops: 2, beatsOf: (loop: number) => beats[loop] ?? ABSENT } as Heartbeats;
  const blocked = new BlockedLoops(heartbeats, 5 * BEAT_MS);
  blocked.look();
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
