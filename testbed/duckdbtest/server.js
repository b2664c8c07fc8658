// Runs queries for Go tests. Each line of standard input is {"sql": "…"};
// each line of standard output is {"columns": […], "types": […], "rows": [[…]]}
// or {"error": "…"}. Every query of a process runs in one DuckDB.
'use strict'

const path = require('node:path')
const readline = require('node:readline')
const { createRequire } = require('node:module')
const { DuckDBInstance } = createRequire(path.join(process.argv[2], 'package.json'))('@duckdb/node-api')

async function query(connection, sql) {
  const reader = await connection.runAndReadAll(sql)
  return {
    columns: reader.columnNames(),
    types: reader.columnTypes().map(String),
    rows: reader.getRowsJson(),
  }
}

async function main() {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await instance.connect()
  await connection.run("SET TimeZone = 'UTC'")
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let answer
    try {
      answer = await query(connection, JSON.parse(line).sql)
    } catch (e) {
      answer = { error: String(e.message ?? e) }
    }
    process.stdout.write(JSON.stringify(answer) + '\n')
  }
}

main().catch((e) => {
  process.stderr.write(`${e.stack}\n`)
  process.exit(1)
})
