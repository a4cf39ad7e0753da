"""
Nights of a lake to `acuity score`, and its scores to a lake, as Arrow streams: see docs/BULK.md.

    lake.py read URL [ORDER]     the Parquet files below URL, partitions as columns, to standard output; by ORDER
    lake.py write URL [COLUMN]   standard input to Parquet files below URL, in a folder for each value of COLUMN

URL is a folder, s3://bucket/folder or gs://bucket/folder. Needs pyarrow, and DuckDB for ORDER.
"""

import sys

import pyarrow
import pyarrow.dataset
import pyarrow.fs

ROWS_PER_BATCH = 4096


def read(url, order=None):
    filesystem, path = pyarrow.fs.FileSystem.from_uri(url)
    nights = pyarrow.dataset.dataset(path, filesystem=filesystem, format="parquet", partitioning="hive")
    if order is None:
        rows = nights.scanner(batch_size=ROWS_PER_BATCH).to_reader()
    else:
        import duckdb  # sorts what does not fit in memory on the disk

        column = '"' + order.replace('"', '""') + '"'
        rows = duckdb.sql(f"from nights order by {column}").to_arrow_reader(ROWS_PER_BATCH)
    with pyarrow.ipc.new_stream(sys.stdout.buffer, rows.schema) as stream:
        for batch in rows:
            stream.write_batch(batch)


def write(url, *columns):
    filesystem, path = pyarrow.fs.FileSystem.from_uri(url)
    pyarrow.dataset.write_dataset(
        pyarrow.ipc.open_stream(sys.stdin.buffer),
        path,
        filesystem=filesystem,
        format="parquet",
        partitioning=list(columns) or None,
        partitioning_flavor="hive" if columns else None,
        existing_data_behavior="overwrite_or_ignore",
    )


if __name__ == "__main__":
    {"read": read, "write": write}[sys.argv[1]](*sys.argv[2:])
