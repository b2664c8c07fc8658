"""What the engines are held to, and how one that is limited says so."""

import datetime
import glob
import os
import re
import traceback
import urllib.parse

from common import PARTITIONS, check_types, columns, line_columns, differences, double, expected_line, expected_rows, json_text, places, short


class Engine:
    """One reader. A subclass says how it reads and which types it must see."""

    name = ""
    limits = {}  # check -> (what the error or difference says, what to tell people); a check that passes all the same is an error
    partition_types = {}
    decodes = True  # percent-encoded values of directories
    date = True  # dt is a date; otherwise text
    number = True  # hour is a number; otherwise text

    def version(self): ...
    def type_of(self, column): ...
    def read(self, lake, signal): ...  # -> types by column, rows
    def count(self, lake, signal, where): ...  # where: a list of conditions
    def levels(self, lake, signal): ...  # -> rows by value of service=

    def text(self, v):
        return "%" if v == "" else v if self.decodes else v_encoded(v)

    def partition(self, p):
        return {
            "tenant": self.text(p["tenant"]),
            "signal": p["signal"],
            "dt": datetime.date.fromisoformat(p["dt"]) if self.date else p["dt"],
            "hour": int(p["hour"]) if self.number else p["hour"],
        }

    def adjust(self, cols, row):
        """Changes an expected row to what a known limit makes of it."""

    def cached(self, key, make):
        """What make gives, once: codecs do not change what must be read."""
        kept = self.__dict__.setdefault("_kept", {})
        if key not in kept:
            kept[key] = make()
        return kept[key]

    # the checks

    def check_rows(self, lake, signal):
        types, rows = self.read(lake, signal)
        cols = columns(lake.base, signal)
        wrong = check_types(cols, types, self)
        want = self.cached(("rows", signal), lambda: expected_rows(lake, signal, self))
        return wrong + differences(want, rows, [c["name"] for c in cols] + list(PARTITIONS))

    def check_filters(self, lake, signal):
        return [
            f"{where}: want {n} rows, read {got}"
            for where, n in filters(lake, signal)
            for got in [self.count(lake, signal, where)]
            if got != n
        ]

    def check_levels(self, lake, signal, mixed):
        want = {}
        for p in places(lake, signal):
            if p["level"] is None and not mixed:
                continue
            v = None if p["level"] is None else self.level(p["level"])
            want[v] = want.get(v, 0) + 1
        got = dict(self.levels(lake, signal))
        return [] if got == want else [f"want {short(want)}, read {short(got)}"]

    def level(self, directory):
        if directory == "__HIVE_DEFAULT_PARTITION__":
            return None
        return urllib.parse.unquote(directory) if self.decodes else directory

    def check_system(self, lake, signal):
        """A glob tenant=* sees nothing of _s3window."""
        n = self.count(lake, signal, [])
        return [] if n == len(places(lake, signal)) else [f"{n} rows"]

    def checks(self, all_lakes):
        for lake in all_lakes:
            for signal in lake.signals:
                key = f"{lake.name} {signal}"
                if lake.levels:
                    yield key, lambda l=lake, s=signal: self.check_levels(l, s, l.levels == "mixed")
                elif lake.format == "parquet":
                    yield f"{key} rows", lambda l=lake, s=signal: self.check_rows(l, s)
                    if lake.name == "parquet-zstd":
                        yield f"{key} filters", lambda l=lake, s=signal: self.check_filters(l, s) + self.check_system(l, s)
                elif self.lines is not None:
                    for t in "ordinary", "hostile":
                        yield f"{key} {t}", lambda l=lake, s=signal, t=t: self.check_lines(l, s, t == "ordinary")

    # JSON lines

    lines = None  # (lake, signal, files) -> rows; a time is in microseconds, what is nested or has no type of its own is JSON text
    raw_json = True  # whether an engine gives JSON text at all; otherwise only the other columns are compared

    def check_lines(self, lake, signal, ordinary):
        cols = [c for c in line_columns(lake.base, signal) if self.raw_json or not is_json(c)]
        want = self.cached(("lines", signal, ordinary), lambda: [
            {c["name"]: expected_line(c, p["row"]) for c in cols}
            for p in places(lake, signal) if (p["tenant"] == "acme") == ordinary
        ])
        tenants = [t for t in os.listdir(lake.root) if t.startswith("tenant=") and (t == "tenant=acme") == ordinary]
        files = [f for t in sorted(tenants) for f in sorted(glob.glob(lake.glob(signal, glob.escape(t.removeprefix("tenant=")))))]
        got = self.lines(lake, signal, files)
        for r in got:
            for c in cols:
                if is_json(c):
                    r[c["name"]] = json_text(r[c["name"]])
                elif c["type"] == "double" and r[c["name"]] is not None:
                    r[c["name"]] = double(r[c["name"]])
        return differences(want, got, [c["name"] for c in cols])

    def run(self, all_lakes):
        for name, check in self.checks(all_lakes):
            try:
                wrong = check()
            except Exception as e:  # whatever an engine raises is its answer
                wrong = [f"{type(e).__name__}: {e}".strip()[:2000], traceback.format_exc(limit=-1)]
            yield name, *self.judge(name, wrong)

    def judge(self, name, wrong):
        limit = next(((pattern, say) for check, (pattern, say) in self.limits.items() if re.fullmatch(check, name)), None)
        if limit is None:
            return ("wrong", wrong) if wrong else ("ok", [])
        if not wrong:
            return "wrong", ["it works: take it off the known limits"]
        if not re.search(limit[0], "\n".join(wrong)):
            return "wrong", ["not the known limit:"] + wrong
        return "limit", [limit[1]]


