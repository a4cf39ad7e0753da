"""`python read.py FILE [AT]`: the session of an export, what it took and how much memory, as a line of JSON."""

import json
import resource
import sys
import time

from acuity_client.adapters import from_apple_health

path, *at = sys.argv[1:]
start = time.perf_counter()
with open(path, encoding="utf-8") as file:
    of = from_apple_health(iter(lambda: file.read(1 << 16), ""), at=at[0] if at else None)
said = {
    "night": of.night,
    "sleepTimeSeconds": of.session["sleepTimeSeconds"],
    "beats": len(of.session["HR_night"]),
    "seconds": time.perf_counter() - start,
    "peakKb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
}
print(json.dumps(said))
