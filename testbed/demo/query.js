// Runs the demo's queries over the Parquet files that its argument globs.
const { DuckDBInstance } = require('@duckdb/node-api');

const lake = `read_parquet('${process.argv[1].replaceAll("'", "''")}', hive_partitioning = true)`;

const queries = [
  `SELECT tenant, count(*) AS records, count(DISTINCT attributes['s3window.test.id']) AS different_ids,
       strftime(min(ts), '%H:%M:%S') AS first, strftime(max(ts), '%H:%M:%S') AS last
FROM lake
GROUP BY tenant ORDER BY tenant`,
  `SELECT service_name, count(*) AS records, count(*) FILTER (severity_text = 'ERROR') AS errors
FROM lake
WHERE tenant = 'acme'
GROUP BY service_name ORDER BY errors DESC`,
];

function print(names, rows) {
  const width = names.map((name, i) => Math.max(name.length, ...rows.map((row) => String(row[i]).length)));
  for (const row of [names, ...rows]) {
    console.log('  ' + row.map((v, i) => String(v).padEnd(width[i])).join('  ').trimEnd());
  }
}

async function main() {
  const db = await (await DuckDBInstance.create(':memory:')).connect();
  await db.run(`CREATE VIEW lake AS SELECT * FROM ${lake}`);
  for (const sql of queries) {
    console.log('\n  ' + sql.replaceAll('\n', '\n  ') + ';\n');
    const result = await db.runAndReadAll(sql);
    print(result.columnNames(), result.getRowsJson());
  }
}

main().catch((err) => { console.error(String(err)); process.exit(1); });
