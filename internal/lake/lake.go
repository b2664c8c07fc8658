package lake

import (
	"context"
	"fmt"
)

// Ref says which lake: where its bucket is and what its keys begin with. It is
// stored in seals and with writers, so that a window is finished where it was
// sealed for, whatever the configuration says by then.
type Ref struct {
	Endpoint  string `json:"endpoint,omitempty"` // empty = AWS
	Region    string `json:"region,omitempty"`
	Bucket    string `json:"bucket"`
	Prefix    string `json:"prefix,omitempty"`
	PathStyle bool   `json:"path_style,omitempty"`
}

// String names the lake for people: bucket and prefix.
func (r Ref) String() string {
	if r.Prefix == "" {
		return r.Bucket
	}
	return r.Bucket + "/" + r.Prefix
}

// Lake puts objects and manifests into a bucket. It holds no state and is safe
// for concurrent use.
type Lake struct {
	bucket  Bucket
	ref     Ref
	step    func(label string)
	readers int
}

// Option changes a Lake at New.
type Option func(*Lake)

// WithStep has f called before every write but that of a manifest, with
// "lake:<operation>", and once an object is durable, with "lake:put-object done";
// on the goroutine that does the work. Crash drills kill the process there.
func WithStep(f func(label string)) Option { return func(l *Lake) { l.step = f } }

// New makes the lake that ref names over bucket b. It does no I/O.
func New(b Bucket, ref Ref, opts ...Option) *Lake {
	l := &Lake{bucket: b, ref: ref, step: func(string) {}, readers: 16}
	for _, o := range opts {
		o(l)
	}
	return l
}

// Ref returns which lake this is.
func (l *Lake) Ref() Ref { return l.ref }

// Prefix returns what every key of the lake begins with, without its slash.
func (l *Lake) Prefix() string { return l.ref.Prefix }

// Bucket returns the bucket below.
func (l *Lake) Bucket() Bucket { return l.bucket }

// Delete removes the object at key; one that does not exist is no error. Only
// an object's own writer may delete it, and only if no manifest names it and
// none ever will: the caller knows that.
func (l *Lake) Delete(ctx context.Context, key string) error {
	if err := l.bucket.Delete(ctx, key); err != nil {
		return fmt.Errorf("delete object %q: %w", key, err)
	}
	return nil
}
