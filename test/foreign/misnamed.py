"""
Nights under other names than the contract's, as databases and frames write them, for test/lake/names.test.ts.

    misnamed.py FOLDER      writes a file for each form
"""

import csv
import datetime
import json
import os
import sys

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet

NIGHTS = [
    {
        "user_id": f"p{n % 2}",
        "night": datetime.datetime(2025, 1, 1 + n // 2, 7, tzinfo=datetime.timezone.utc),
        "HR_night": [52.0 + n, 53.5, 51.0, 55.0],
        "RR_night": [13.0, 14.5, 13.5 + n, 14.0],
        "sleepTimeSeconds": 24_000 + 60 * n,
        "age": 30 + n % 2,
        "sex": "MF"[n % 2],
    }
    for n in range(6)
]
SESSION = ("HR_night", "RR_night", "sleepTimeSeconds", "age", "sex")


def changed(**columns):
    return [{**night, **{name: value(n, night) for name, value in columns.items()}} for n, night in enumerate(NIGHTS)]


def renamed(**names):
    return [{names.get(name, name): value for name, value in night.items()} for night in NIGHTS]


def write(folder):
    def path(name):
        return os.path.join(folder, name)

    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    database.register("nights", pa.Table.from_pylist(NIGHTS))
    # As Hive, Athena and SQL without quotes have them.
    small = ", ".join(f'"{name}" AS {name.lower()}' for name in NIGHTS[0])
    database.execute(f"COPY (SELECT {small} FROM nights) TO '{path('small.parquet')}' (FORMAT parquet)")
    database.execute(f"COPY (SELECT {small} FROM nights) TO '{path('small.csv')}' (FORMAT csv, HEADER)")
    database.execute(f"COPY (SELECT *, NULL::DATE AS day FROM nights LIMIT 0) TO '{path('empty.parquet')}' (FORMAT parquet)")
    database.execute(f"COPY (SELECT * REPLACE (131 AS age) FROM nights) TO '{path('bad.parquet')}' (FORMAT parquet)")

    pl.DataFrame(renamed(HR_night="HRnight", age="Age")).write_ipc(path("cases.arrow"), compression="uncompressed")
    pl.DataFrame(renamed(HR_night="HRnight")).write_ipc(path("slip.arrow"), compression="uncompressed")
    other = renamed(HR_night="pulse", RR_night="breath", sleepTimeSeconds="asleep", age="years", sex="gender")
    pl.DataFrame(other).write_parquet(path("other.parquet"))
    both = pl.DataFrame(NIGHTS).with_columns(pl.col("age").alias("AGE"))
    both.write_parquet(path("both.parquet"))

    # Text of Excel: a mark in front, quotes around everything.
    frame = pd.DataFrame(NIGHTS)
    frame.to_csv(path("marked.csv"), index=False, encoding="utf-8-sig", quoting=csv.QUOTE_ALL)
    # Whole numbers beside a missing one become floats.
    pd.DataFrame(changed(user_id=lambda n, _: None if n == 1 else n % 2)).to_parquet(path("floats.parquet"), index=False)
    with open(path("mixed.ndjson"), "w", encoding="utf-8") as file:
        for n, night in enumerate(NIGHTS):
            session = {(name.lower() if n == 4 else name): night[name] for name in SESSION}
            file.write(json.dumps({"user_id": night["user_id"], "night": str(night["night"]), "current_session": session}) + "\n")

    table = pa.Table.from_pylist(NIGHTS)
    people = {
        "lists": pa.array([[n] for n in range(6)]),
        "structs": pa.array([{"id": n} for n in range(6)]),
        "booleans": pa.array([n % 2 == 0 for n in range(6)]),
        "bytes": pa.array([bytes([n]) for n in range(6)]),
        "decimals": pa.array([n % 2 for n in range(6)]).cast(pa.decimal128(20, 0)),
        "moments": table.column("night"),
        "numbers": pa.array([n % 2 for n in range(6)], pa.uint64()),
        "coded": table.column("user_id").combine_chunks().dictionary_encode(),
    }
    for name, column in people.items():
        parquet.write_table(table.set_column(0, "user_id", column), path(f"person-{name}.parquet"))
    days = [night["night"].date() for night in NIGHTS]
    orders = {
        "dates": pa.array(days),
        "texts": pa.array([str(day) for day in days]),
        "stamps": pa.array([night["night"] for night in NIGHTS], pa.timestamp("ns")),
        "times": pa.array([night["night"].time() for night in NIGHTS]),
        "late": pa.array([*days[:4], days[0], days[5]]),
    }
    for name, column in orders.items():
        parquet.write_table(table.set_column(1, "night", column), path(f"order-{name}.parquet"))


if __name__ == "__main__":
    write(*sys.argv[1:])
