package lake

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// List implements Bucket. It holds one directory's names at a time and skips
// directories that can hold no key asked for.
func (d *Dir) List(ctx context.Context, prefix, after string, visit func(Info) error) error {
	return d.list(ctx, "", prefix, after, visit)
}

// Dirs implements Bucket. A directory without a file below it has no key, and
// is not visited.
func (d *Dir) Dirs(ctx context.Context, prefix string, visit func(dir string) error) error {
	entries, err := os.ReadDir(filepath.Join(d.root, filepath.FromSlash(prefix)))
	if errors.Is(err, fs.ErrNotExist) {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(sortName(a), sortName(b)) })
	for _, e := range entries {
		if !e.IsDir() || prefix == "" && e.Name() == dirTemp {
			continue
		}
		key := prefix + e.Name() + "/"
		errFound := errors.New("found")
		switch err := d.list(ctx, key, key, "", func(Info) error { return errFound }); {
		case err == nil:
			continue // empty
		case !errors.Is(err, errFound):
			return err
		}
		if err := visit(key); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// list visits the directory whose keys begin with base, which is empty or ends
// with a slash.
func (d *Dir) list(ctx context.Context, base, prefix, after string, visit func(Info) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(d.root, filepath.FromSlash(base)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed since its parent was read
	}
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(sortName(a), sortName(b)) })
	for _, e := range entries {
		key := base + sortName(e)
		switch {
		case base == "" && e.Name() == dirTemp:
		case e.IsDir() && overlaps(key, prefix) && (key >= after || strings.HasPrefix(after, key)):
			err = d.list(ctx, key, prefix, after, visit)
		case e.Type().IsRegular() && strings.HasPrefix(key, prefix) && key > after:
			err = d.visit(e, key, visit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *Dir) visit(e fs.DirEntry, key string, visit func(Info) error) error {
	stat, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info := infoOf(filepath.Join(d.root, filepath.FromSlash(key)), key, stat)
	info.Metadata = nil
	return visit(info)
}

// sortName is the name by which an entry sorts among keys: the keys below a
// directory begin with its name and a slash.
func sortName(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

// overlaps says whether a key below dir can begin with prefix.
func overlaps(dir, prefix string) bool {
	return strings.HasPrefix(dir, prefix) || strings.HasPrefix(prefix, dir)
}
