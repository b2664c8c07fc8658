package s3windowexporter

import (
	"maps"
	"slices"
	"time"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/window"
)

// directory finds the settings of a tenant by its canonical name. It does not
// change once it is made.
type directory struct {
	partition *PartitionConfig
	common    TenantSettings
	own       map[string]*TenantSettings
	buckets   map[store]S3Config // who is to use a bucket that an earlier configuration used
	disabled  bool               // there are tenants that are
}

// store names a bucket.
type store struct{ endpoint, bucket string }

func newDirectory(cfg *Config) *directory {
	d := &directory{
		partition: &cfg.Partition, common: cfg.common(),
		own: map[string]*TenantSettings{}, buckets: map[store]S3Config{},
	}
	d.buckets[storeOf(d.common.S3.ref())] = d.common.S3
	for _, name := range slices.Sorted(maps.Keys(cfg.Tenants)) {
		t := cfg.Tenants[name]
		d.own[partition.Tenant(name)] = &t
		d.disabled = d.disabled || !t.Enabled
		if at := storeOf(t.S3.ref()); d.buckets[at] == (S3Config{}) {
			d.buckets[at] = t.S3
		}
	}
	return d
}

func storeOf(ref lake.Ref) store { return store{ref.Endpoint, ref.Bucket} }

// of gives the settings of a tenant.
func (d *directory) of(tenant string) *TenantSettings {
	if t, ok := d.own[tenant]; ok {
		return t
	}
	return &d.common
}

// target says what the windows of a partition are sealed to.
func (d *directory) target(tenant string, signal partition.Signal) window.Target {
	return d.of(tenant).target(d.partition, signal)
}

// backlog says what becomes of a tenant's queued records.
func (d *directory) backlog(tenant string) window.Backlog {
	b := d.of(tenant).Backlog
	before, _ := b.before() // Validate has refused what is no time
	return window.Backlog{Parked: b.Park, DropBefore: before}
}

// tick is how often ages are looked at, so that the shortest is kept.
func (d *directory) tick() time.Duration {
	age := d.common.Flush.MaxAge
	for _, t := range d.own {
		age = min(age, t.Flush.MaxAge)
	}
	return age / 10
}

// origins says where windows are filed, for the next process.
func (d *directory) origins(sink string) window.Origins {
	o := window.Origins{Sink: sink, Lake: d.common.S3.ref(), Tenants: map[string]lake.Ref{}}
	for name, t := range d.own {
		if at := t.S3.ref(); at != o.Lake {
			o.Tenants[name] = at
		}
	}
	return o
}

// s3 gives the settings with which records of a tenant are filed in, or looked
// for in, the lake that ref names: the tenant's own if they name its bucket,
// else those that do, the exporter's first, else the tenant's own with another
// bucket.
func (d *directory) s3(tenant string, ref lake.Ref) S3Config {
	s := d.of(tenant).S3
	if other, ok := d.buckets[storeOf(ref)]; ok && storeOf(s.ref()) != storeOf(ref) {
		s = other
	}
	s.Endpoint, s.Region, s.Bucket, s.Prefix, s.PathStyle = ref.Endpoint, ref.Region, ref.Bucket, ref.Prefix, ref.PathStyle
	return s
}

// lakes gives every lake that the configuration names, and the tenants that
// have it for their own; none for that of the exporter.
func (d *directory) lakes() map[S3Config][]string {
	out := map[S3Config][]string{d.common.S3: nil}
	for _, name := range slices.Sorted(maps.Keys(d.own)) {
		if at := d.own[name].S3; at != d.common.S3 {
			out[at] = append(out[at], name)
		}
	}
	return out
}

// shares returns a lake that both name; false if there is none.
func (d *directory) shares(other *directory) (lake.Ref, bool) {
	theirs := map[place]bool{}
	for at := range other.lakes() {
		theirs[placeOf(at.ref())] = true
	}
	for at := range d.lakes() {
		if theirs[placeOf(at.ref())] {
			return at.ref(), true
		}
	}
	return lake.Ref{}, false
}
