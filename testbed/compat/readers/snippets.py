"""Runs the snippets of the documentation, so that they cannot rot:
  python snippets.py LAKES ENDPOINT ENGINE PAGE...
A snippet is a fenced block with an engine behind its language. All snippets of
an engine share a session. Each query must give a row, each Python snippet only
tables with rows.
"""

import os
import re
import sys

base, endpoint, engine = sys.argv[1:4]
LAKE = os.path.join(base, "parquet-zstd")
LINES = os.path.join(base, "jsonl-gzip")


def blocks():
    for page in sys.argv[4:]:
        with open(page) as f:
            text = f.read()
        for m in re.finditer(r"^```(\w+) (\w+)\n(.*?)^```", text, re.M | re.S):
            if m[2] == engine:
                yield f"{page}:{text[: m.start()].count(chr(10)) + 1}", m[1], m[3]


def local(sql):
    """The snippet, asked of the lake at hand."""
    if engine == "clickhouse":
        sql = sql.replace("https://lake.s3.eu-central-1.amazonaws.com", endpoint + "/lake")
        sql = sql.replace("https://lines.s3.eu-central-1.amazonaws.com", endpoint + "/lines")
        return sql.replace("'KEY', 'SECRET'", f"'{os.environ['AWS_ACCESS_KEY_ID']}', '{os.environ['AWS_SECRET_ACCESS_KEY']}'")
    if engine in ("polars", "pyarrow", "pandas"):
        return sql  # over S3 indeed
    return sql.replace("s3://lake/", LAKE + "/").replace("s3a://lake/", LAKE + "/").replace("s3://lines/", LINES + "/").replace("s3a://lines/", LINES + "/")


def session():
    """A function that runs a statement and returns its rows."""
    if engine == "duckdb":
        import duckdb

        db = duckdb.connect()

        def run(sql):
            r = db.sql(sql)
            return None if r is None else r.to_arrow_table().to_pylist()

        return run
    if engine == "clickhouse":
        import json

        import chdb.session

        db = chdb.session.Session()
        db.query("CREATE DATABASE docs")
        db.query("USE docs")
        return lambda sql: json.loads(db.query(sql, "JSON").bytes() or b'{"data": []}')["data"]
    if engine == "spark":
        import read_spark

        s = read_spark.Reader().s
        return lambda sql: s.sql(sql).collect()
    if engine == "datafusion":
        from datafusion import SessionContext

        c = SessionContext()
        return lambda sql: c.sql(sql).to_pylist()


def run_python(code, scope):
    before = set(scope)
    exec(code, scope)
    for name, v in scope.items():
        if name not in before and hasattr(v, "__len__") and hasattr(v, "columns") and len(v) == 0:
            raise AssertionError(f"{name} has no rows")


def statements(sql):
    bare = "\n".join(line for line in sql.splitlines() if not line.lstrip().startswith("--"))
    return [s.strip() for s in re.split(r";\s*(?:\n|$)", bare) if s.strip()]


def main():
    bad = n = 0
    run = scope = None
    for at, language, text in blocks():
        n += 1
        try:
            if language == "python":
                scope = {} if scope is None else scope
                run_python(local(text), scope)
                continue
            run = run or session()
            for s in statements(local(text)):
                rows = run(s)
                if re.match(r"SELECT|WITH|FROM|DESCRIBE", s) and not rows:
                    raise AssertionError(f"no rows: {s}")
        except Exception as e:
            bad += 1
            print(f"{at}: {type(e).__name__}: {str(e)[:900]}")
    print(f"{engine}: {n} snippets, {bad} of them wrong")
    sys.exit(1 if bad or not n else 0)


main()
