package s3windowexporter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// The values of `layout`.
const (
	layoutKeep  = "keep"
	layoutAdopt = "adopt"
)

// layoutAttempts bounds how often replicas that start together are followed in
// what they say of a lake.
const layoutAttempts = 5

// place names a lake, whoever uses it.
type place struct {
	store
	prefix string
}

func placeOf(ref lake.Ref) place { return place{storeOf(ref), ref.Prefix} }

// ending is how the names of a tenant's objects end.
func (t *TenantSettings) ending() string {
	if t.Format == formatJSONL {
		return map[string]string{codecZstd: "jsonl.zst", "gzip": "jsonl.gz", "none": "jsonl"}[t.JSONL.Compression]
	}
	return t.Format
}

// layout is how the configuration files in a lake.
func (d *directory) layout(ref lake.Ref) lake.Layout {
	l := lake.Layout{Align: d.partition.Align, Time: d.partition.Time, Tenants: map[string]string{}}
	for _, level := range d.partition.By {
		l.By = append(l.By, lake.LayoutLevel(level))
	}
	for name, t := range d.own {
		if placeOf(t.S3.ref()) == placeOf(ref) {
			l.Tenants[name] = t.ending()
		}
	}
	formats := slices.Compact(slices.Sorted(maps.Values(l.Tenants)))
	switch {
	case placeOf(d.common.S3.ref()) == placeOf(ref):
		l.Format = d.common.ending()
	case len(formats) == 1:
		l.Format = formats[0]
	}
	maps.DeleteFunc(l.Tenants, func(_, format string) bool { return format == l.Format })
	return l
}

// layoutError says that a lake is filed in another layout than the configuration
// says, and what to do.
type layoutError struct{ is, want string }

func (e *layoutError) Error() string {
	return fmt.Sprintf("set `layout: adopt` to go on knowingly, or another `s3::prefix`: the lake is filed with %s, the configuration says %s", e.is, e.want)
}

// layoutCheck holds the configuration to the layout that a lake is filed in.
type layoutCheck struct {
	lake   *lake.Lake
	sink   string
	want   lake.Layout
	adopt  bool
	logger *zap.Logger
}

// run records the layout where the lake has none, and says why it may not be
// filed in. mixed are tenants that alone may not, since their format is another
// one.
func (c *layoutCheck) run(ctx context.Context) (mixed map[string]*layoutError, err error) {
	for range layoutAttempts {
		is, etag, err := c.lake.Layouts(ctx, c.sink)
		if errors.Is(err, lake.ErrNotExist) {
			first := lake.Layouts{Version: lake.LayoutVersion, Sink: c.sink, Layouts: []lake.Layout{c.want}}
			if err = c.lake.PutLayouts(ctx, first, ""); errors.Is(err, lake.ErrExists) {
				continue // another replica was faster
			}
			return nil, err
		}
		if err != nil {
			return nil, err
		}
		next, mixed, err := c.compare(ctx, is)
		if err != nil || next == nil {
			return mixed, err
		}
		err = c.lake.PutLayouts(ctx, *next, etag)
		if errors.Is(err, lake.ErrChanged) {
			continue
		}
		if err != nil { // what it says is no less true, and is said again at the next start
			c.logger.Warn("Layout of the lake cannot be brought up to date", zap.Error(err))
		}
		return mixed, nil
	}
	return nil, errors.New("the layout of the lake is changed again and again: do replicas have different configurations?")
}

// compare says what is to be recorded now, nil for nothing, and what may not be
// filed.
func (c *layoutCheck) compare(ctx context.Context, all lake.Layouts) (next *lake.Layouts, mixed map[string]*layoutError, err error) {
	is := all.Newest()
	if is.Equal(c.want) {
		return nil, nil, nil
	}
	whole := differ(is, c.want)
	mixed, err = c.otherFormats(ctx, is)
	if err != nil {
		return nil, nil, err
	}
	now := c.want
	if now.Format == "" {
		now.Format = is.Format
	}
	switch {
	case c.adopt && (whole != nil || len(mixed) > 0):
		c.adopted(whole, mixed)
		adopted := all.With(now, false)
		return &adopted, nil, nil
	case whole != nil:
		return nil, nil, whole
	}
	now.Tenants = c.formats(is, now.Format, mixed)
	if now.Equal(is) {
		return nil, mixed, nil
	}
	told := all.With(now, true)
	return &told, mixed, nil
}

