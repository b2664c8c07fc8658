// Package duckdbtest runs queries in DuckDB for tests: the reader that files
// of this project must open, in the version that is pinned in package.json.
//
// It needs node, and `make tools` (install.sh) to have been run.
package duckdbtest

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed server.js
var files embed.FS

// DB is a DuckDB in a process of its own, stopped when its test ends. It is for
// one goroutine at a time.
type DB struct {
	t   testing.TB
	in  io.Writer
	out *bufio.Reader
	log *bytes.Buffer
}

// Result is what a query returned. Values are as DuckDB's JSON form gives
// them: 64-bit integers, timestamps and the like are strings, a map is a list
// of {"key": …, "value": …}.
type Result struct {
	Columns []string
	Types   []string
	Rows    [][]any
	Error   string
}

// Open starts a DuckDB with one thread.
func Open(t testing.TB) *DB {
	t.Helper()
	modules := find(t)
	source, err := files.ReadFile("server.js")
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "server.js")
	if err := os.WriteFile(script, source, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", script, modules)
	db := &DB{t: t, log: &bytes.Buffer{}}
	cmd.Stderr = db.log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start node: %v", err)
	}
	db.in, db.out = in, bufio.NewReaderSize(out, 1<<20)
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("duckdb: %v\n%s", err, db.log)
		}
	})
	return db
}

// find returns .build/duckdb beside go.mod, or where S3WINDOW_DUCKDB says.
func find(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("S3WINDOW_DUCKDB"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	dir = filepath.Join(dir, ".build", "duckdb")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@duckdb", "node-api")); err != nil {
		t.Fatalf("DuckDB is not installed: run make tools (%v)", err)
	}
	return dir
}

// Try runs a query and returns DuckDB's error, if any, in the result.
func (db *DB) Try(sql string) Result {
	db.t.Helper()
	line, err := json.Marshal(map[string]string{"sql": sql})
	if err != nil {
		db.t.Fatal(err)
	}
	if _, err := db.in.Write(append(line, '\n')); err != nil {
		db.t.Fatalf("ask duckdb: %v\n%s", err, db.log)
	}
	answer, err := db.out.ReadBytes('\n')
	if err != nil {
		db.t.Fatalf("hear from duckdb: %v\n%s", err, db.log)
	}
	var r Result
	if err := json.Unmarshal(answer, &r); err != nil {
		db.t.Fatalf("read duckdb's answer: %v", err)
	}
	return r
}

// Query runs a query and fails the test if DuckDB refuses it.
func (db *DB) Query(sql string) Result {
	db.t.Helper()
	r := db.Try(sql)
	if r.Error != "" {
		db.t.Fatalf("duckdb: %s\n%s", r.Error, sql)
	}
	return r
}

// Quote returns s as an SQL string.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
