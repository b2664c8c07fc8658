package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// mutant is one way to break the code.
type mutant struct {
	name  string
	edits []edit
	suite []suite // in the order in which they are run; nil for those of the package of the first edit
	lives string  // why it may live; empty if a test must notice
}

// edit replaces text that is in a file exactly once.
type edit struct {
	file     string // from the root of the tree
	old, new string
}

// suite is a set of tests of one package.
type suite struct {
	pkg string   // directory, from the root of the tree
	run string   // of -test.run; empty for all
	env []string // NAME=value
}

// one is a mutant of one edit, which the tests of its package should notice.
func one(name, file, old, new string) mutant {
	return mutant{name: name, edits: []edit{{file, old, new}}}
}

// by says which tests should notice.
func (m mutant) by(suites ...suite) mutant {
	m.suite = suites
	return m
}

// known says why the mutant may live.
func (m mutant) known(why string) mutant {
	m.lives = why
	return m
}

// pkg is the directory of the mutant's first edit.
func (m *mutant) pkg() string { return filepath.ToSlash(filepath.Dir(m.edits[0].file)) }

// suites are the tests that should notice.
func (m *mutant) suites() []suite {
	if len(m.suite) > 0 {
		return m.suite
	}
	return []suite{{pkg: m.pkg()}}
}

// apply returns the files of the tree under root that the mutant changes, as it
// has them.
func (m *mutant) apply(root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, e := range m.edits {
		path := filepath.Join(root, filepath.FromSlash(e.file))
		content, ok := files[path]
		if !ok {
			var err error
			if content, err = os.ReadFile(path); err != nil {
				return nil, err
			}
		}
		text := string(content)
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("%s has %d times what is to be replaced, not once:\n%s", e.file, n, e.old)
		}
		files[path] = []byte(strings.Replace(text, e.old, e.new, 1))
	}
	for path, content := range files {
		if _, err := parser.ParseFile(token.NewFileSet(), path, content, parser.SkipObjectResolution); err != nil {
			return nil, fmt.Errorf("the mutant is no Go: %w", err)
		}
	}
	return files, nil
}

// mutants are all that are kept.
func mutants() []mutant {
	var all []mutant
	for _, list := range []func() []mutant{
		ofCommit, ofLake, ofWAL, ofWindow, ofFlush, ofEncode, ofLease, ofExporter,
	} {
		all = append(all, list()...)
	}
	return all
}
