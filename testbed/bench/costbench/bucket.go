package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// found is what is in a bucket.
type found struct {
	objects, records int
	bytes            int64 // of all files, manifests too
}

// patience is how long a run may go without a new window.
const patience = 2 * time.Minute

// await waits until all records are in committed windows.
func (s *stage) await(ctx context.Context, records int) (f found, err error) {
	last := time.Now()
	for {
		before := f.records
		if f, err = look(bucketDir(s.dir)); err != nil || f.records == records {
			return f, err
		}
		switch {
		case f.records > records:
			return f, fmt.Errorf("%d records are in the bucket, %d were sent", f.records, records)
		case f.records > before:
			last = time.Now()
		case time.Since(last) > patience:
			return f, fmt.Errorf("%d of %d records are in the bucket, and no more come:\n%s", f.records, records, s.collector.Tail(4000))
		}
		select {
		case <-ctx.Done():
			return f, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// look counts what is in the bucket, by its manifests.
func look(dir string) (f found, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a file that was written under another name first
		}
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil {
			f.bytes += info.Size()
		}
		if strings.HasSuffix(path, ".parquet") {
			f.objects++
		}
		if strings.Contains(path, "/windows/") {
			n, err := recordsOf(path)
			f.records += n
			return err
		}
		return nil
	})
	return f, err
}

func recordsOf(manifest string) (int, error) {
	content, err := os.ReadFile(manifest)
	if err != nil {
		return 0, err
	}
	var m struct{ Records int }
	if err := json.Unmarshal(content, &m); err != nil {
		return 0, fmt.Errorf("read manifest %q: %w", manifest, err)
	}
	return m.Records, nil
}
