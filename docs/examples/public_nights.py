"""Nights of public data as acuity judge reads them: one JSON line for each, oldest first, with its outcomes beside it.

    python public_nights.py lifesnaps daily_fitbit_sema_df_unprocessed.csv > lifesnaps.ndjson
    python public_nights.py pmdata pmdata/ > pmdata.ndjson
    python public_nights.py sleepybrain sessions.csv > sleepybrain.ndjson

docs/JUDGE.md says where the files come from. Python 3.9 and nothing else.
"""

import csv
import json
import sys
import zipfile
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree


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


def xlsx_rows(path):
    """The cells of the first sheet, by column letter: a workbook is a ZIP of XML."""
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(path) as book:
        texts = []
        if "xl/sharedStrings.xml" in book.namelist():
            shared = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
            texts = ["".join(part.text or "" for part in item.iter(space + "t")) for item in shared]
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    for row in sheet.iter(space + "row"):
        cells = {}
        for cell in row.iter(space + "c"):
            value = "".join(part.text or "" for part in cell.iter() if part.tag in (space + "v", space + "t"))
            letters = "".join(letter for letter in cell.get("r", "") if letter.isalpha())
            cells[letters] = texts[int(value)] if cell.get("t") == "s" else value
        yield cells


def pmdata_people(folder):
    """Age, height and sex by person, from the overview's columns of these names."""
    people = {}
    columns = None
    for cells in xlsx_rows(folder / "participant-overview.xlsx"):
        if columns is None:
            names = {text.strip(): letters for letters, text in cells.items()}
            if "Participant ID" in names:
                columns = names
            continue
        of = {name: cells.get(letters, "").strip() for name, letters in columns.items()}
        if of.get("Participant ID"):
            people[of["Participant ID"]] = {
                "age": number(of.get("Age")),
                "height_cm": number(of.get("Height")),
                "sex": {"m": "M", "f": "F"}.get(of.get("Gender", "")[:1].lower()),
            }
    return people


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def american_date(text):
    """11/01/19 or 11/01/19 00:00:00 as 2019-11-01."""
    return datetime.strptime(text.split(" ")[0], "%m/%d/%y").date().isoformat()


def pmdata_days(folder):
    """Each day of each person, from the download: the main sleep that ended on it, and what was written on it."""
    for person in sorted(path for path in folder.glob("p[0-9][0-9]") if path.is_dir()):
        days = {}
        for entry in read_json(person / "fitbit" / "sleep.json"):
            if not entry.get("mainSleep"):
                continue
            stages = entry.get("levels", {}).get("summary", {})
            minutes = {name: stages.get(name, {}).get("minutes") for name in ("deep", "rem", "light")}
            days.setdefault(entry["dateOfSleep"][:10], {}).update(
                {"minutes_asleep": entry.get("minutesAsleep"), "minutes_awake": entry.get("minutesAwake"), **minutes}
            )
        for entry in read_json(person / "fitbit" / "resting_heart_rate.json"):
            value = entry.get("value") or {}
            if value.get("date") and value.get("value"):
                days.setdefault(american_date(value["date"]), {})["resting_hr"] = value["value"]
        wellness = person / "pmsys" / "wellness.csv"
        for row in rows_of(wellness) if wellness.exists() else []:
            days.setdefault(row["effective_time_frame"][:10], {}).update(row)
        for date in sorted(days):
            yield {"person": person.name, "date": date, **days[date]}


def pmdata(path):
    """PMData, as it is downloaded, or a folder with days.csv and people.csv. Ratings: 1 is bad and 5 good; 0 is none."""
    folder = Path(path)
    if (folder / "days.csv").exists():
        people = {
            row["person"]: {"age": number(row["age"]), "height_cm": number(row["height_cm"]), "sex": row["sex"]}
            for row in rows_of(folder / "people.csv")
        }
        days = rows_of(folder / "days.csv")
    else:
        people = pmdata_people(folder)
        days = pmdata_days(folder)
    for row in sorted(days, key=lambda row: (row["person"], row["date"])):
        staged = {name: seconds(number(row.get(name))) for name in ("deep", "rem", "light")}
        session = {
            # The device's resting heart rate stands in for the night's.
            "HR_night": one(between(row.get("resting_hr"), 30, 120)),
            "sleepTimeSeconds": seconds(number(row.get("minutes_asleep"))),
            "awakeSleepSeconds": seconds(number(row.get("minutes_awake"))),
            **{f"{name}SleepSeconds": value for name, value in staged.items()},
            **people.get(row["person"], {}),
        }
        if session["sleepTimeSeconds"] is None:
            continue
        ratings = {name: between(row.get(name), 1, 10) for name in ("mood", "stress", "fatigue", "readiness")}
        write(row["person"], row["date"], session, ratings)


def sleepybrain(path):
    """Sessions of SleepyBrain: the night before, and a vigilance test in the evening after it."""
    rows = rows_of(path)
    rested = {}
    for row in rows:
        speed = number(row["pvt_speed_per_s"])
        if row["restricted"] == "0" and speed is not None:
            rested.setdefault(row["age_group"], []).append(speed)
    for row in sorted(rows, key=lambda row: (row["person"], int(row["session"]))):
        minutes = number(row["psg_tst_min"])
        if minutes is None:
            continue

        def stage(*names):
            shares = [number(row[name]) for name in names]
            return None if None in shares else seconds(minutes * sum(shares) / 100)

        session = {
            "sleepTimeSeconds": seconds(minutes),
            "deepSleepSeconds": stage("psg_n3_pct"),
            "remSleepSeconds": stage("psg_rem_pct"),
            "lightSleepSeconds": stage("psg_n1_pct", "psg_n2_pct"),
            "awakeSleepSeconds": seconds(number(row["psg_waso_min"])),
            # The set gives age in two groups; these are their middles.
            "age": {"Young": 25, "Old": 70}.get(row["age_group"]),
            "sex": {"Male": "M", "Female": "F"}.get(row["sex"]),
        }
        speed = number(row["pvt_speed_per_s"])
        others = rested.get(row["age_group"], [])
        percentile = None
        if speed is not None and others:
            below = sum((other < speed) + 0.5 * (other == speed) for other in others)
            percentile = round(100 * below / len(others), 2)
        outcomes = {"pvt_percentile": percentile, "sleepiness": number(row["kss"]), "memory": number(row["wm_accuracy"])}
        write(row["person"], int(row["session"]), session, outcomes)


SETS = {"lifesnaps": lifesnaps, "pmdata": pmdata, "sleepybrain": sleepybrain}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in SETS:
        sys.exit(__doc__)
    SETS[sys.argv[1]](sys.argv[2])
