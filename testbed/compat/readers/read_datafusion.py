import urllib.parse

import datafusion
from datafusion import SessionContext

from common import arrow_type, columns, from_arrow, rendered_arrow
from engine import Engine, doubled, sql_where, utc


class Reader(Engine):
    name = "DataFusion"
    date = number = False
    limits = {"mixed .*": ("Found mixed partition values", "directories with and without a level do not read together")}
    partition_types = {"tenant": "dictionary<string>", "dt": "dictionary<string>", "hour": "dictionary<string>", "signal": "dictionary<string>"}

    def level(self, directory):
        return urllib.parse.unquote(directory)

    def version(self):
        return datafusion.__version__

    def type_of(self, c):
        return rendered_arrow(c)

    # The location is the root: DataFusion takes no glob, and passes over what
    # begins with an underscore only if no file there ends like a table's.
    def table(self, lake, signal):
        c = SessionContext()
        c.sql(f"CREATE EXTERNAL TABLE lake STORED AS PARQUET PARTITIONED BY (tenant, signal, dt, hour) LOCATION {doubled(lake.root + '/')}")
        return c

    def read(self, lake, signal):
        names = ", ".join(f'"{c["name"]}"' for c in columns(lake.base, signal))
        t = self.table(lake, signal).sql(f"SELECT {names}, tenant, signal, dt, hour FROM lake WHERE signal = {doubled(signal)}").to_arrow_table()
        return {f.name: arrow_type(f.type) for f in t.schema}, from_arrow(columns(lake.base, signal), t)

    def count(self, lake, signal, where):
        part = lambda t, d, h: f"tenant = {doubled(t)} AND dt = {doubled(d)} AND hour = {doubled(h)}"
        cond = sql_where(where, doubled, lambda t: f"arrow_cast('{utc(t)}', 'Timestamp(Microsecond, Some(\"UTC\"))')", part)
        return self.table(lake, signal).sql(f"SELECT count(*) AS n FROM lake WHERE signal = {doubled(signal)} AND {cond}").to_pylist()[0]["n"]

    def levels(self, lake, signal):
        c = SessionContext()
        c.sql(f"CREATE EXTERNAL TABLE lake STORED AS PARQUET PARTITIONED BY (tenant, signal, dt, hour, service) LOCATION {doubled(lake.root + '/')}")
        rows = c.sql(f"SELECT service, count(*) AS n FROM lake WHERE signal = {doubled(signal)} GROUP BY 1").to_pylist()
        return [(r["service"], r["n"]) for r in rows]
