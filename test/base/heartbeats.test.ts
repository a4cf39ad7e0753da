import t from 'tap';
import { allocateHeartbeats, BEAT_MS, BlockedLoops, Heartbeats } from '#acuity/base/heartbeats.js';

const LOOKS = 5;

t.test('a silent loop is blocked if it sleeps, and not if it waits for a processor', async (t) => {
  for (const state of ['S', 'R']) {
    const heartbeats = new Heartbeats(allocateHeartbeats(1));
    heartbeats.beatsOf = () => 7;
    heartbeats.threadOf = () => 1;
    let nowMs = 0;
    const readTimes = () => ({ state, ranMs: 0, waitedMs: state === 'R' ? nowMs : 0 });
    const blocked = new BlockedLoops(heartbeats, { silentMs: LOOKS * BEAT_MS, nowMs, readTimes });
    for (let look = 0; look < 6 * LOOKS; look++) blocked.look((nowMs += BEAT_MS));
    t.equal(blocked.any, state === 'S');
  }
});
