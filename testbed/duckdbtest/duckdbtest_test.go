package duckdbtest

import (
	"reflect"
	"testing"
)

func TestQuery(t *testing.T) {
	db := Open(t)
	if r := db.Try("SELEKT 1"); r.Error == "" {
		t.Error("a query that is none succeeded")
	}
	got := db.Query("SELECT 1::BIGINT AS a, 'x' AS b, MAP {'k': 'v'} AS c, NULL AS d")
	want := Result{
		Columns: []string{"a", "b", "c", "d"},
		Types:   []string{"BIGINT", "VARCHAR", "MAP(VARCHAR, VARCHAR)", "INTEGER"},
		Rows:    [][]any{{"1", "x", []any{map[string]any{"key": "k", "value": "v"}}, nil}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
