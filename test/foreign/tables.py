"""
Nights in the forms in which other tools write them, and scores as those tools read them. See test/lake/others.test.ts.

    tables.py write FOLDER      writes a file for each form, and the same nights as requests, requests.ndjson
    tables.py read FOLDER       prints what each library reads of each file of scores, a line of JSON for each row
"""

import csv
import datetime
import json
import os
import random
import sys

PEOPLE, NIGHTS, SAMPLES = 3, 4, 12
SERIES = ("HR_day_1h", "RR_day_1h", "HR_night", "RR_night")
BESIDE = ("id", "person", "at", "token")
START = datetime.datetime(2025, 1, 1, 7, tzinfo=datetime.timezone.utc)


def nights(name):
    """By time; one is refused, some lack a field. Every value is a 32-bit float too."""
    draw = random.Random(7)
    for n in range(PEOPLE * NIGHTS):
        person = n % PEOPLE
        deep, rem, light = (60 * draw.randint(*minutes) for minutes in ((40, 90), (60, 110), (150, 260)))
        series = [
            [draw.randint(2 * least, 2 * most) / 2 for _ in range(SAMPLES)]
            for least, most in ((55, 90), (12, 20), (48, 70), (11, 18))
        ]
        yield {
            "id": f"é {n}",
            "person": f"{name} {person}",
            "at": START + datetime.timedelta(days=n // PEOPLE, seconds=person),
            "token": f"a text that is longer than twelve bytes, {n}",
            **dict(zip(SERIES, series)),
            **({"RR_night": None} if n % 5 == 3 else {}),
            "sleepTimeSeconds": deep + rem + light,
            "deepSleepSeconds": deep,
            "remSleepSeconds": rem,
            "lightSleepSeconds": light,
            "age": 131 if n == 4 else 30 + person,
            "height_cm": 165.5 + person,
            "sex": None if n % 5 == 2 else "MF"[person % 2],
        }


def session_of(night):
    return {name: value for name, value in night.items() if name not in BESIDE and value is not None}


def write(folder):
    def path(name):
        return os.path.join(folder, name)

    with open(path("requests.ndjson"), "w", encoding="utf-8") as file:
        for night in nights("requests"):
            beside = {name: str(night[name]) for name in BESIDE}
            file.write(json.dumps({**beside, "current_session": session_of(night)}) + "\n")
    write_pyarrow(path)
    write_pages(path)
    write_polars(path)
    write_duckdb(path)
    write_pandas(path)


def arrow_table(name, rows=None, item="float", texts="string"):
    import pyarrow as pa

    rows = list(nights(name)) if rows is None else rows
    lists = pa.large_list(pa.float64()) if item == "double" else pa.list_(pa.float32())
    text = pa.large_string() if texts == "large" else pa.string()
    types = {"at": pa.timestamp("us", "UTC"), "height_cm": pa.float64(), **{series: lists for series in SERIES}}
    types |= {field: text for field in ("id", "person", "token", "sex")}
    return pa.Table.from_pylist(rows, pa.schema([(field, types.get(field, pa.int64())) for field in rows[0]]))


def with_dictionaries(table):
    for place, field in enumerate(table.schema.names):
        if field in ("id", "person", "sex"):
            table = table.set_column(place, field, table.column(field).combine_chunks().dictionary_encode())
    return table


def write_pyarrow(path):
    import pyarrow as pa
    import pyarrow.parquet as parquet

    large = arrow_table("large", item="double", texts="large")
    parquet.write_table(large, path("large.parquet"), compression="gzip", row_group_size=5)
    with pa.ipc.new_file(path("large-lists.arrow"), large.schema) as file:
        file.write_table(arrow_table("large-lists", item="double", texts="large"), max_chunksize=5)
    parquet.write_table(with_dictionaries(arrow_table("coded")), path("coded.parquet"), compression="snappy")
    coded = with_dictionaries(arrow_table("coded-batches"))
    with pa.ipc.new_file(path("coded-batches.arrow"), coded.schema) as file:
        file.write_table(coded, max_chunksize=5)
    # Each batch with dictionaries of its own.
    rows = list(nights("coded-anew"))
    with pa.ipc.new_stream(path("coded-anew.arrows"), coded.schema) as stream:
        for start in range(0, len(rows), 5):
            stream.write_table(with_dictionaries(arrow_table("", rows[start : start + 5])))


def write_pages(path):
    """Every compression and both forms of pages, these so small that a column has many of them."""
    import pyarrow.parquet as parquet

    for compression, version, options in (
        ("none", "1.0", {"use_dictionary": False}),
        ("snappy", "2.0", {}),
        ("gzip", "1.0", {"use_dictionary": False, "use_byte_stream_split": [f"{series}.list.element" for series in SERIES]}),
        ("zstd", "2.0", {"use_dictionary": False}),
        ("brotli", "2.0", {}),
        ("lz4", "1.0", {}),
    ):
        name = f"pages-{compression}"
        pages = {"data_page_version": version, "data_page_size": 64, "write_batch_size": 2}
        parquet.write_table(arrow_table(name), path(f"{name}.parquet"), compression=compression, **pages, **options)


def write_polars(path):
    import polars as pl

    floats = {series: pl.List(pl.Float32) for series in SERIES}
    pl.DataFrame(list(nights("polars")), schema_overrides=floats).write_parquet(path("polars.parquet"))
    views = pl.DataFrame(list(nights("views")), schema_overrides=floats)
    views = views.with_columns(pl.col("HR_night").list.to_array(SAMPLES))
    views.write_ipc(path("views.arrow"), compression="uncompressed")
    kinds = [pl.col("person").cast(pl.Categorical), pl.col("sex").cast(pl.Enum(["M", "F"]))]
    kinds_of = pl.DataFrame(list(nights("categories"))).with_columns(kinds)
    kinds_of.write_parquet(path("categories.parquet"), compression="zstd", row_group_size=5)


def write_duckdb(path):
    import duckdb

    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    replaced = "height_cm::DECIMAL(6, 2) AS height_cm, age::DECIMAL(38, 1) AS age, sex::ENUM('M', 'F') AS sex"
    series = "list_transform(HR_night, lambda beats: beats::DECIMAL(5, 1)) AS HR_night"
    for name, columns, options in (
        ("duckdb.parquet", "*", "FORMAT parquet"),
        ("decimals.parquet", f"* REPLACE ({replaced}, {series})", "FORMAT parquet, COMPRESSION zstd"),
        ("database.csv", "*", "FORMAT csv, HEADER"),
    ):
        database.register("nights", arrow_table(name.split(".")[0]))
        database.execute(f"COPY (SELECT {columns} FROM nights) TO '{path(name)}' ({options})")


def write_pandas(path):
    import pandas as pd

    frame = pd.DataFrame(list(nights("pandas"))).assign(HR_night_imputed=None)
    frame.astype({"person": "category", "sex": "category"}).to_parquet(path("pandas.parquet"))
    pd.DataFrame(list(nights("frame"))).to_feather(path("frame.feather"), compression="uncompressed")
    pd.DataFrame(list(nights("cells"))).to_csv(path("cells.csv"), index=False)


def readers():
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as parquet

    def duckdb_of(function):
        return lambda path: duckdb.sql(f"FROM {function}('{path}')").to_arrow_table().to_pylist()

    def csv_of(path):
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    return {
        ".parquet": {
            "pyarrow": lambda path: parquet.read_table(path).to_pylist(),
            "polars": lambda path: pl.read_parquet(path).to_dicts(),
            "duckdb": duckdb_of("read_parquet"),
            "pandas": lambda path: pd.read_parquet(path).to_dict("records"),
        },
        ".arrow": {
            "pyarrow": lambda path: pa.ipc.open_file(path).read_all().to_pylist(),
            "polars": lambda path: pl.read_ipc(path).to_dicts(),
            "pandas": lambda path: pd.read_feather(path).to_dict("records"),
        },
        ".csv": {
            "csv": csv_of,
            "polars": lambda path: pl.read_csv(path).to_dicts(),
            "duckdb": duckdb_of("read_csv"),
            "pandas": lambda path: pd.read_csv(path).to_dict("records"),
        },
    }


def read(folder):
    of = readers()
    for name in sorted(os.listdir(folder)):
        for library, rows in of.get(os.path.splitext(name)[1], {}).items():
            for row in rows(os.path.join(folder, name)):
                scores = {key: float(row[key]) for key in ("C_SCORE", "stress")}
                # A text in each of them, which is JSON.
                kept = {key: row[key] for key in ("id", "person", "token", "valence")} | {"row": int(row["row"])}
                explanation = json.loads(row["explanation"])
                print(json.dumps({"file": name, "library": library, **kept, **scores, "explanation": explanation}))


if __name__ == "__main__":
    job, *given = sys.argv[1:]
    {"write": write, "read": read}[job](*given)
