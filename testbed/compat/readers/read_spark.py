import os
import urllib.parse

from pyspark.sql import SparkSession
import pyspark

from common import columns, line_columns, from_arrow, rendered
from engine import Engine, backslashed, is_json, sql_where, utc, v_encoded


class Reader(Engine):
    name = "Spark"
    partition_types = {"tenant": "string", "signal": "string", "dt": "date", "hour": "int"}

    limits = {"mixed .*": ("CONFLICTING_PARTITION_COLUMN_NAMES", "directories with and without a level do not read together")}

    def __init__(self):
        self.s = (
            SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1").config("spark.sql.session.timeZone", "UTC").config("spark.driver.memory", "2g")
            .config("spark.sql.warehouse.dir", os.path.abspath("spark-warehouse")).config("spark.ui.showConsoleProgress", "false").getOrCreate()
        )
        self.s.sparkContext.setLogLevel("OFF")

    # Spark unescapes directory names byte by byte: beyond ASCII they come out
    # as Latin-1.
    def text(self, v):
        return "%" if v == "" else urllib.parse.unquote(v_encoded(v), encoding="latin-1")

    def level(self, directory):
        return None if directory == "__HIVE_DEFAULT_PARTITION__" else urllib.parse.unquote(directory, encoding="latin-1")

    def version(self):
        return pyspark.__version__

    def type_of(self, c):
        names = {"timestamp": "timestamp", "int64": "bigint", "int32": "int", "string": "string", "double": "double", "bool": "boolean"}
        return rendered(c, names, "map<string,string>", lambda e: f"array<{e}>", lambda fs: "struct<" + ",".join(f"{n}:{t}" for n, t in fs) + ">")

    def frame(self, lake, signal):
        return self.s.read.option("basePath", lake.root).parquet(f"{lake.root}/tenant=*/signal={signal}")

    def read(self, lake, signal):
        f = self.frame(lake, signal)
        return {x.name: x.dataType.simpleString() for x in f.schema}, from_arrow(columns(lake.base, signal), f.toArrow())

    def count(self, lake, signal, where):
        part = lambda t, d, h: f"tenant = {backslashed(t)} AND dt = {backslashed(d)} AND hour = {int(h)}"
        cond = sql_where(where, backslashed, lambda t: f"TIMESTAMP '{utc(t)}Z'", part)
        return self.frame(lake, signal).where(cond).count()

    def levels(self, lake, signal):
        f = self.frame(lake, signal)
        return [(r[0], r[1]) for r in f.groupBy("service").count().collect()]

    raw_json = False

    def lines(self, lake, signal, files):
        names = {"timestamp": "timestamp", "int64": "bigint", "int32": "int", "string": "string", "double": "double", "bool": "boolean"}
        schema = ", ".join(f"`{c['name']}` {names[c['type']]}" for c in line_columns(lake.base, signal) if not is_json(c))
        return from_arrow([], self.s.read.schema(schema).json(files).toArrow())
