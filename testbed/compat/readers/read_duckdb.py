import duckdb

from common import columns, line_columns, from_arrow, rendered
from engine import Engine, doubled, is_json, sql_where, utc


class Reader(Engine):
    name = "DuckDB"
    number = False
    partition_types = {"tenant": "VARCHAR", "signal": "VARCHAR", "dt": "DATE", "hour": "VARCHAR"}
    limits = {"mixed .*": ("Hive partition mismatch", "directories with and without a level do not read together")}

    def __init__(self):
        self.db = duckdb.connect()

    def version(self):
        return duckdb.__version__

    def type_of(self, c):
        names = {"timestamp": "TIMESTAMP WITH TIME ZONE", "int64": "BIGINT", "int32": "INTEGER", "string": "VARCHAR", "double": "DOUBLE", "bool": "BOOLEAN"}
        quoted = lambda n: f'"{n}"' if n in ("name", "value") else n
        return rendered(c, names, "MAP(VARCHAR, VARCHAR)", lambda e: e + "[]", lambda fs: "STRUCT(" + ", ".join(f"{quoted(n)} {t}" for n, t in fs) + ")")

    def table(self, glob):
        return f"read_parquet({doubled(glob)}, hive_partitioning = true)"

    def read(self, lake, signal):
        r = self.db.sql(f"FROM {self.table(lake.glob(signal))}")
        types = {n: str(t) for n, t in zip(r.columns, r.types)}
        return types, from_arrow(columns(lake.base, signal), r.to_arrow_table())

    def count(self, lake, signal, where):
        part = lambda t, d, h: f"tenant = {doubled(t)} AND dt = {doubled(d)} AND hour = {doubled(h)}"
        cond = sql_where(where, doubled, lambda t: f"TIMESTAMPTZ '{utc(t)}+00'", part)
        return self.db.sql(f"SELECT count(*) FROM {self.table(lake.glob(signal))} WHERE {cond}").fetchall()[0][0]

    def levels(self, lake, signal):
        glob = lake.glob(signal, below="**")
        return self.db.sql(f"SELECT service, count(*) FROM {self.table(glob)} GROUP BY ALL").fetchall()

    # Columns are spelled out: what is inferred of attributes depends on the records.
    def lines(self, lake, signal, files):
        names = {"timestamp": "TIMESTAMPTZ", "int64": "BIGINT", "int32": "INTEGER", "string": "VARCHAR", "double": "DOUBLE", "bool": "BOOLEAN"}
        cols = ", ".join(f'"{c["name"]}": \'{"JSON" if is_json(c) else names[c["type"]]}\'' for c in line_columns(lake.base, signal))
        r = self.db.sql(f"FROM read_json({files}, format = 'newline_delimited', maximum_object_size = 100000000, columns = {{{cols}}})")
        return from_arrow([], r.to_arrow_table())
