package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/s3window/s3window/internal/partition"
)

// LayoutVersion is the version of the layouts' format.
const LayoutVersion = 1

// maxLayouts bounds how many layouts of a lake are remembered, the newest.
const maxLayouts = 64

// Layouts say how a sink files its objects in a lake, and how it did before. The
// order of the fields is the order in the file.
type Layouts struct {
	Version int      `json:"version"`
	Sink    string   `json:"sink"`
	Layouts []Layout `json:"layouts"` // the newest last; never empty
}

// Layout is what a reader must know to name all objects: which levels stand
// behind the signal, and how names end. Who files in another layout under the
// same prefix has queries return a part of the rows, without an error.
type Layout struct {
	Align  partition.Align `json:"align"` // day has no hour level
	Time   string          `json:"time"`  // dt and hour are of it: received, event
	By     []LayoutLevel   `json:"by"`    // the levels behind them, in order
	Format string          `json:"format"`
	// Tenants has those that are written in another format.
	Tenants map[string]string `json:"tenants"`
}

// LayoutLevel is a level of keys and the attribute whose values it has; one of
// the first three fields is set.
type LayoutLevel struct {
	Attribute         string `json:"attribute,omitempty"`
	ResourceAttribute string `json:"resource_attribute,omitempty"`
	ScopeAttribute    string `json:"scope_attribute,omitempty"`
	As                string `json:"as"`
}

// Newest is the layout that objects are filed in now.
func (l Layouts) Newest() Layout { return l.Layouts[len(l.Layouts)-1] }

// Places says that objects are filed in directories of the same names and
// meaning, whatever their format.
func (l Layout) Places(other Layout) bool {
	return l.Align == other.Align && l.Time == other.Time && slices.Equal(l.By, other.By)
}

// FormatOf is the format of a tenant's objects; empty if nobody has said so yet.
func (l Layout) FormatOf(tenant string) string {
	if f, ok := l.Tenants[tenant]; ok {
		return f
	}
	return l.Format
}

// Equal says that the two are the same.
func (l Layout) Equal(other Layout) bool {
	return l.Places(other) && l.Format == other.Format && maps.Equal(l.Tenants, other.Tenants)
}

// With returns the layouts with next as the newest. It takes the place of the
// one before where that one files the same way, and tells more of its tenants.
func (l Layouts) With(next Layout, instead bool) Layouts {
	kept := slices.Clone(l.Layouts)
	if instead && len(kept) > 0 {
		kept = kept[:len(kept)-1]
	}
	kept = append(kept, next)
	l.Layouts = kept[max(0, len(kept)-maxLayouts):]
	return l
}

// Encode returns the canonical bytes: one line of JSON, the fields in their
// order. It refuses what DecodeLayouts would refuse.
func (l Layouts) Encode() ([]byte, error) {
	l.Layouts = slices.Clone(l.Layouts)
	for i := range l.Layouts {
		one := &l.Layouts[i]
		if one.By == nil {
			one.By = []LayoutLevel{}
		}
		if one.Tenants == nil {
			one.Tenants = map[string]string{}
		}
	}
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("encode layouts: %w", err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		return nil, fmt.Errorf("encode layouts: %w", err)
	}
	return b.Bytes(), nil
}

// DecodeLayouts reads what Encode wrote, and nothing else.
func DecodeLayouts(b []byte) (Layouts, error) {
	var v struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return Layouts{}, fmt.Errorf("decode layouts: %w", err)
	}
	switch {
	case v.Version == nil:
		return Layouts{}, errors.New("decode layouts: there is no version")
	case *v.Version != LayoutVersion:
		return Layouts{}, fmt.Errorf("decode layouts: version %d is not %d: a newer release wrote it", *v.Version, LayoutVersion)
	}
	var l Layouts
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return Layouts{}, fmt.Errorf("decode layouts: %w", err)
	}
	if canonical, err := l.Encode(); err != nil {
		return Layouts{}, fmt.Errorf("decode layouts: %w", errors.Unwrap(err))
	} else if !bytes.Equal(canonical, b) {
		return Layouts{}, errors.New("decode layouts: a field is missing, doubled or not in its canonical form")
	}
	return l, nil
}

func (l Layouts) check() error {
	switch {
	case l.Version != LayoutVersion:
		return fmt.Errorf("version %d is not %d", l.Version, LayoutVersion)
	case l.Sink == "":
		return errors.New("sink is empty")
	case len(l.Layouts) == 0:
		return errors.New("there is no layout")
	}
	for i, one := range l.Layouts {
		if one.Align == "" || one.Time == "" || one.Format == "" && len(one.Tenants) == 0 {
			return fmt.Errorf("layouts[%d]: align, time or format is missing", i)
		}
		for j, level := range one.By {
			if level.As == "" {
				return fmt.Errorf("layouts[%d].by[%d] has no name", i, j)
			}
		}
	}
	return nil
}

// Layouts reads how a sink files, and returns the ETag of that version, or
// ErrNotExist.
func (l *Lake) Layouts(ctx context.Context, sink string) (Layouts, string, error) {
	key := partition.LayoutKey(l.ref.Prefix, sink)
	is, etag, err := l.readLayouts(ctx, key)
	if err == nil && is.Sink != sink {
		err = fmt.Errorf("it says it is of sink %q", is.Sink)
	}
	if err != nil {
		return Layouts{}, "", fmt.Errorf("read layout %q: %w", key, err)
	}
	return is, etag, nil
}

func (l *Lake) readLayouts(ctx context.Context, key string) (Layouts, string, error) {
	r, info, err := l.bucket.Open(ctx, key)
	if err != nil {
		return Layouts{}, "", err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
	if err != nil {
		return Layouts{}, "", err
	}
	is, err := DecodeLayouts(b)
	return is, info.ETag, err
}

// PutLayouts says how a sink files: for the first time where etag is empty, else
// in place of the version with that ETag. It returns nil only after that is
// durable, and ErrExists or ErrChanged if other layouts are there. Where the
// answer was lost, what lies there decides.
//
// Crash before this: the next start says it. Crash after it: it stands.
func (l *Lake) PutLayouts(ctx context.Context, is Layouts, etag string) error {
	b, err := is.Encode()
	if err != nil {
		return err
	}
	key := partition.LayoutKey(l.ref.Prefix, is.Sink)
	body := NewBody("application/json", b)
	l.step("lake:put-layout")
	if etag == "" {
		err = l.putSame(ctx, key, body)
	} else {
		err = l.replaceSame(ctx, key, body, etag)
	}
	if err != nil {
		return fmt.Errorf("put layout %q: %w", key, err)
	}
	return nil
}

// replaceSame is putSame for an object that is there in the version etag.
func (l *Lake) replaceSame(ctx context.Context, key string, body Body, etag string) error {
	err := l.bucket.Replace(ctx, key, body, etag)
	if err == nil {
		return nil
	}
	there, back := l.readBack(ctx, key)
	switch {
	case back != nil && !errors.Is(back, ErrNotExist):
		return unread(err, back)
	case back == nil && there.is(body):
		return nil
	}
	return err
}
