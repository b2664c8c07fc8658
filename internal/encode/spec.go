package encode

import (
	"errors"
	"fmt"
	"slices"

	"github.com/s3window/s3window/internal/encode/parquet"
	"github.com/s3window/s3window/internal/partition"
)

// Spec pins everything that decides which bytes an Encoder makes of records.
// It is stored in seals: a window is finished with the Spec it was sealed
// with.
type Spec struct {
	Signal  partition.Signal `json:"signal"`
	Format  string           `json:"format"`          // parquet, jsonl
	Codec   string           `json:"codec"`           // of parquet: zstd, snappy; of jsonl: zstd, gzip, none
	Level   string           `json:"level,omitempty"` // of zstd: fastest (the default), 3
	Columns []Column         `json:"columns,omitempty"`

	// How much a caller passes to one Stage. The encoder itself cuts row
	// groups only out of a single call with more than MaxRowGroupRows.
	RowGroupRows  int   `json:"row_group_rows,omitempty"`
	RowGroupBytes int64 `json:"row_group_bytes,omitempty"`

	// Filing deals the records of a window out to several directories; nil files
	// all under the window's time.
	Filing *Filing `json:"filing,omitempty"`
	// ObjectBytes is the size that an object of several row groups does not
	// exceed; 0 is no limit.
	ObjectBytes int64 `json:"object_bytes,omitempty"`
}

// Column promotes an attribute to a column of its own. Exactly one of the first
// three names it. The column has a copy of the first value that is of its type,
// or can be exactly, as otlp.Value.As has it; null if there is none.
type Column struct {
	Attribute         string `json:"attribute,omitempty"`
	ResourceAttribute string `json:"resource_attribute,omitempty"`
	ScopeAttribute    string `json:"scope_attribute,omitempty"`
	As                string `json:"as"`
	Type              string `json:"type,omitempty"` // string (the default), int64, double, bool
	// Move has values of the column's type stand in the column alone. Lines have
	// them twice all the same.
	Move bool `json:"move,omitempty"`
}

// What Stage is best given at once, and the largest row group it makes.
const (
	DefaultRowGroupRows  = 32768
	DefaultRowGroupBytes = 16 << 20
	MaxRowGroupRows      = 131072
)

func (s Spec) codec() (parquet.Codec, error) {
	switch s.Codec + "/" + s.Level {
	case "zstd/", "zstd/fastest":
		return parquet.ZstdFastest, nil
	case "zstd/3":
		return parquet.ZstdDefault, nil
	case "snappy/":
		return parquet.Snappy, nil
	}
	return "", fmt.Errorf("codec %q with level %q is not one of zstd (fastest, 3) and snappy (no level)", s.Codec, s.Level)
}

func (s Spec) validate() error {
	var errs []error
	if ColumnNames(s.Signal) == nil {
		errs = append(errs, fmt.Errorf("signal %q cannot be encoded", s.Signal))
	}
	if kind, ok := formatKinds()[s.Format]; !ok {
		errs = append(errs, fmt.Errorf("format %q is neither parquet nor jsonl", s.Format))
	} else if err := kind.check(s); err != nil {
		errs = append(errs, err)
	}
	if s.RowGroupRows < 0 || s.RowGroupBytes < 0 {
		errs = append(errs, errors.New("row group sizes are negative"))
	}
	if s.ObjectBytes < 0 {
		errs = append(errs, errors.New("the size of objects is negative"))
	}
	errs = append(errs, s.validateColumns()...)
	return errors.Join(append(errs, s.validateLevels()...)...)
}

// validateLevels keeps the names of levels and columns apart: a reader takes
// both for columns, and refuses or mistypes a name that is both.
func (s Spec) validateLevels() (errs []error) {
	if s.Filing == nil {
		return nil
	}
	names := map[string]bool{}
	for _, n := range ColumnNames(s.Signal) {
		names[n] = true
	}
	for _, c := range s.Columns {
		names[c.As] = true
	}
	for i, l := range s.Filing.By {
		if names[l.As] {
			errs = append(errs, fmt.Errorf("level %d has the name %q, which is a column's", i, l.As))
		}
	}
	return errs
}

func (s Spec) validateColumns() (errs []error) {
	names := map[string]bool{}
	for _, n := range ColumnNames(s.Signal) {
		names[n] = true
	}
	sources := map[Column]bool{}
	for i, c := range s.Columns {
		given := 0
		for _, key := range []string{c.Attribute, c.ResourceAttribute, c.ScopeAttribute} {
			if key != "" {
				given++
			}
		}
		source := Column{Attribute: c.Attribute, ResourceAttribute: c.ResourceAttribute, ScopeAttribute: c.ScopeAttribute}
		switch {
		case given != 1:
			errs = append(errs, fmt.Errorf("column %d names %d attributes, not one", i, given))
		case sources[source]:
			errs = append(errs, fmt.Errorf("column %d (%q) promotes an attribute that another column promotes", i, c.As))
		case partition.ColumnName(c.As) != nil:
			errs = append(errs, fmt.Errorf("column %d has the name %q, which %w", i, c.As, partition.ColumnName(c.As)))
		case names[c.As]:
			errs = append(errs, fmt.Errorf("column %d has the name %q, which is taken", i, c.As))
		case !slices.Contains([]string{"", "string", "int64", "double", "bool"}, c.Type):
			errs = append(errs, fmt.Errorf("column %d (%q) has the type %q, which is not one of string, int64, double, bool", i, c.As, c.Type))
		}
		names[c.As], sources[source] = true, true
	}
	return errs
}
