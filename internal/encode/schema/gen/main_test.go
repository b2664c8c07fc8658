package main

import (
	"os"
	"path/filepath"
	"testing"
)

// What is in the repository is what the table says.
func TestGeneratedFilesFollowTheTable(t *testing.T) {
	const root = "../../../.."
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(root, f.path))
		if err != nil || string(got) != string(f.content) {
			t.Errorf("%s is stale: run `make generate` (%v)", f.path, err)
		}
	}
}
