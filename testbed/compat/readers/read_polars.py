import datetime

import polars as pl

from common import columns, line_columns, deduplicated, from_arrow, rendered
from engine import Engine, is_json, micros


class Reader(Engine):
    name = "Polars"
    partition_types = {"tenant": "String", "signal": "String", "dt": "Date", "hour": "Int64"}
    limits = {"mixed .*": ("does not match height", "directories with and without a level do not read together")}

    # Of a key that a map has twice the last value is kept.
    def adjust(self, cols, row):
        deduplicated(cols, row)

    def version(self):
        return pl.__version__

    def type_of(self, c):
        names = {"timestamp": "Datetime(time_unit='us', time_zone='UTC')", "int64": "Int64", "int32": "Int32", "string": "String", "double": "Float64", "bool": "Boolean"}
        return rendered(c, names, "Map(String, String)", lambda e: f"List({e})", lambda fs: "Struct({" + ", ".join(f"'{n}': {t}" for n, t in fs) + "})")

    def frame(self, glob):
        return pl.scan_parquet(glob, hive_partitioning=True)

    def read(self, lake, signal):
        f = self.frame(lake.glob(signal))
        types = {n: str(t) for n, t in f.collect_schema().items()}
        return types, from_arrow(columns(lake.base, signal), f.collect().to_arrow())

    def count(self, lake, signal, where):
        f = self.frame(lake.glob(signal))
        for kind, *c in where:
            if kind == "part":
                f = f.filter(pl.col("tenant") == c[0], pl.col("dt") == datetime.date.fromisoformat(c[1]), pl.col("hour") == int(c[2]))
            elif kind == "time":
                at = [datetime.datetime.fromtimestamp(t / 1e6, datetime.timezone.utc) for t in c]
                f = f.filter(pl.col("ts") >= at[0], pl.col("ts") < at[1])
            elif kind == "is":
                f = f.filter(pl.col(c[0]) == c[1])
            else:
                f = f.filter(self.get(c[0], c[1]) == c[2])
        return f.select(pl.len()).collect().item()

    def get(self, column, key):
        return pl.col(column).map.get(key)

    def levels(self, lake, signal):
        glob = lake.glob(signal, below="**")
        return self.frame(glob).group_by("service").len().collect().rows()

    raw_json = False

    # Doubles are read as text, for JSON lines have "NaN" and "-Infinity" for
    # those that JSON has no number for.
    def lines(self, lake, signal, files):
        names = {"timestamp": pl.String, "int64": pl.Int64, "int32": pl.Int32, "string": pl.String, "double": pl.String, "bool": pl.Boolean}
        cols = line_columns(lake.base, signal)
        schema = {c["name"]: names[c["type"]] for c in cols if not is_json(c)}
        rows = pl.scan_ndjson([f for f in files], schema=schema).collect().to_dicts()
        for r in rows:
            r["ts"], r["received_at"] = micros(r["ts"]), micros(r["received_at"])
        return rows
