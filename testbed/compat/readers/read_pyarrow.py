import glob

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.json as pj

from common import arrow_type, columns, line_columns, from_arrow, rendered_arrow
from engine import Engine, is_json, micros


class Reader(Engine):
    name = "PyArrow"
    date = False
    limits = {
        "jsonl-.* hostile": (
            r"Column\(/double\) changed from number to string",
            "a column that has both numbers and \"NaN\" or \"Infinity\" is refused, and values of several kinds under one key likewise",
        )
    }
    partition_types = {"tenant": "string", "signal": "string", "dt": "string", "hour": "int32"}

    def version(self):
        return pa.__version__

    def type_of(self, c):
        return rendered_arrow(c)

    # A root holds three schemas, and a dataset has that of its first file: it
    # is given the files of one signal.
    def dataset(self, lake, signal, below="**"):
        files = glob.glob(lake.glob(signal, below=below), recursive=True)
        return ds.dataset(files, format="parquet", partitioning="hive")

    def read(self, lake, signal):
        d = self.dataset(lake, signal)
        return {f.name: arrow_type(f.type) for f in d.schema}, from_arrow(columns(lake.base, signal), d.to_table())

    def count(self, lake, signal, where):
        d, cond = self.dataset(lake, signal), pc.scalar(True)
        for kind, *c in where:
            if kind == "part":
                cond = (pc.field("tenant") == c[0]) & (pc.field("dt") == c[1]) & (pc.field("hour") == int(c[2]))
            elif kind == "time":
                at = [pa.scalar(t, pa.timestamp("us", "UTC")) for t in c]
                cond = (pc.field("ts") >= at[0]) & (pc.field("ts") < at[1])
            elif kind == "is":
                cond = pc.field(c[0]) == c[1]
            else:
                table = d.to_table(columns=[c[0]])
                return pc.sum(pc.equal(pc.map_lookup(table[c[0]], c[1], "first"), c[2])).as_py() or 0
        return d.count_rows(filter=cond)

    def levels(self, lake, signal):
        d = self.dataset(lake, signal, "**")
        counts = d.to_table(columns=["service"]).group_by("service").aggregate([([], "count_all")])
        return [(r["service"], r["count_all"]) for r in counts.to_pylist()]

    raw_json = False

    def lines(self, lake, signal, files):
        names = {"timestamp": pa.string(), "int64": pa.int64(), "int32": pa.int32(), "string": pa.string(), "double": pa.float64(), "bool": pa.bool_()}
        schema = pa.schema([(c["name"], names[c["type"]]) for c in line_columns(lake.base, signal) if not is_json(c)])
        parse = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        read = pj.ReadOptions(block_size=64 << 20)  # a line must fit into a block
        rows = [r for f in files for r in pj.read_json(f, parse_options=parse, read_options=read).to_pylist()]
        for r in rows:
            r["ts"], r["received_at"] = micros(r["ts"]), micros(r["received_at"])
        return rows
