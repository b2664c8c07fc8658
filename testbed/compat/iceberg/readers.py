"""Reads Iceberg tables with one engine and prints what it found, as JSON.

readers.py <engine> <catalog URI> <warehouse bucket> <table> …

S3 is at AWS_ENDPOINT_URL with the credentials of the environment. For each
table: rows by tenant; rows of acme by a filter that does not select the tenant;
rows of acme in one hour; rows where the column code is not null.
"""

import glob
import importlib
import json
import os
import sys

endpoint, key, secret = (os.environ[n] for n in ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"))
engine, uri, bucket, *tables = sys.argv[1:]


def catalog():
    from pyiceberg.catalog import load_catalog

    return load_catalog("c", type="rest", uri=uri, **{
        "s3.endpoint": endpoint, "s3.access-key-id": key, "s3.secret-access-key": secret, "s3.region": "us-east-1",
    })


def answer(by_tenant, acme, hour, code):
    return {"by_tenant": {str(t): int(n) for t, n in by_tenant}, "acme": int(acme), "hour": int(hour), "code": code if code is None else int(code)}


def pyiceberg(name):
    t = catalog().load_table(name)
    tenants = {}
    for tenant in t.scan(selected_fields=("tenant_id",)).to_arrow()["tenant_id"].to_pylist():
        tenants[tenant] = tenants.get(tenant, 0) + 1
    acme = t.scan(row_filter="tenant_id == 'acme'", selected_fields=("service_name",)).to_arrow().num_rows
    hour = t.scan(row_filter="tenant_id == 'acme' and received_at < '2026-11-30T23:00:00+00:00'", selected_fields=("service_name",)).to_arrow().num_rows
    code = None
    if "code" in t.schema().column_names:
        code = t.scan(row_filter="code is not null", selected_fields=("service_name",)).to_arrow().num_rows
    return answer(tenants.items(), acme, hour, code)


def polars(name):
    import polars as pl

    t = catalog().load_table(name)
    f = pl.scan_iceberg(t, storage_options={
        "aws_endpoint_url": endpoint, "aws_access_key_id": key, "aws_secret_access_key": secret, "aws_region": "us-east-1", "aws_allow_http": "true",
    })
    count = lambda q: q.select(pl.len()).collect().item()
    acme = f.filter(pl.col("tenant_id") == "acme")
    before = pl.lit("2026-11-30T23:00:00").str.to_datetime(time_zone="UTC", time_unit="us")
    code = count(f.filter(pl.col("code").is_not_null())) if "code" in t.schema().column_names else None
    return answer(f.group_by("tenant_id").len().collect().rows(), count(acme), count(acme.filter(pl.col("received_at") < before)), code)


def sql(query, columns):
    """Answers by SQL: query runs one and returns its rows."""
    code = query("select count(*) from {t} where code is not null")[0][0] if "code" in columns else None
    return answer(
        query("select tenant_id, count(*) from {t} group by 1"),
        query("select count(*) from {t} where tenant_id = 'acme'")[0][0],
        query("select count(*) from {t} where tenant_id = 'acme' and received_at < {before}")[0][0], code)


def duckdb(name):
    import duckdb

    t = catalog().load_table(name)
    db = duckdb.connect()
    for extension in ("avro", "httpfs", "iceberg"):
        package = importlib.import_module("duckdb_extension_" + extension)
        db.execute(f"load '{glob.glob(os.path.dirname(package.__file__) + '/**/*.duckdb_extension', recursive=True)[0]}'")
    db.execute(f"create secret (type s3, key_id '{key}', secret '{secret}', endpoint '{endpoint.removeprefix('http://')}', url_style 'path', use_ssl false, region 'us-east-1')")
    db.execute("set timezone = 'UTC'")
    query = lambda q: db.execute(q.format(t=f"iceberg_scan('{t.metadata_location}')", before="timestamptz '2026-11-30 23:00:00+00'")).fetchall()
    return sql(query, t.schema().column_names)


def chdb(name):
    import chdb

    t = catalog().load_table(name)
    source = f"icebergS3('{endpoint}/{t.location().removeprefix('s3://')}', '{key}', '{secret}')"
    query = lambda q: [json.loads(l) for l in str(chdb.query(q.format(t=source, before="toDateTime64('2026-11-30 23:00:00', 6, 'UTC')"), "JSONCompactEachRow")).splitlines()]
    return sql(query, t.schema().column_names)


def session():
    from pyspark.sql import SparkSession

    root = os.path.expanduser("~/.m2/repository/org/apache/iceberg/")
    jars = [root + f"{n}/1.10.0/{n}-1.10.0.jar" for n in ("iceberg-spark-runtime-3.5_2.12", "iceberg-aws-bundle")]
    b = SparkSession.builder.master("local[1]")
    for k, v in {
        "spark.ui.enabled": "false", "spark.driver.memory": "900m", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.jars": ",".join(jars), "spark.sql.shuffle.partitions": "1", "spark.sql.session.timeZone": "UTC", "spark.ui.showConsoleProgress": "false",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.c": "org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.c.type": "rest", "spark.sql.catalog.c.uri": uri,
        "spark.sql.catalog.c.io-impl": "org.apache.iceberg.aws.s3.S3FileIO", "spark.sql.catalog.c.s3.endpoint": endpoint,
        "spark.sql.catalog.c.s3.path-style-access": "true", "spark.sql.catalog.c.cache-enabled": "false",
    }.items():
        b = b.config(k, v)
    s = b.getOrCreate()
    s.sparkContext.setLogLevel("OFF")
    return s


def spark(name):
    s = session()
    query = lambda q: [tuple(r) for r in s.sql(q.format(t="c." + name, before="timestamp '2026-11-30 23:00:00'")).collect()]
    return sql(query, s.table("c." + name).columns)


# What another engine does to tables between two passes of the synchronisation.
def compact(name):
    session().sql(f"call c.system.rewrite_data_files(table => '{name}', options => map('min-input-files', '2', 'rewrite-all', 'true'))").collect()
    return spark(name)


def erase(name):
    session().sql(f"delete from c.{name} where tenant_id = 'globex'")
    return spark(name)


def pyerase(name):
    catalog().load_table(name).delete("tenant_id == 'globex'")
    return pyiceberg(name)


json.dump({t: globals()[engine](t) for t in tables}, sys.stdout)
