// Package fileio gives iceberg-go the files of tables: metadata in the object
// stores of package lake. It replaces iceberg-go's own, which link three cloud
// SDKs.
//
// iceberg-go keeps its file systems in one registry of the process, by scheme. So
// one is registered for s3, and which buckets it reads and writes, as whom, comes
// with the context of each call.
package fileio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"strings"
	"sync"
	"time"

	iceio "github.com/apache/iceberg-go/io"

	"github.com/s3window/s3window/internal/lake"
)

// timeout bounds one file: iceberg-go has no context for them.
const timeout = 2 * time.Minute

// Buckets opens the bucket of a name.
type Buckets func(name string) (lake.Bucket, error)

// With returns a context for calls of iceberg-go that may use these buckets.
func With(ctx context.Context, b Buckets) context.Context {
	register()
	return context.WithValue(ctx, key{}, b)
}

type key struct{}

// register adds the file system to iceberg-go's registry, which is global and
// refuses a second one of a scheme.
var register = sync.OnceFunc(func() {
	for _, scheme := range []string{"s3", "s3a", "s3n"} {
		iceio.Unregister(scheme)
		iceio.Register(scheme, func(ctx context.Context, _ *url.URL, _ map[string]string) (iceio.IO, error) {
			b, ok := ctx.Value(key{}).(Buckets)
			if !ok {
				return nil, errors.New("the call carries no buckets")
			}
			return &files{ctx: context.WithoutCancel(ctx), buckets: b}, nil
		})
	}
})

// files is a table's files. It implements iceberg-go's io.WriteFileIO.
type files struct {
	ctx     context.Context // iceberg-go passes none
	buckets Buckets
}

// at takes a file's name apart.
func (f *files) at(name string) (lake.Bucket, string, error) {
	u, rest, ok := strings.Cut(name, "://")
	bucket, key, below := strings.Cut(rest, "/")
	if !ok || !below || key == "" || !strings.HasPrefix(u, "s3") {
		return nil, "", fmt.Errorf("file %q is not s3://bucket/key", name)
	}
	b, err := f.buckets(bucket)
	return b, key, err
}

// Open reads the whole file: they are small.
func (f *files) Open(name string) (iceio.File, error) {
	content, err := f.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &open{Reader: bytes.NewReader(content), name: name, size: int64(len(content))}, nil
}

// ReadFile implements iceberg-go's io.ReadFileIO.
func (f *files) ReadFile(name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(f.ctx, timeout)
	defer cancel()
	b, key, err := f.at(name)
	if err != nil {
		return nil, err
	}
	content, err := read(ctx, b, key)
	switch {
	case errors.Is(err, lake.ErrNotExist):
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New(lake.Reason(err))}
	}
	return content, nil
}

func read(ctx context.Context, b lake.Bucket, key string) ([]byte, error) {
	r, _, err := b.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// WriteFile creates a file. Names of metadata are never used twice, so one that
// is there is this call's own, whose answer was lost.
func (f *files) WriteFile(name string, content []byte) error {
	ctx, cancel := context.WithTimeout(f.ctx, timeout)
	defer cancel()
	b, key, err := f.at(name)
	if err != nil {
		return err
	}
	err = b.PutIfAbsent(ctx, key, lake.NewBody(contentType(name), content))
	if err == nil {
		return nil
	}
	if there, back := read(ctx, b, key); back == nil && bytes.Equal(there, content) {
		return nil
	}
	return &fs.PathError{Op: "create", Path: name, Err: errors.New(lake.Reason(err))}
}

func contentType(name string) string {
	if strings.HasSuffix(name, ".json") {
		return "application/json"
	}
	return "application/octet-stream"
}

// Create implements iceberg-go's io.WriteFileIO. The file is there when it is
// closed.
func (f *files) Create(name string) (iceio.FileWriter, error) {
	return &writer{files: f, name: name}, nil
}

// Remove deletes a file of a table's metadata. It refuses any other: a data file
// is an object of the lake.
func (f *files) Remove(name string) error {
	ctx, cancel := context.WithTimeout(f.ctx, timeout)
	defer cancel()
	b, key, err := f.at(name)
	if err != nil {
		return err
	}
	if !strings.Contains(key, "/metadata/") || strings.HasSuffix(key, ".parquet") {
		return &fs.PathError{Op: "remove", Path: name, Err: errors.New("only a table's metadata is removed")}
	}
	return b.Delete(ctx, key)
}

// writer is a file that is being written.
type writer struct {
	bytes.Buffer
	files *files
	name  string
}

// Close implements io.Closer.
func (w *writer) Close() error { return w.files.WriteFile(w.name, w.Bytes()) }

// open is a file that was read.
type open struct {
	*bytes.Reader
	name string
	size int64
}

// Close implements io.Closer.
func (*open) Close() error { return nil }

// Stat implements fs.File.
func (o *open) Stat() (fs.FileInfo, error) { return info{o}, nil }

// info is what is known of a file.
type info struct{ *open }

func (i info) Name() string     { return i.name }
func (i info) Size() int64      { return i.size }
func (info) Mode() fs.FileMode  { return 0 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }
