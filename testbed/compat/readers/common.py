"""What all readers share: the lakes, what must be found in them, and how rows
are compared. Values are put in a canonical form that Python can hash:

  timestamp  int, microseconds      map     tuple of (key, value), in order
  double     repr of the float      list    tuple
  int, bool, string as they are     struct  tuple of values in field order
"""

import functools
import json
import math
import os
from collections import Counter

PARTITIONS = ("tenant", "signal", "dt", "hour")


class Lake:
    def __init__(self, base, entry):
        self.base, self.name, self.format, self.codec = base, entry["name"], entry["format"], entry["codec"]
        self.levels, self.signals = entry["levels"], entry["signals"]
        self.root = os.path.join(base, self.name, "otel")
        self.ext = {"zstd": "jsonl.zst", "gzip": "jsonl.gz", "none": "jsonl"}[self.codec] if self.format == "jsonl" else "parquet"

    def glob(self, signal, tenant="*", below="dt=*/hour=*"):
        return f"{self.root}/tenant={tenant}/signal={signal}/{below}/*.{self.ext}"


def lakes(base):
    with open(os.path.join(base, "lakes.json")) as f:
        return [Lake(base, e) for e in json.load(f)]


@functools.cache
def columns(base, signal):
    with open(os.path.join(base, f"schema-{signal}.json")) as f:
        return json.load(f)


def line_columns(base, signal):
    """The columns that lines have too: the tenant is in their path alone."""
    return [c for c in columns(base, signal) if c["name"] != "tenant_id"]


@functools.cache
def _places(base, directory, signal):
    with open(os.path.join(base, directory, signal + ".jsonl")) as f:
        return [json.loads(line) for line in f]


def places(lake, signal):
    """The expected rows with the partition that each is in."""
    return _places(lake.base, "expected-levels" if lake.levels else "expected", signal)


def double(v):
    v = float(v)
    return "nan" if math.isnan(v) else repr(v)


def expected_value(c, row):
    """The canonical form of what the generator wrote down."""
    name, kind, v = c["name"], c["type"], row.get(c["name"])
    if name.endswith("_types"):
        return "".join(e[2] for e in row[name.removesuffix("_types")] if not e[3])
    if kind == "map":
        return tuple((e[0], e[1]) for e in v if not e[3])
    if v is None:
        return None
    if kind == "double":
        return double(v)
    if kind == "list":
        of = c["of"][0]
        if of["type"] == "struct":
            return tuple(tuple(expected_value(f, e) for f in of["of"]) for e in v)
        return tuple(double(e) if of["type"] == "double" else e for e in v)
    return v


def json_value(v):
    """A JSON value that Python can hash; objects are given as lists of pairs."""
    if isinstance(v, float):
        return ("double", double(v))
    if isinstance(v, Pairs):
        return ("object", *((k, json_value(e)) for k, e in v))
    if isinstance(v, list):
        return ("list", *(json_value(e) for e in v))
    return v


class Pairs(tuple):
    """A JSON object, duplicate keys kept."""


def json_text(text):
    """The JSON value of a text, or None where there is none."""
    return None if text is None else json_value(json.loads(text, object_pairs_hook=Pairs))


def line_value(text, letter):
    """The JSON value that stands in a line for the value of an attribute."""
    if letter in "sy":
        return text
    if letter == "n":
        return None
    if letter == "d":
        return text if text in ("NaN", "Infinity", "-Infinity") else ("double", double(text))
    return json_text(text)


def expected_line(c, row, nested=False):
    """expected_value for a field of JSON lines: promoted attributes stay in
    their maps, and values are of their own kind."""
    name, kind, v = c["name"], c["type"], row.get(c["name"])
    if name == "body":
        return line_value(v, row["body_type"])
    if name.endswith("_types"):
        return "".join(e[2] for e in row[name.removesuffix("_types")])
    if kind == "map":
        return ("object", *((e[0], line_value(e[1], e[2])) for e in v))
    if kind == "struct":
        return ("object", *((f["name"], expected_line(f, row, True)) for f in c["of"]))
    if kind == "list":
        of = c["of"][0]
        if of["type"] == "struct":
            return ("list", *(expected_line(of, e) for e in v))
        return ("list", *(nested_double(e) if of["type"] == "double" else e for e in v))
    if kind == "double" and v is not None:
        return nested_double(v) if nested else double(v)
    return v


def nested_double(v):
    return v if v in ("NaN", "Infinity", "-Infinity") else ("double", double(v))


