"""
Folders partitioned by person and night, as other tools write them, and their scores as these tools read them. See
test/lake/others.test.ts.

    hive.py write FOLDER   writes a tree for each library, and the same nights as one file, nights.parquet
    hive.py read FOLDER…   prints what each library reads of each tree of scores, a line of JSON for each row
    hive.py put FOLDER     copies a folder to s3://nights/lake, and makes s3://scores
    hive.py get ADDRESS    prints the rows of a Parquet file in a store
    hive.py delta FILE     makes a Delta table of a Parquet file beside it, in two versions, FILE.delta
    hive.py extension NAME prints where PyPI's wheel of an extension of DuckDB has its file
"""

import glob
import json
import os
import sys
import sysconfig

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet

from tables import nights

KEYS = ["user_id", "night"]


def rows():
    for n, night in enumerate(nights("one")):
        at = night.pop("at")
        del night["token"]
        yield {**night, "user_id": [7, 8, 10][n % 3], "night": at.date().isoformat()}


def write(folder):
    def path(name):
        return os.path.join(folder, name)

    # What is sought is not in the order of its folders.
    table = pyarrow.Table.from_pylist(list(rows()))
    pyarrow.parquet.write_table(table, path("nights.parquet"))
    table.to_pandas().to_parquet(path("pandas"), partition_cols=KEYS)
    polars.from_arrow(table).write_parquet(path("polars"), partition_by=KEYS, mkdir=True)
    copy = "copy (select * from rows_of) to '{}' (format parquet, partition_by ({}){})"
    rows_of = table  # DuckDB finds it by its name
    duckdb.sql(copy.format(path("duckdb"), "night, user_id", ""))
    duckdb.sql(copy.format(path("both"), "user_id", ", write_partition_columns true"))


def read(folder):
    readers = {
        "pandas": lambda: pandas.read_parquet(folder).astype({"user_id": int, "night": str}),
        # By itself it would read the bad rows too.
        "polars": lambda: (
            polars.read_parquet(f"{folder}/**/*.parquet", hive_partitioning=True).cast({"night": str}).to_pandas()
        ),
        "duckdb": lambda: duckdb.sql(
            f"select * replace (night::text as night) from read_parquet('{folder}/**/*.parquet')"
        ).df(),
    }
    for library, frame in readers.items():
        for row in frame().to_dict("records"):
            scores = {name: row[name] for name in ("user_id", "night", "id", "C_SCORE", "memory")}
            print(json.dumps({"tree": folder, "library": library, **scores}, default=str))


def put(folder):
    store, _ = pyarrow.fs.FileSystem.from_uri("s3://nights?allow_bucket_creation=true")
    for bucket in ("nights", "scores"):
        store.create_dir(bucket)
    pyarrow.fs.copy_files(folder, "s3://nights/lake")


def get(address):
    store, path = pyarrow.fs.FileSystem.from_uri(address)
    for row in pyarrow.dataset.dataset(path, filesystem=store).to_table().to_pylist():
        print(json.dumps(row))


def delta(file):
    import deltalake

    table = pyarrow.parquet.read_table(file)
    half = table.num_rows // 2
    deltalake.write_deltalake(f"{file}.delta", table.slice(0, half))
    deltalake.write_deltalake(f"{file}.delta", table.slice(half), mode="append")


def extension(name):
    print(glob.glob(f"{sysconfig.get_path('purelib')}/**/{name}.duckdb_extension", recursive=True)[0])


JOBS = (write, read, put, get, delta, extension)

if __name__ == "__main__":
    for argument in sys.argv[2:]:
        {job.__name__: job for job in JOBS}[sys.argv[1]](argument)
