import datetime
import glob

import pandas as pd
import pyarrow as pa

from common import arrow_type, columns, line_columns, from_arrow, rendered_arrow
from engine import Engine, is_json, micros


class Reader(Engine):
    name = "pandas"
    date = False
    limits = {"jsonl-.* hostile": ("Value is too big|Range error", "the smallest int64 and denormal doubles are refused")}
    partition_types = {"tenant": "dictionary<string>", "signal": "dictionary<string>", "dt": "dictionary<string>", "hour": "dictionary<int32>"}

    def version(self):
        return pd.__version__

    def type_of(self, c):
        return rendered_arrow(c)

    def frame(self, lake, signal, filters=(), below="**"):
        files = glob.glob(lake.glob(signal, below=below), recursive=True)
        return pd.read_parquet(files, dtype_backend="pyarrow", partitioning="hive", filters=list(filters) or None)

    def arrow(self, frame):
        return pa.table({n: frame[n].array.__arrow_array__() if hasattr(frame[n].array, "__arrow_array__") else pa.array(frame[n]) for n in frame.columns})

    def read(self, lake, signal):
        t = self.arrow(self.frame(lake, signal))
        return {f.name: arrow_type(f.type) for f in t.schema}, from_arrow(columns(lake.base, signal), t)

    def count(self, lake, signal, where):
        filters, after = [], None
        for kind, *c in where:
            if kind == "part":
                filters += [("tenant", "==", c[0]), ("dt", "==", c[1]), ("hour", "==", int(c[2]))]
            elif kind == "time":
                at = [datetime.datetime.fromtimestamp(t / 1e6, datetime.timezone.utc) for t in c]
                filters += [("ts", ">=", at[0]), ("ts", "<", at[1])]
            elif kind == "is":
                filters.append((c[0], "==", c[1]))
            else:
                after = c
        f = self.frame(lake, signal, filters)
        if after:
            return sum(dict(m).get(after[1]) == after[2] for m in f[after[0]])
        return len(f)

    def levels(self, lake, signal):
        f = self.frame(lake, signal, below="**")
        counts = f.groupby("service", dropna=False, observed=True).size()
        return [(None if pd.isna(k) else k, int(n)) for k, n in counts.items()]

    raw_json = False

    def lines(self, lake, signal, files):
        cols = [c for c in line_columns(lake.base, signal) if not is_json(c)]
        rows = []
        for f in files:
            frame = pd.read_json(f, lines=True, dtype=False, precise_float=True)
            for r in frame.astype(object).where(frame.notna(), None).to_dict("records"):
                rows.append({c["name"]: r[c["name"]] for c in cols} | {"ts": micros(r["ts"]), "received_at": micros(r["received_at"])})
        return rows
