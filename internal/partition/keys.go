package partition

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

const systemDir = "_s3window/"

// Align says at which boundary of received time windows and keys are cut.
type Align string

// The boundaries of received time.
const (
	AlignHour Align = "hour"
	AlignDay  Align = "day"
	AlignNone Align = "none"
)

// Period numbers the hour or day (UTC) that stamp lies in; stamps are
// microseconds since the epoch. Two stamps may share a window only if their
// periods are equal. With AlignNone every stamp has period 0.
func (a Align) Period(stamp int64) int64 {
	switch a {
	case AlignDay:
		return floorDiv(stamp, int64(24*time.Hour/time.Microsecond))
	case AlignNone:
		return 0
	default:
		return floorDiv(stamp, int64(time.Hour/time.Microsecond))
	}
}

// Until returns the stamp at which the period of stamp ends: the first that is
// in the next one. With AlignNone no period ends: math.MaxInt64.
func (a Align) Until(stamp int64) int64 {
	switch a {
	case AlignDay:
		return (a.Period(stamp) + 1) * int64(24*time.Hour/time.Microsecond)
	case AlignNone:
		return math.MaxInt64
	default:
		return (a.Period(stamp) + 1) * int64(time.Hour/time.Microsecond)
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// ObjectName is the last segment of an object's key.
type ObjectName struct {
	Start, End int64  // the window's stamps, microseconds, [Start, End)
	Writer     string // the writer the window's entries were appended under
	Part       int    // 1, 2, … where a window has several objects under one prefix; 0 where it has one
	Ext        string // parquet, jsonl, jsonl.gz, jsonl.zst
}

func (n ObjectName) String() string {
	if n.Part == 0 {
		return fmt.Sprintf("w-%016d-%016d-%s.%s", n.Start, n.End, n.Writer, n.Ext)
	}
	return fmt.Sprintf("w-%016d-%016d-%s-%d.%s", n.Start, n.End, n.Writer, n.Part, n.Ext)
}

// ParseObjectName reverses ObjectName.String.
func ParseObjectName(s string) (ObjectName, error) {
	base, ext, ok := strings.Cut(s, ".")
	f := strings.Split(base, "-")
	if !ok || len(f) < 4 || len(f) > 5 || f[0] != "w" {
		return ObjectName{}, fmt.Errorf("object name %q is not w-<start>-<end>-<writer>[-<part>].<ext>", s)
	}
	n := ObjectName{Writer: f[3], Ext: ext}
	var err error
	if n.Start, err = strconv.ParseInt(f[1], 10, 64); err != nil {
		return ObjectName{}, fmt.Errorf("object name %q: start: %w", s, err)
	}
	if n.End, err = strconv.ParseInt(f[2], 10, 64); err != nil {
		return ObjectName{}, fmt.Errorf("object name %q: end: %w", s, err)
	}
	if len(f) == 5 {
		if n.Part, err = strconv.Atoi(f[4]); err != nil {
			return ObjectName{}, fmt.Errorf("object name %q: part: %w", s, err)
		}
	}
	if n.String() != s {
		return ObjectName{}, fmt.Errorf("object name %q is not in canonical form", s)
	}
	return n, nil
}

// Place says in which directory of its partition an object is filed.
type Place struct {
	Time   int64  // the levels dt and hour are its, UTC; microseconds since the epoch
	Align  Align  // AlignDay has no hour level
	Levels string // those behind dt and hour, from Level, joined by slashes; empty for none
}

func (p Place) String() string {
	t := time.UnixMicro(p.Time).UTC()
	s := "dt=" + t.Format(time.DateOnly) + "/"
	if p.Align != AlignDay {
		s += "hour=" + t.Format("15") + "/"
	}
	if p.Levels != "" {
		s += p.Levels + "/"
	}
	return s
}

// NoValue is the value of a level where a record has none: what Hive readers
// give back as NULL.
const NoValue = "__HIVE_DEFAULT_PARTITION__"

const maxLevelName = 32

// Level is the Hive level as=value. A value is escaped and renamed where it is
// too long or no UTF-8, as a tenant is; an empty one is NoValue.
func Level(as, value string) string {
	if value == "" {
		return as + "=" + NoValue
	}
	return as + "=" + Escape(Tenant(value))
}

// LevelName says what is wrong with the name of a level, or nothing.
func LevelName(as string) error { return columnName(as, maxLevelName) }

// maxColumnName is what stores of table definitions take.
const maxColumnName = 128

// ColumnName says what is wrong with the name of a column that readers see beside
// the levels of keys, or nothing. Names have no capital letters, so those that
// differ by case alone cannot meet: many readers take them for the same.
func ColumnName(as string) error { return columnName(as, maxColumnName) }

func columnName(as string, longest int) error {
	const letters = "abcdefghijklmnopqrstuvwxyz_"
	switch {
	case as == "" || len(as) > longest || strings.Trim(as, letters+"0123456789") != "" || !strings.Contains(letters, as[:1]):
		return fmt.Errorf("must be 1 to %d of a-z 0-9 _ and begin with no digit", longest)
	case slices.Contains([]string{"tenant", "signal", "dt", "hour", "sink"}, as):
		return errors.New("must be another name: keys have levels of this one")
	}
	return nil
}

// PlacedKey is the key of a data object of partition id that is filed at p.
func PlacedKey(prefix string, id ID, p Place, n ObjectName) string {
	return DataPrefix(prefix, id) + p.String() + n.String()
}

// ParseObjectKey takes a data object's key apart. The ID has no sink: keys of
// data objects do not carry it.
func ParseObjectKey(prefix, key string) (ID, ObjectName, error) {
	rest, ok := strings.CutPrefix(key, join(prefix))
	if !ok {
		return ID{}, ObjectName{}, fmt.Errorf("object key %q is not below prefix %q", key, prefix)
	}
	seg := strings.Split(rest, "/")
	if len(seg) < 4 {
		return ID{}, ObjectName{}, fmt.Errorf("object key %q: too few levels", key)
	}
	id, err := parseLevels(seg[0], seg[1])
	if err != nil {
		return ID{}, ObjectName{}, fmt.Errorf("object key %q: %w", key, err)
	}
	n, err := ParseObjectName(seg[len(seg)-1])
	if err != nil {
		return ID{}, ObjectName{}, fmt.Errorf("object key %q: %w", key, err)
	}
	return id, n, nil
}

// parseLevels reads the levels tenant=<t> and signal=<s>.
func parseLevels(tenant, signal string) (ID, error) {
	t, ok := strings.CutPrefix(tenant, "tenant=")
	if !ok {
		return ID{}, fmt.Errorf("level %q is not tenant=…", tenant)
	}
	s, ok := strings.CutPrefix(signal, "signal=")
	if !ok {
		return ID{}, fmt.Errorf("level %q is not signal=…", signal)
	}
	var id ID
	var err error
	if id.Tenant, err = Unescape(t); err != nil {
		return ID{}, err
	}
	if id.Signal, err = ParseSignal(s); err != nil {
		return ID{}, err
	}
	return id, nil
}

// DataPrefix is the prefix of a partition's data objects, with its slash.
// Sinks that share a prefix share it.
func DataPrefix(prefix string, id ID) string {
	return join(prefix) + "tenant=" + Escape(id.Tenant) + "/signal=" + string(id.Signal) + "/"
}

// SystemPrefix is the prefix of everything that is not data: manifests,
// leases, quarantine. Readers that glob tenant=* never see it.
func SystemPrefix(prefix string) string { return join(prefix) + systemDir }

// LeasePrefix is the prefix of the heads where the bucket is the lease store.
func LeasePrefix(prefix string) string { return SystemPrefix(prefix) + "leases/" }

// LogsPrefix is the prefix of the commit logs of a sink, with its slash.
// Directly below it is one directory per tenant that ever committed.
func LogsPrefix(prefix, sink string) string {
	return SystemPrefix(prefix) + "sink=" + Escape(sink) + "/"
}

// TenantDir is the directory below LogsPrefix that holds a tenant's commit
// logs, with its slash.
func TenantDir(prefix string, id ID) string {
	return LogsPrefix(prefix, id.Sink) + "tenant=" + Escape(id.Tenant) + "/"
}

// ManifestPrefix is the prefix of a partition's commit log, with its slash.
func ManifestPrefix(prefix string, id ID) string {
	return SystemPrefix(prefix) + id.String() + "/windows/"
}

// ManifestKey is the key of manifest k of a partition; k starts at 1.
func ManifestKey(prefix string, id ID, k uint64) string {
	return fmt.Sprintf("%s%010d.json", ManifestPrefix(prefix, id), k)
}

// ParseManifestKey takes a manifest's key apart.
func ParseManifestKey(prefix, key string) (ID, uint64, error) {
	bad := func(why string) (ID, uint64, error) {
		return ID{}, 0, fmt.Errorf("manifest key %q: %s", key, why)
	}
	rest, ok := strings.CutPrefix(key, SystemPrefix(prefix))
	seg := strings.Split(rest, "/")
	if !ok || len(seg) != 5 || seg[3] != "windows" {
		return bad("not sink=…/tenant=…/signal=…/windows/<k>.json below " + SystemPrefix(prefix))
	}
	sink, ok := strings.CutPrefix(seg[0], "sink=")
	if !ok {
		return bad("no sink= level")
	}
	id, err := parseLevels(seg[1], seg[2])
	if err != nil {
		return bad(err.Error())
	}
	if id.Sink, err = Unescape(sink); err != nil {
		return bad(err.Error())
	}
	num, ok := strings.CutSuffix(seg[4], ".json")
	if !ok {
		return bad("does not end in .json")
	}
	k, err := strconv.ParseUint(num, 10, 64)
	if err != nil || k == 0 || ManifestKey(prefix, id, k) != key {
		return bad("no valid number k")
	}
	return id, k, nil
}

// LayoutKey is the key of what says how a sink files its objects.
func LayoutKey(prefix, sink string) string {
	return SystemPrefix(prefix) + "sink=" + Escape(sink) + "/layout.json"
}

// ParseLayoutKey returns the sink whose layout lies at key; false if that is not
// the key of one.
func ParseLayoutKey(prefix, key string) (sink string, ok bool) {
	rest, below := strings.CutPrefix(key, SystemPrefix(prefix)+"sink=")
	name, ok := strings.CutSuffix(rest, "/layout.json")
	if !below || !ok || strings.Contains(name, "/") {
		return "", false
	}
	sink, err := Unescape(name)
	return sink, err == nil
}

// QuarantineName is the last segment of a quarantined entry's key.
type QuarantineName struct {
	Stamp  int64 // microseconds since the epoch
	Writer string
	Seq    uint64
	Record int // the number, from 1, of the record of the entry that is kept; 0 where the entry is
}

func (n QuarantineName) String() string {
	if n.Record == 0 {
		return fmt.Sprintf("e-%016d-%s-%016x.bin", n.Stamp, n.Writer, n.Seq)
	}
	return fmt.Sprintf("e-%016d-%s-%016x-%d.bin", n.Stamp, n.Writer, n.Seq, n.Record)
}

// QuarantineKey is the key of an entry that could not be decoded, or of records
// of it.
func QuarantineKey(prefix string, id ID, n QuarantineName) string {
	return SystemPrefix(prefix) + "quarantine/" + id.String() + "/" + n.String()
}

// HeadName is the name of a partition's register in the lease store. It
// contains all that tells two partitions of any two lakes apart.
func HeadName(bucket, prefix string, id ID) string {
	return "bucket=" + Escape(bucket) + "/prefix=" + Escape(prefix) + "/" + id.String()
}

// join gives prefix with one slash at its end, or nothing for the root.
func join(prefix string) string {
	if prefix == "" {
		return ""
	}
	return prefix + "/"
}
