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

// List implements Bucket. It holds one directory's names at a time, reads none
// above the last slash of prefix, and skips those that can hold no key asked
// for.
func (d *Dir) List(ctx context.Context, prefix, after string, visit func(Info) error) error {
	return d.list(ctx, prefix[:strings.LastIndexByte(prefix, '/')+1], prefix, after, visit)
}

// Dirs implements Bucket. A directory without a file below it has no key, and
// is not visited.
func (d *Dir) Dirs(ctx context.Context, prefix string, visit func(dir string) error) error {
	entries, err := d.names(prefix)
	if err != nil {
		return err
	}
	for _, e := range entries {
		key := prefix + sortName(e)
		switch holds, err := d.holds(ctx, e, key); {
		case err != nil:
			return err
		case !holds:
			continue
		}
		if err := visit(key); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// holds says whether an entry of a directory is an object, or holds one.
func (d *Dir) holds(ctx context.Context, e fs.DirEntry, key string) (bool, error) {
	if !e.IsDir() {
		return e.Type().IsRegular(), nil
	}
	found := errors.New("found")
	err := d.list(ctx, key, key, "", func(Info) error { return found })
	if errors.Is(err, found) {
		return true, nil
	}
	return false, err
}

// names returns what the directory whose keys begin with base holds, in the
// order of the keys; nothing if there is none.
func (d *Dir) names(base string) ([]fs.DirEntry, error) {
	root := d.root
	if dir, below := strings.CutSuffix(base, "/"); below {
		var err error
		if root, err = d.path(dir); err != nil {
			return nil, nil // no key has such a beginning
		}
	}
	entries, err := os.ReadDir(root)
	if errors.Is(gone(err), ErrNotExist) {
		return nil, nil // or removed since its parent was read
	}
	if err != nil {
		return nil, err
	}
	if base == "" {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == dirTemp })
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(sortName(a), sortName(b)) })
	return entries, nil
}

// list visits the directory whose keys begin with base, which is empty or ends
// with a slash.
func (d *Dir) list(ctx context.Context, base, prefix, after string, visit func(Info) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := d.names(base)
	if err != nil {
		return err
	}
	for _, e := range entries {
		key := base + sortName(e)
		switch {
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
