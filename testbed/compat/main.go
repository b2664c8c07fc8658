package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/partition"
)

func main() {
	dir := flag.String("dir", ".build/compat/lakes", "where the lakes are written; what is there is removed")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "compat:", err)
		os.Exit(1)
	}
}

// variant is a lake: all signals in one format and codec.
type variant struct {
	Name    string             `json:"name"`
	Format  string             `json:"format"`
	Codec   string             `json:"codec"`
	Level   string             `json:"level"`
	Levels  string             `json:"levels"`  // with a level service= below hour=: "", in "all" windows, or "mixed"
	Signals []partition.Signal `json:"signals"` // that could be written
}

func variants() []variant {
	return []variant{
		{Name: "parquet-zstd", Format: "parquet", Codec: "zstd"},
		{Name: "parquet-snappy", Format: "parquet", Codec: "snappy"},
		{Name: "parquet-zstd3", Format: "parquet", Codec: "zstd", Level: "3"},
		{Name: "jsonl-zstd", Format: "jsonl", Codec: "zstd"},
		{Name: "jsonl-gzip", Format: "jsonl", Codec: "gzip"},
		{Name: "jsonl-none", Format: "jsonl", Codec: "none"},
		{Name: "levels", Format: "parquet", Codec: "zstd", Levels: "all"},
		{Name: "mixed", Format: "parquet", Codec: "zstd", Levels: "mixed"},
	}
}

func signals() []partition.Signal {
	return []partition.Signal{partition.Logs, partition.Traces, partition.Metrics}
}

func run(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	written := variants()
	for i := range written {
		v := &written[i]
		for _, s := range signals() {
			spec := encode.Spec{Signal: s, Format: v.Format, Codec: v.Codec, Level: v.Level, Columns: columns()}
			e, err := encode.New(spec)
			if err != nil && v.Format == "jsonl" && s != partition.Logs {
				fmt.Printf("%s: %v: left out\n", v.Name, err)
				continue
			}
			if err != nil {
				return err
			}
			if err := writeLake(context.Background(), filepath.Join(dir, v.Name), *v, spec, e); err != nil {
				return fmt.Errorf("write lake %s: %w", v.Name, err)
			}
			v.Signals = append(v.Signals, s)
		}
	}
	return errors.Join(
		writeExpected(filepath.Join(dir, "expected"), inputs("")),
		writeExpected(filepath.Join(dir, "expected-levels"), inputs("mixed")),
		writeJSON(filepath.Join(dir, "lakes.json"), written),
		writeSchemas(dir),
	)
}

// columns are the default promoted columns, and one of each type from each
// place, of which one moves.
func columns() []encode.Column {
	out := encode.DefaultColumns()
	for _, c := range [][2]string{{"promoted", "string"}, {"int", "int64"}, {"double", "double"}, {"bool", "bool"}} {
		out = append(out,
			encode.Column{Attribute: c[0], As: c[0], Type: c[1], Move: c[0] == "bool"},
			encode.Column{ResourceAttribute: c[0], As: "resource_" + c[0], Type: c[1]},
			encode.Column{ScopeAttribute: c[0], As: "scope_" + c[0], Type: c[1]})
	}
	return out
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

func writeExpected(dir string, in []window) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, s := range signals() {
		f, err := os.Create(filepath.Join(dir, string(s)+".jsonl"))
		if err != nil {
			return err
		}
		e := json.NewEncoder(f)
		for _, w := range in {
			if w.signal != s {
				continue
			}
			rows, err := expected(w)
			if err != nil {
				return errors.Join(err, f.Close())
			}
			for _, r := range rows {
				at := place{Tenant: w.tenant, Signal: s, Dt: w.start.Format("2006-01-02"), Hour: w.start.Format("15"), Level: w.level, Row: r}
				if err := e.Encode(at); err != nil {
					return errors.Join(err, f.Close())
				}
			}
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// place is a row and the partition it is in.
type place struct {
	Tenant string           `json:"tenant"`
	Signal partition.Signal `json:"signal"`
	Dt     string           `json:"dt"`
	Hour   string           `json:"hour"`
	Level  *string          `json:"level"` // the directory's service=, as it stands there; null where there is no such level
	Row    row              `json:"row"`
}
