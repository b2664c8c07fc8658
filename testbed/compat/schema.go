package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/s3window/s3window/internal/partition"
)

// schemaDir has the physical schemas that internal/encode's tests hold.
const schemaDir = "internal/encode/testdata"

// column is a column, or a field of a struct, as readers see it.
type column struct {
	Name string   `json:"name"`
	Type string   `json:"type"` // timestamp, int64, int32, string, double, bool, map, list, struct
	Null bool     `json:"null"` // it may be null
	Of   []column `json:"of,omitempty"`
}

// node is an element of a Parquet schema in text form.
type node struct {
	name, physical, logical string
	optional                bool
	children                []*node
}

// readSchema reads the columns out of the text that schemaDir keeps of a
// signal's schema, promoted columns included.
func readSchema(dir string, s partition.Signal) ([]column, error) {
	b, err := os.ReadFile(filepath.Join(dir, string(s)+"-v1.txt"))
	if err != nil {
		return nil, err
	}
	_, text, ok := bytes.Cut(b, []byte("message schema {\n"))
	if !ok {
		return nil, fmt.Errorf("read schema of %s: there is no message", s)
	}
	root := &node{}
	open := []*node{root}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan() && len(open) > 0; {
		line := strings.TrimSpace(lines.Text())
		if line == "}" {
			open = open[:len(open)-1]
			continue
		}
		f := strings.Fields(line)
		if len(f) < 3 {
			return nil, fmt.Errorf("read schema of %s: line %q", s, line)
		}
		n := &node{
			name: strings.TrimSuffix(f[2], ";"), physical: f[1], optional: f[0] == "optional",
			logical: strings.Trim(strings.Join(f[3:], " "), "(); {"),
		}
		top := open[len(open)-1]
		top.children = append(top.children, n)
		if strings.HasSuffix(line, "{") {
			open = append(open, n)
		}
	}
	return columnsOf(root.children)
}

func columnsOf(nodes []*node) (out []column, err error) {
	for _, n := range nodes {
		c, err := n.column()
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func (n *node) column() (c column, err error) {
	c.Name, c.Null = n.name, n.optional
	switch {
	case n.logical == "MAP":
		c.Type = "map"
		return c, nil
	case n.logical == "LIST":
		c.Type = "list"
		c.Of, err = columnsOf(n.children[0].children)
		return c, err
	case n.physical == "group":
		c.Type = "struct"
		c.Of, err = columnsOf(n.children)
		return c, err
	}
	kind, ok := map[string]string{
		"int64": "int64", "int32": "int32", "double": "double", "boolean": "bool", "binary": "string",
	}[n.physical]
	if !ok {
		return c, fmt.Errorf("column %s has the type %s (%s)", n.name, n.physical, n.logical)
	}
	if strings.HasPrefix(n.logical, "TIMESTAMP") {
		kind = "timestamp"
	}
	c.Type = kind
	return c, nil
}

func writeSchemas(dir string) error {
	for _, s := range signals() {
		c, err := readSchema(schemaDir, s)
		if err != nil {
			return err
		}
		if err := writeJSON(filepath.Join(dir, "schema-"+string(s)+".json"), c); err != nil {
			return err
		}
	}
	return nil
}
