package lake

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// dirTemp holds what is not an object yet. versitygw uses the same name, so a
// directory may be served by it and read here at the same time.
const dirTemp = ".sgwtmp"

// Dir is a Bucket in a local directory: an object is the file at its key, as
// versitygw's posix backend leaves it and as most tools copy a bucket. Keys
// that are no local path (empty segments, "." and "..") are refused. Metadata
// and ETag are kept in extended attributes where the system has them, and lost
// where it has not.
//
// PutIfAbsent is atomic between processes; Replace is so only within one.
type Dir struct {
	root      string
	replacing sync.Mutex // held from a Replace's look to its rename
}

// NewDir makes the bucket in the directory root, which must exist.
func NewDir(root string) (*Dir, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("open directory: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open directory: %q is a file", root)
	}
	return &Dir{root: root}, nil
}

func (d *Dir) path(key string) (string, error) {
	name := filepath.FromSlash(key)
	if !filepath.IsLocal(name) || filepath.Clean(name) != name || key == "." || key == dirTemp || strings.HasPrefix(key, dirTemp+"/") {
		return "", fmt.Errorf("key %q names no file below the directory", key)
	}
	return filepath.Join(d.root, name), nil
}

// PutIfAbsent implements Bucket.
//
// Crash before the link: a file in .sgwtmp, which nobody reads.
// Crash after it: the object is whole.
func (d *Dir) PutIfAbsent(ctx context.Context, key string, body Body) error {
	return d.put(ctx, key, body, func(temp, path string) error {
		err := os.Link(temp, path)
		if errors.Is(err, fs.ErrExist) {
			return ErrExists
		}
		return err
	})
}

// Replace implements Bucket.
//
// Crash before the rename: the old object. Crash after it: the new one.
func (d *Dir) Replace(ctx context.Context, key string, body Body, etag string) error {
	d.replacing.Lock()
	defer d.replacing.Unlock()
	info, err := d.Stat(ctx, key)
	if errors.Is(err, ErrNotExist) || err == nil && info.ETag != etag {
		return ErrChanged
	}
	if err != nil {
		return err
	}
	return d.put(ctx, key, body, os.Rename)
}

// put writes the body to a temporary file and publishes it.
func (d *Dir) put(ctx context.Context, key string, body Body, publish func(temp, path string) error) error {
	path, err := d.path(key)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	temp := filepath.Join(d.root, dirTemp, rand.Text())
	defer func() { _ = os.Remove(temp) }() // renamed, or a second name of the object
	if err := os.MkdirAll(filepath.Dir(temp), 0o755); err != nil {
		return err
	}
	if err := writeFile(temp, body); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := publish(temp, path); err != nil {
		return err
	}
	return syncParents(d.root, path)
}

func writeFile(path string, body Body) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, body.Reader())
	if err == nil {
		err = writeAttributes(path, attributes{
			etag: `"` + hex.EncodeToString(body.SHA256[:16]) + `"`, contentType: body.ContentType, metadata: body.Metadata,
		})
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncParents makes the entry at path durable, up to the root.
func syncParents(root, path string) error {
	for path != root && len(path) > len(root) {
		path = filepath.Dir(path)
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		err = f.Sync()
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Open implements Bucket.
func (d *Dir) Open(ctx context.Context, key string) (io.ReadCloser, Info, error) {
	path, err := d.path(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, Info{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, Info{}, gone(err)
	}
	stat, err := f.Stat()
	if err == nil && !stat.Mode().IsRegular() {
		err = ErrNotExist
	}
	if err != nil {
		f.Close()
		return nil, Info{}, err
	}
	return f, infoOf(path, key, stat), nil
}

// Stat implements Bucket.
func (d *Dir) Stat(ctx context.Context, key string) (Info, error) {
	path, err := d.path(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Info{}, err
	}
	stat, err := os.Stat(path)
	if err != nil {
		return Info{}, gone(err)
	}
	if !stat.Mode().IsRegular() {
		return Info{}, ErrNotExist
	}
	return infoOf(path, key, stat), nil
}

// Delete implements Bucket. Directories that become empty stay.
func (d *Dir) Delete(ctx context.Context, key string) error {
	path, err := d.path(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if err := gone(os.Remove(path)); err != nil && !errors.Is(err, ErrNotExist) {
		return err
	}
	return nil
}

// gone turns what a file system says of a missing object into ErrNotExist.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || isNotDirectory(err) {
		return ErrNotExist
	}
	return err
}

// infoOf reads the file's attributes. An ETag that nobody stored is made of
// size and time.
func infoOf(path, key string, stat fs.FileInfo) Info {
	a := readAttributes(path)
	if a.etag == "" {
		a.etag = fmt.Sprintf(`"%x-%x"`, stat.Size(), stat.ModTime().UnixNano())
	}
	return Info{Key: key, ETag: a.etag, Size: stat.Size(), Metadata: a.metadata, ModTime: stat.ModTime()}
}
