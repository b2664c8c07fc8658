import json

import chdb
import pyarrow as pa

from common import columns, line_columns, from_arrow, rendered
from engine import Engine, backslashed, is_json, micros, sql_where


class Reader(Engine):
    name = "ClickHouse"
    decodes = False
    limits = {"mixed .*": ("Unknown expression identifier `service`", "where a directory has no level, the level is no column of any")}
    partition_types = {"tenant": "LowCardinality(String)", "signal": "LowCardinality(String)", "dt": "Date", "hour": "Int64"}

    def level(self, directory):
        return directory

    def version(self):
        return chdb.query("SELECT version()", "TabSeparated").bytes().decode().strip()

    def type_of(self, c):
        names = {"timestamp": "DateTime64(6, 'UTC')", "int64": "Int64", "int32": "Int32", "string": "String", "double": "Float64", "bool": "Bool"}
        return rendered(c, names, "Map(String, String)", lambda e: f"Array({e})", lambda fs: "Tuple(" + ", ".join(f"{n} {t}" for n, t in fs) + ")", lambda t: f"Nullable({t})")

    def table(self, glob):
        return f"file({backslashed(glob)}, Parquet)"

    def rows(self, sql):
        return json.loads(chdb.query(sql, "JSONCompact").bytes())["data"]

    def read(self, lake, signal):
        t = self.table(lake.glob(signal))
        types = {r[0]: r[1] for r in self.rows(f"DESCRIBE {t} SETTINGS print_pretty_type_names = 0")}
        b = chdb.query(f"SELECT * FROM {t}", "ArrowStream").bytes()
        return types, from_arrow(columns(lake.base, signal), pa.ipc.open_stream(b).read_all())

    def count(self, lake, signal, where):
        part = lambda t, d, h: f"tenant = {backslashed(t)} AND dt = {backslashed(d)} AND hour = {int(h)}"
        cond = sql_where(where, backslashed, lambda t: f"fromUnixTimestamp64Micro({t}, 'UTC')", part)
        return int(self.rows(f"SELECT count() FROM {self.table(lake.glob(signal))} WHERE {cond}")[0][0])

    def levels(self, lake, signal):
        glob = lake.glob(signal, below="**")
        return [(k, int(n)) for k, n in self.rows(f"SELECT service, count() FROM {self.table(glob)} GROUP BY ALL")]

    def lines(self, lake, signal, files):
        names = {"timestamp": "String", "int64": "Int64", "int32": "Int32", "string": "String", "double": "Float64", "bool": "Bool"}
        kinds = [(c["name"], "String" if is_json(c) else names[c["type"]], c["null"] or c["name"] == "body") for c in line_columns(lake.base, signal)]
        structure = ", ".join(f"`{n}` " + (f"Nullable({t})" if null else t) for n, t, null in kinds)
        rows = []
        for f in files:
            b = chdb.query(f"SELECT * FROM file({backslashed(f)}, JSONEachRow, {backslashed(structure)})", "ArrowStream").bytes()
            rows += from_arrow([], pa.ipc.open_stream(b).read_all())
        for r in rows:
            r["ts"], r["received_at"] = micros(r["ts"]), micros(r["received_at"])
            if r.get("body_type") in ("s", "y") or r.get("body") in ("NaN", "Infinity", "-Infinity"):
                r["body"] = json.dumps(r["body"])
        return rows