def deduplicated(cols, row):
    """Makes of every map what is left where a key can be there once: the last
    value, in the place of the first."""
    def of(c, v):
        if v is None:
            return v
        if c["type"] == "map":
            return tuple(dict(v).items())
        if c["type"] == "list":
            return tuple(of(c["of"][0], e) for e in v)
        if c["type"] == "struct":
            return tuple(of(f, e) for f, e in zip(c["of"], v))
        return v

    for c in cols:
        row[c["name"]] = of(c, row[c["name"]])


def value(c, v):
    """The canonical form of what a reader gave as a Python value."""
    kind = c["type"]
    if v is None:
        return None
    if kind == "double":
        return double(v)
    if kind == "map":
        return tuple(v.items()) if isinstance(v, dict) else tuple((e["key"], e["value"]) if isinstance(e, dict) else tuple(e) for e in v)
    if kind == "list":
        return tuple(value(c["of"][0], e) for e in v)
    if kind == "struct":
        return tuple(value(f, v[f["name"]]) for f in c["of"])
    return v


def from_arrow(cols, table):
    """The rows of an Arrow table, canonical."""
    import pyarrow as pa

    out = []
    for name in table.column_names:
        a = table.column(name)
        if pa.types.is_timestamp(a.type):
            a = a.cast(pa.timestamp("us", a.type.tz)).cast(pa.int64())
        if pa.types.is_dictionary(a.type):
            a = a.cast(a.type.value_type)
        c = next((c for c in cols if c["name"] == name), None)
        values = a.to_pylist()
        out.append([value(c, v) for v in values] if c else values)
    return [dict(zip(table.column_names, r)) for r in zip(*out)]


def arrow_type(t):
    """An Arrow type as text, without names of inner fields and nullability."""
    import pyarrow as pa

    if pa.types.is_map(t):
        return f"map<{arrow_type(t.key_type)}, {arrow_type(t.item_type)}>"
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return f"list<{arrow_type(t.value_type)}>"
    if pa.types.is_struct(t):
        return "struct<" + ", ".join(f"{f.name}: {arrow_type(f.type)}" for f in t) + ">"
    if pa.types.is_dictionary(t):
        return f"dictionary<{arrow_type(t.value_type)}>"
    return str(t).replace("large_string", "string").replace("string_view", "string")


def rendered(c, names, of_map, of_list, of_struct, nullable=str):
    """The type that an engine must see, from its names for the scalar ones."""
    if c["type"] == "map":
        return of_map
    if c["type"] == "list":
        return of_list(rendered(c["of"][0], names, of_map, of_list, of_struct, nullable))
    if c["type"] == "struct":
        return of_struct([(f["name"], rendered(f, names, of_map, of_list, of_struct, nullable)) for f in c["of"]])
    return names[c["type"]] if not c["null"] else nullable(names[c["type"]])


ARROW_NAMES = {"timestamp": "timestamp[us, tz=UTC]", "int64": "int64", "int32": "int32", "string": "string", "double": "double", "bool": "bool"}


def rendered_arrow(c, names=ARROW_NAMES):
    return rendered(c, names, "map<string, string>", lambda e: f"list<{e}>", lambda fs: "struct<" + ", ".join(f"{n}: {t}" for n, t in fs) + ">")


def short(v):
    s = repr(v)
    return s if len(s) < 160 else s[:150] + f"… ({len(s)})"


def differences(want, got, names):
    """Says where two lists of rows differ, whatever their order."""
    w = Counter(tuple(r[n] for n in names) for r in want)
    g = Counter(tuple(r.get(n) for n in names) for r in got)
    missing, extra = list((w - g).elements()), list((g - w).elements())
    if not missing and not extra:
        return []
    out = [f"{len(want)} rows wanted, {len(got)} read; {len(missing)} missing, {len(extra)} not wanted"]
    for m in missing[:400]:
        if not extra:
            break
        near = min(extra, key=lambda e: sum(a != b for a, b in zip(m, e)))
        extra.remove(near)
        out += [f"{n}: want {short(a)}, read {short(b)}" for n, a, b in zip(names, m, near) if a != b or type(a) is not type(b)]
    return out[:40]


def expected_rows(lake, signal, engine):
    """What engine must read of a signal: rows with their partition columns."""
    cols = columns(lake.base, signal)
    out = []
    for p in places(lake, signal):
        row = {c["name"]: expected_value(c, p["row"]) for c in cols}
        row.update(engine.partition(p))
        engine.adjust(cols, row)
        out.append(row)
    return out


def check_types(cols, got, engine):
    want = {c["name"]: engine.type_of(c) for c in cols} | engine.partition_types
    return [f"{n}: want type {t}, read {got.get(n)}" for n, t in want.items() if got.get(n) != t] + [
        f"{n}: not wanted" for n in got if n not in want
    ]
