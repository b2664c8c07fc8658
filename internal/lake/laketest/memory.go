// Package laketest holds what tests of the lake and of everything above it
// need: the acceptance suite of a lake.Bucket, and a bucket in memory whose
// calls can be made to fail one by one.
package laketest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/s3window/s3window/internal/lake"
)

// The kinds of a bucket's calls.
const (
	PutIfAbsent = "put-if-absent"
	Replace     = "replace"
	Open        = "open"
	Stat        = "stat"
	List        = "list"
	Dirs        = "dirs"
	Delete      = "delete"
)

// Op is one call of a Memory bucket.
type Op struct {
	N    int    // 0, 1, 2 … over all calls since the script was set
	Kind string // PutIfAbsent, Replace, …
	Key  string // the key, or the prefix of a List or Dirs
}

// Fault says what becomes of a call. The zero Fault lets it pass.
type Fault struct {
	Before error                     // returned instead of doing anything
	After  error                     // returned after the call took its whole effect
	Keep   int                       // a put stores only the first Keep bytes, if After is set and Keep > 0
	Pause  func(ctx context.Context) // runs before everything else, without a lock
}

// Memory is a lake.Bucket in memory. The zero value is not usable; NewMemory
// makes one. It copies what is put.
type Memory struct {
	// mu guards everything declared below.
	mu      sync.Mutex
	objects map[string]object
	version int
	script  func(Op) Fault
	ops     []Op
}

type object struct {
	content  []byte
	metadata map[string]string
	etag     string
	modTime  time.Time
}

// NewMemory makes an empty bucket without faults.
func NewMemory() *Memory { return &Memory{objects: map[string]object{}} }

// Script has f decide what becomes of every call from now on, numbered from 0;
// nil ends all faults. f is called under the bucket's lock.
func (m *Memory) Script(f func(Op) Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script, m.ops = f, nil
}

// Ops returns the calls since Script was last called, or since the start.
func (m *Memory) Ops() []Op {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.ops)
}

// Keys returns the keys that begin with prefix, sorted.
func (m *Memory) Keys(prefix string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.keysLocked(prefix, "")
}

// Content returns a copy of the object's content, without faults.
func (m *Memory) Content(key string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[key]
	return bytes.Clone(o.content), ok
}

// Set stores an object whatever is there, without faults and without touching
// the metadata of one that exists: this is how tests damage a lake.
func (m *Memory) Set(key string, content []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.storeLocked(key, bytes.Clone(content), m.objects[key].metadata)
}

// Remove takes an object away, without faults.
func (m *Memory) Remove(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, key)
}

// Clone returns an independent copy of what the bucket holds, without script.
func (m *Memory) Clone() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Memory{objects: maps.Clone(m.objects), version: m.version}
}

// Restore makes the bucket's objects those of other, as they are now.
func (m *Memory) Restore(other *Memory) {
	other.mu.Lock()
	objects := maps.Clone(other.objects)
	other.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects = objects
}

func (m *Memory) storeLocked(key string, content []byte, metadata map[string]string) {
	m.version++
	sum := sha256.Sum256(content)
	etag := `"` + hex.EncodeToString(sum[:8]) + "-" + strconv.Itoa(m.version) + `"`
	m.objects[key] = object{content, maps.Clone(metadata), etag, time.Now()}
}

func (m *Memory) keysLocked(prefix, after string) []string {
	var keys []string
	for k := range m.objects {
		if strings.HasPrefix(k, prefix) && k > after {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// begin records the call and returns its fault, after any pause.
func (m *Memory) begin(ctx context.Context, kind, key string) (Fault, error) {
	m.mu.Lock()
	op := Op{N: len(m.ops), Kind: kind, Key: key}
	m.ops = append(m.ops, op)
	var f Fault
	if m.script != nil {
		f = m.script(op)
	}
	m.mu.Unlock()
	if f.Pause != nil {
		f.Pause(ctx)
	}
	if f.Before != nil {
		return f, f.Before
	}
	return f, ctx.Err()
}

// put stores the body, or what a fault leaves of it.
func (m *Memory) putLocked(key string, body lake.Body, f Fault) error {
	content := bytes.Join(body.Segments, nil)
	if f.After != nil && f.Keep > 0 {
		content = content[:min(f.Keep, len(content))]
	}
	m.storeLocked(key, content, body.Metadata)
	return f.After
}

// PutIfAbsent implements lake.Bucket.
func (m *Memory) PutIfAbsent(ctx context.Context, key string, body lake.Body) error {
	f, err := m.begin(ctx, PutIfAbsent, key)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[key]; ok {
		return orElse(f.After, lake.ErrExists)
	}
	return m.putLocked(key, body, f)
}

// Replace implements lake.Bucket.
func (m *Memory) Replace(ctx context.Context, key string, body lake.Body, etag string) error {
	f, err := m.begin(ctx, Replace, key)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if o, ok := m.objects[key]; !ok || o.etag != etag {
		return orElse(f.After, lake.ErrChanged)
	}
	return m.putLocked(key, body, f)
}

// Open implements lake.Bucket.
func (m *Memory) Open(ctx context.Context, key string) (io.ReadCloser, lake.Info, error) {
	o, err := m.get(ctx, Open, key)
	if err != nil {
		return nil, lake.Info{}, err
	}
	return io.NopCloser(bytes.NewReader(o.content)), o.info(key), nil
}

// Stat implements lake.Bucket.
func (m *Memory) Stat(ctx context.Context, key string) (lake.Info, error) {
	o, err := m.get(ctx, Stat, key)
	if err != nil {
		return lake.Info{}, err
	}
	return o.info(key), nil
}

func (m *Memory) get(ctx context.Context, kind, key string) (object, error) {
	f, err := m.begin(ctx, kind, key)
	if err != nil {
		return object{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[key]
	if !ok {
		return object{}, orElse(f.After, lake.ErrNotExist)
	}
	return o, f.After
}

// List implements lake.Bucket.
func (m *Memory) List(ctx context.Context, prefix, after string, visit func(lake.Info) error) error {
	f, err := m.begin(ctx, List, prefix)
	if err != nil {
		return err
	}
	m.mu.Lock()
	var infos []lake.Info
	for _, k := range m.keysLocked(prefix, after) {
		info := m.objects[k].info(k)
		info.Metadata = nil
		infos = append(infos, info)
	}
	m.mu.Unlock()
	for _, info := range infos {
		if err := visit(info); err != nil {
			return err
		}
	}
	return f.After
}

// Dirs implements lake.Bucket.
func (m *Memory) Dirs(ctx context.Context, prefix string, visit func(dir string) error) error {
	f, err := m.begin(ctx, Dirs, prefix)
	if err != nil {
		return err
	}
	var dirs []string
	m.mu.Lock()
	for _, k := range m.keysLocked(prefix, "") {
		if name, _, ok := strings.Cut(k[len(prefix):], "/"); ok {
			dirs = append(dirs, prefix+name+"/")
		}
	}
	m.mu.Unlock()
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if err := visit(dir); err != nil {
			return err
		}
	}
	return f.After
}

// Delete implements lake.Bucket.
func (m *Memory) Delete(ctx context.Context, key string) error {
	f, err := m.begin(ctx, Delete, key)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, key)
	return f.After
}

func (o object) info(key string) lake.Info {
	return lake.Info{Key: key, ETag: o.etag, Size: int64(len(o.content)), Metadata: maps.Clone(o.metadata), ModTime: o.modTime}
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