def is_json(c):
    return c["type"] in ("map", "list") or c["name"] == "body"


def micros(text):
    """A time of JSON lines, RFC 3339 with nanoseconds, in microseconds."""
    whole, nanos = text.removesuffix("Z").split(".")
    t = datetime.datetime.fromisoformat(whole + "+00:00") - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (t.days * 86400 + t.seconds) * 1000000 + int(nanos) // 1000


def v_encoded(v):
    """A value as it stands in a key."""
    if v in (".", ".."):
        return v.replace(".", "%2E")
    return "".join(chr(b) if chr(b).isascii() and (chr(b).isalnum() or chr(b) in "._-") else f"%{b:02X}" for b in v.encode())


def filters(lake, signal):
    """Conditions, and how many rows each must find. They go by promoted column,
    map, time, id and partition; values are such as occur, and one that does not."""
    all_places = places(lake, signal)

    def n(f):
        return sum(1 for p in all_places if f(p["row"], p))

    def has(m, k, v):
        return lambda r, p: any(e[0] == k and e[1] == v and not e[3] for e in r[m])

    rows = [p["row"] for p in all_places]
    low, high = 1789990000_000000 + 30_000000, 1789990000_000000 + 90_000000
    route = next(r["http_route"] for r in rows if r["http_route"] and "text of" not in r["http_route"])
    service = next(r["service_name"] for r in rows if r["service_name"])
    out = [
        ([("part", "acme", "2026-09-21", "11")], n(lambda r, p: (p["tenant"], p["dt"], p["hour"]) == ("acme", "2026-09-21", "11"))),
        ([("part", "acme", "2026-09-21", "09")], n(lambda r, p: (p["tenant"], p["dt"], p["hour"]) == ("acme", "2026-09-21", "09"))),
        ([("time", low, high)], n(lambda r, p: low <= r["ts"] < high)),
        ([("is", "service_name", service)], n(lambda r, p: r["service_name"] == service)),
        ([("is", "http_route", route)], n(lambda r, p: r["http_route"] == route)),
        ([("is", "http_route", "nowhere")], 0),
        ([("is", "int", -(2**63))], n(lambda r, p: r["int"] == -(2**63))),
        ([("is", "bool", True)], n(lambda r, p: r["bool"] is True)),
        ([("map", "resource_attributes", "telemetry.sdk.language", "go")], n(has("resource_attributes", "telemetry.sdk.language", "go"))),
        ([("map", "attributes", "emoji 😀", "👩‍👩‍👧‍👦 \U0010ffff \u2028")], n(has("attributes", "emoji 😀", "👩‍👩‍👧‍👦 \U0010ffff \u2028"))),
    ]
    if signal != "metrics":
        trace = next(r["trace_id"] for r in rows if r["trace_id"])
        out.append(([("is", "trace_id", trace)], n(lambda r, p: r["trace_id"] == trace)))
        out.append(([("is", "trace_id", "f" * 32)], 0))
    return out


def sql_where(where, quote, timestamp, part, subscript="{}[{}]"):
    """Conditions as SQL."""
    out = ["1 = 1"]
    for kind, *c in where:
        if kind == "part":
            out.append(part(*c))
        elif kind == "time":
            out.append(f"ts >= {timestamp(c[0])} AND ts < {timestamp(c[1])}")
        elif kind == "is":
            v = c[1]
            text = quote(v) if isinstance(v, str) else "true" if v is True else str(v)
            out.append(f"{'`' + c[0] + '`' if quote is backslashed else chr(34) + c[0] + chr(34)} = {text}")
        else:
            out.append(f"{subscript.format(c[0], quote(c[1]))} = {quote(c[2])}")
    return " AND ".join(out)


def doubled(s):
    return "'" + s.replace("'", "''") + "'"


def backslashed(s):
    return "'" + s.replace("\\", "\\\\").replace("'", "\\'") + "'"


def utc(micros):
    return datetime.datetime.fromtimestamp(micros / 1e6, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")
