package route

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/s3window/s3window/internal/partition"
)

// Rule says in which place a record of a window is filed. It is part of seals.
type Rule struct {
	// EventTime files a record under the hour or day of its own time, as the
	// column ts has it. Otherwise all are in that of their window.
	EventTime bool `json:"event_time,omitempty"`
	// MaxSkew is how old a record may be when it is received to be filed under
	// its own time, microseconds.
	MaxSkew int64 `json:"max_event_skew,omitempty"`
	// Ahead is by how much the clock that says when records are received is
	// ahead of the wall clock, microseconds. Ages are told by the wall clock.
	Ahead int64 `json:"clock_ahead,omitempty"`
	// Align says whether own times are hours or days.
	Align partition.Align `json:"align"`
	// By are the levels behind the time, in order.
	By []Level `json:"by,omitempty"`
	// MaxPlaces bounds the places of a window that have objects of their own.
	MaxPlaces int `json:"max_prefixes"`
	Least
}

// Least is what a place must have for objects of its own: Items, or Bytes as
// they came where that is not 0. The zero value asks for nothing.
type Least struct {
	Items int64 `json:"min_object_records,omitempty"`
	Bytes int64 `json:"min_object_bytes,omitempty"`
	// Share lowers Items to that fraction of the window's where it has fewer:
	// 50 is a fiftieth. 0 does not.
	Share int64 `json:"min_object_share,omitempty"`
}

// Small says that a place with so many items and bytes of a window of all items
// is below it.
func (l *Least) Small(items, bytes, all int64) bool {
	least := l.Items
	if l.Share > 0 {
		least = min(least, all/l.Share)
	}
	return items < least && (l.Bytes == 0 || bytes < l.Bytes)
}

// Level is a Hive level whose value is an attribute's. One of the first three
// names the attribute.
type Level struct {
	Attribute         string `json:"attribute,omitempty"`
	ResourceAttribute string `json:"resource_attribute,omitempty"`
	ScopeAttribute    string `json:"scope_attribute,omitempty"`
	As                string `json:"as"`
}

// Bounds of a Rule.
const (
	MaxBy     = 3
	MaxPlaces = 1000
)

// maxAhead is how far in the future a record's own time may lie, microseconds.
const maxAhead = int64(time.Hour / time.Microsecond)

// Own is the Period of records that are filed under the time of their window.
const Own = math.MinInt64

// Place is where a record belongs within its window.
type Place struct {
	Period int64  // the number of its hour or day, or Own
	Levels string // behind the time, joined by slashes
}

// align is the period of own times: an hour unless it is a day.
func (r *Rule) align() partition.Align {
	if r.Align == partition.AlignDay {
		return partition.AlignDay
	}
	return partition.AlignHour
}

// Time is when a period begins, microseconds since the epoch.
func (r *Rule) Time(period int64) int64 {
	if r.align() == partition.AlignDay {
		return period * int64(24*time.Hour/time.Microsecond)
	}
	return period * int64(time.Hour/time.Microsecond)
}

// Period is the period that a time lies in, microseconds since the epoch.
func (r *Rule) Period(at int64) int64 { return r.align().Period(at) }

// Rest is the place of records that cannot have one of their own.
func (r *Rule) Rest() Place {
	var levels string
	for i, l := range r.By {
		if i > 0 {
			levels += "/"
		}
		levels += partition.Level(l.As, "")
	}
	return Place{Own, levels}
}

// Validate names everything that is wrong with the rule.
func (r *Rule) Validate() error {
	var errs []error
	if r.EventTime && r.MaxSkew <= 0 {
		errs = append(errs, errors.New("the bound of a record's age must be positive"))
	}
	if len(r.By) > MaxBy {
		errs = append(errs, fmt.Errorf("%d levels are more than %d", len(r.By), MaxBy))
	}
	if r.MaxPlaces < 1 || r.MaxPlaces > MaxPlaces {
		errs = append(errs, fmt.Errorf("%d places are not 1 to %d", r.MaxPlaces, MaxPlaces))
	}
	if r.Least.Items < 0 || r.Least.Bytes < 0 || r.Share < 0 {
		errs = append(errs, errors.New("the least size of a place is negative"))
	}
	names := map[string]bool{}
	for i, l := range r.By {
		if err := l.validate(); err != nil {
			errs = append(errs, fmt.Errorf("level %d: %w", i, err))
		} else if names[l.As] {
			errs = append(errs, fmt.Errorf("level %d: another level is named %q", i, l.As))
		}
		names[l.As] = true
	}
	return errors.Join(errs...)
}

func (l Level) validate() error {
	given := 0
	for _, key := range []string{l.Attribute, l.ResourceAttribute, l.ScopeAttribute} {
		if key != "" {
			given++
		}
	}
	if given != 1 {
		return fmt.Errorf("it names %d attributes, not one", given)
	}
	if err := partition.LevelName(l.As); err != nil {
		return fmt.Errorf("its name %q %w", l.As, err)
	}
	return nil
}
