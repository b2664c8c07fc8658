package main

import (
	"fmt"
	"strings"

	"github.com/s3window/s3window/internal/encode/schema"
)

// engine is how an engine defines tables.
type engine struct {
	names      map[schema.Type]string
	list       func(element string) string
	structs    func(fields []string) string
	field      string // of a struct: name and type
	quote      string
	nullable   string // of a type; nothing where all are
	head, tail func(signal string) string
	partitions []string // definitions behind the columns
}

func (e engine) of(c schema.Column) string {
	text := e.names[c.Type]
	switch c.Type {
	case schema.TypeList:
		text = e.list(e.of(c.Of[0]))
	case schema.TypeStruct:
		var fields []string
		for _, f := range c.Of {
			fields = append(fields, fmt.Sprintf(e.field, f.Name, e.of(f)))
		}
		text = e.structs(fields)
	}
	if c.Null && e.nullable != "" {
		text = fmt.Sprintf(e.nullable, text)
	}
	return text
}

// table is the definition of a signal's table, with the columns that are
// promoted by default.
func (e engine) table(s schema.Signal) string {
	columns := s.Columns()
	for _, p := range schema.Defaults() {
		columns = append(columns, schema.Column{Name: p.Name(), Type: p.Type, Null: true})
	}
	var lines []string
	for _, c := range columns {
		lines = append(lines, "  "+e.quote+c.Name+e.quote+" "+e.of(c))
	}
	for _, p := range e.partitions {
		lines = append(lines, "  "+strings.ReplaceAll(p, "SIGNAL", string(s.Name)))
	}
	signal := string(s.Name)
	return e.head(signal) + strings.Join(lines, ",\n") + "\n" + e.tail(signal) + "```\n"
}

// signalText returns a function that puts the signal into a text.
func signalText(text string) func(string) string {
	return func(signal string) string { return strings.ReplaceAll(text, "SIGNAL", signal) }
}

func joined(open, between, shut string) func([]string) string {
	return func(fields []string) string { return open + strings.Join(fields, between) + shut }
}

func around(open, shut string) func(string) string {
	return func(s string) string { return open + s + shut }
}

const s3Template = "s3://lake/otel/tenant=${tenant}/signal=${signal}/dt=${dt}/hour=${hour}/"

func athena() engine {
	return engine{
		names: map[schema.Type]string{
			schema.TypeTimestamp: "timestamp", schema.TypeInt64: "bigint", schema.TypeInt32: "int", schema.TypeString: "string",
			schema.TypeDouble: "double", schema.TypeBool: "boolean", schema.TypeMap: "map<string,string>",
		},
		list: around("array<", ">"), structs: joined("struct<", ",", ">"), field: "%s:%s", quote: "`",
		head: signalText("```sql athena\nCREATE EXTERNAL TABLE SIGNAL (\n"),
		tail: signalText(")\nPARTITIONED BY (`tenant` string, `signal` string, `dt` string, `hour` string)\n" +
			"STORED AS PARQUET\nLOCATION 's3://lake/otel/'\nTBLPROPERTIES (\n" +
			"  'projection.enabled' = 'true',\n" +
			"  'projection.tenant.type' = 'injected',\n" +
			"  'projection.signal.type' = 'enum',\n" +
			"  'projection.signal.values' = 'SIGNAL',\n" +
			"  'projection.dt.type' = 'date',\n" +
			"  'projection.dt.format' = 'yyyy-MM-dd',\n" +
			"  'projection.dt.range' = '2026-01-01,NOW',\n" +
			"  'projection.dt.interval' = '1',\n" +
			"  'projection.dt.interval.unit' = 'DAYS',\n" +
			"  'projection.hour.type' = 'integer',\n" +
			"  'projection.hour.range' = '0,23',\n" +
			"  'projection.hour.digits' = '2',\n" +
			"  'storage.location.template' = '" + s3Template + "'\n);\n"),
	}
}

func trino() engine {
	return engine{
		names: map[schema.Type]string{
			schema.TypeTimestamp: "timestamp(6)", schema.TypeInt64: "bigint", schema.TypeInt32: "integer", schema.TypeString: "varchar",
			schema.TypeDouble: "double", schema.TypeBool: "boolean", schema.TypeMap: "map(varchar, varchar)",
		},
		list: around("array(", ")"), structs: joined("row(", ", ", ")"), field: "%s %s", quote: `"`,
		head: signalText("```sql trino\nCREATE TABLE hive.otel.SIGNAL (\n"),
		partitions: []string{
			"tenant varchar WITH (partition_projection_type = 'injected')",
			"signal varchar WITH (partition_projection_type = 'enum', partition_projection_values = ARRAY['SIGNAL'])",
			"dt varchar WITH (partition_projection_type = 'date', partition_projection_format = 'yyyy-MM-dd', partition_projection_range = ARRAY['2026-01-01', 'NOW'], partition_projection_interval = 1, partition_projection_interval_unit = 'DAYS')",
			"hour varchar WITH (partition_projection_type = 'integer', partition_projection_range = ARRAY['0', '23'], partition_projection_digits = 2)",
		},
		tail: signalText(")\nWITH (\n  external_location = 's3://lake/otel/',\n  format = 'PARQUET',\n" +
			"  partitioned_by = ARRAY['tenant', 'signal', 'dt', 'hour'],\n  partition_projection_enabled = true,\n" +
			"  partition_projection_location_template = '" + s3Template + "'\n);\n"),
	}
}

func clickhouse() engine {
	return engine{
		names: map[schema.Type]string{
			schema.TypeTimestamp: "DateTime64(6, 'UTC')", schema.TypeInt64: "Int64", schema.TypeInt32: "Int32", schema.TypeString: "String",
			schema.TypeDouble: "Float64", schema.TypeBool: "Bool", schema.TypeMap: "Map(String, String)",
		},
		list: around("Array(", ")"), structs: joined("Tuple(", ", ", ")"), field: "`%s` %s", quote: "`", nullable: "Nullable(%s)",
		head: signalText("```sql clickhouse\nCREATE TABLE SIGNAL (\n"),
		tail: signalText(") ENGINE = S3('https://lake.s3.eu-central-1.amazonaws.com/otel/tenant=*/signal=SIGNAL/dt=*/hour=*/*.parquet', 'KEY', 'SECRET', 'Parquet');\n"),
	}
}
