"""Nights of public data as acuity judge reads them: one JSON line for each, oldest first, with its outcomes beside it.

    python public_nights.py lifesnaps daily_fitbit_sema_df_unprocessed.csv > lifesnaps.ndjson
    python public_nights.py pmdata pmdata/ > pmdata.ndjson
    python public_nights.py sleepybrain sessions.csv > sleepybrain.ndjson

docs/JUDGE.md says where the files come from. Python 3.9 and nothing else.
"""

import csv
import json
import sys
from pathlib import Path


def number(text):
    """A cell as a number; None where there is none."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if value == value else None


def between(text, low, high):
    value = number(text)
    return value if value is not None and low <= value <= high else None


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def known(fields):
    return {name: value for name, value in fields.items() if value is not None}


def one(value):
    """One average in the place of a series."""
    return None if value is None else [round(value, 2)]


def seconds(minutes):
    return None if minutes is None else round(60 * minutes)


def write(person, night, session, outcomes):
    row = {"person": person, "night": night, "current_session": known(session), **outcomes}
    sys.stdout.write(json.dumps(row) + "\n")


def lifesnaps(path):
    """The daily table of LifeSnaps: moods are ticks, 1 where ticked."""
    moods = ("ALERT", "HAPPY", "NEUTRAL", "RESTED/RELAXED", "SAD", "TENSE/ANXIOUS", "TIRED")
    for row in sorted(rows_of(path), key=lambda row: (row["id"], row["date"])):
        session = {
            "HR_day_1h": one(between(row["resting_hr"], 30, 120)),
            "HR_night": one(between(row["nremhr"], 30, 120)),
            "RR_night": one(between(row["full_sleep_breathing_rate"], 5, 30)),
            "sleepTimeSeconds": seconds(between(row["minutesAsleep"], 1, 1_440)),
            "awakeSleepSeconds": seconds(between(row["minutesAwake"], 0, 1_440)),
            # The study gives age in two bands only.
            "age": {"<30": 26, ">=30": 36}.get(row["age"]),
            "sex": {"MALE": "M", "FEMALE": "F"}.get(row["gender"]),
        }
        write(row["id"], row["date"], session, {name: number(row[name]) for name in moods})