// adopted tells of a lake that is filed in another layout from now on.
func (c *layoutCheck) adopted(whole *layoutError, mixed map[string]*layoutError) {
	fields := []zap.Field{zap.Stringer("bucket", c.lake.Ref()), zap.Int("tenants_with_another_format", len(mixed))}
	if whole != nil {
		fields = append(fields, zap.String("was", whole.is), zap.String("is", whole.want))
	}
	c.logger.Warn("Layout of the lake is another from now on, so queries must name both; take `layout: adopt` out of the configuration again", fields...)
}

// differ says what tells the layouts of all tenants apart; nil for nothing.
func differ(is, want lake.Layout) *layoutError {
	var old, now []string
	add := func(name, a, b string) {
		if a != b {
			old, now = append(old, name+" "+a), append(now, name+" "+b)
		}
	}
	if is.Format != "" && want.Format != "" {
		add("format", is.Format, want.Format)
	}
	add("align", string(is.Align), string(want.Align))
	add("time", is.Time, want.Time)
	add("by", levels(is.By), levels(want.By))
	if len(old) == 0 {
		return nil
	}
	return &layoutError{strings.Join(old, ", "), strings.Join(now, ", ")}
}

// levels names levels, and where their values come from.
func levels(by []lake.LayoutLevel) string {
	if len(by) == 0 {
		return "none"
	}
	var names []string
	for _, l := range by {
		names = append(names, l.As+"="+l.Attribute+l.ResourceAttribute+l.ScopeAttribute)
	}
	return strings.Join(names, "/")
}

// otherFormats are the tenants whose objects the lake has in another format than
// they are to be written in. One that has left nothing there may have any.
func (c *layoutCheck) otherFormats(ctx context.Context, is lake.Layout) (map[string]*layoutError, error) {
	mixed := map[string]*layoutError{}
	for _, l := range []lake.Layout{is, c.want} {
		for tenant := range l.Tenants {
			old, now := is.FormatOf(tenant), c.want.FormatOf(tenant)
			if old == "" || now == "" || old == now || mixed[tenant] != nil {
				continue
			}
			has, err := c.has(ctx, tenant)
			if err != nil {
				return nil, err
			}
			if has {
				mixed[tenant] = &layoutError{fmt.Sprintf("tenant %q as %s", tenant, old), now}
			}
		}
	}
	return mixed, nil
}

// has says whether the sink has committed windows of the tenant.
func (c *layoutCheck) has(ctx context.Context, tenant string) (bool, error) {
	found := errors.New("found")
	id := partition.ID{Sink: c.sink, Tenant: tenant, Signal: partition.Logs}
	prefix := strings.TrimSuffix(partition.ManifestPrefix(c.lake.Prefix(), id), "signal=logs/windows/")
	err := c.lake.Bucket().List(ctx, prefix, "", func(lake.Info) error { return found })
	if err != nil && !errors.Is(err, found) {
		return false, fmt.Errorf("look for windows of tenant %q: %w", tenant, err)
	}
	return err != nil, nil
}

// formats are those of tenants that have another one than all: as the
// configuration says, but for those that may not be filed so.
func (c *layoutCheck) formats(is lake.Layout, format string, mixed map[string]*layoutError) map[string]string {
	out := map[string]string{}
	for tenant, f := range c.want.Tenants {
		out[tenant] = f
	}
	for tenant := range mixed {
		out[tenant] = is.FormatOf(tenant)
	}
	maps.DeleteFunc(out, func(_, f string) bool { return f == format })
	return out
}
