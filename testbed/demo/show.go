package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// manifests lists the manifests in the bucket.
func (s *stage) manifests() []string {
	names, _ := filepath.Glob(filepath.Join(s.bucketDir(), prefix, "_s3window", "sink=*", "tenant=*", "signal=*", "windows", "*.json"))
	return names
}

// committed counts the records that the manifests in the bucket name.
func (s *stage) committed() int64 {
	var n int64
	for _, name := range s.manifests() {
		var m struct{ Records int64 }
		if content, err := os.ReadFile(name); err == nil && json.Unmarshal(content, &m) == nil {
			n += m.Records
		}
	}
	return n
}

const shownObjects = 4 // of each tenant

func (s *stage) showObjects(context.Context) error {
	say("What is in the bucket")
	for _, tenant := range tenants {
		var lines []string
		var size int64
		root := filepath.Join(s.bucketDir(), prefix, "tenant="+tenant)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			key, err := filepath.Rel(s.bucketDir(), path)
			size += info.Size()
			lines = append(lines, fmt.Sprintf("  %8d  %s", info.Size(), key))
			return err
		})
		if err != nil {
			return err
		}
		fmt.Println(strings.Join(lines[:min(len(lines), shownObjects)], "\n"))
		fmt.Printf("  tenant %s: %d objects, %d bytes\n", tenant, len(lines), size)
	}
	return nil
}

func (s *stage) showManifest(context.Context) error {
	names := s.manifests()
	last := ""
	for _, name := range names {
		if strings.Contains(name, "tenant="+tenants[0]+string(filepath.Separator)) {
			last = name
		}
	}
	content, err := os.ReadFile(last)
	if err != nil {
		return err
	}
	key, err := filepath.Rel(s.bucketDir(), last)
	if err != nil {
		return err
	}
	say("One of the %d manifests: a window is what its manifest says\n  %s", len(names), key)
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, bytes.TrimSpace(content), "  ", "  "); err != nil {
		return err
	}
	fmt.Println("  " + pretty.String())
	return nil
}

//go:embed query.js
var queryScript string

func (s *stage) query(ctx context.Context) error {
	glob := filepath.Join(s.bucketDir(), prefix, "tenant=*", "**", "*.parquet")
	say("DuckDB, straight over the bucket's Parquet")
	cmd := exec.CommandContext(ctx, "node", "-e", queryScript, glob)
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(filepath.Dir(s.bin), "duckdb", "node_modules"))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

func (s *stage) verify(ctx context.Context) error {
	say("s3window verify judges the lake from the bucket alone")
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "s3window"), "verify", "-prefix", prefix, s.bucketDir())
	out, err := cmd.CombinedOutput()
	fmt.Print("  " + strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", "\n  ") + "\n")
	return err
}
