package encode

import (
	"fmt"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
	"github.com/s3window/s3window/internal/partition"
)

// rows has the columns of a signal.
type rows interface {
	// group adds the rows of a group of an entry. After an error the row group
	// under construction is lost.
	group(s *stager, g *located) error
	reset()
	held() int
}

func newRows(t *parquet.Table, spec Spec) (rows, error) {
	switch spec.Signal {
	case partition.Logs:
		return newLogs(t, spec.Columns), nil
	case partition.Traces:
		return newTraces(t, spec.Columns), nil
	case partition.Metrics:
		return newMetrics(t, spec.Columns), nil
	}
	return nil, fmt.Errorf("signal %q has no columns", spec.Signal)
}

// runs has the columns of resources and scopes, and the walk through a group to
// its items. The columns are put once per run: the rows of one scope, when the
// scope is known.
type runs struct {
	table     *parquet.Table
	resources resources
	scopes    scopes
	item      func(s *stager, item []byte, received int64) error // adds the rows of an item

	walk  otlp.Scopes
	owner *located
	from  int // the run's first row
}

func newRuns(t *parquet.Table) runs {
	return runs{table: t, resources: resources{entries: newEntries(t)}, scopes: scopes{entries: newEntries(t)}}
}

// addService adds the column service_name, which stands apart.
func (r *runs) addService() { r.resources.service = r.resources.set.Label("service_name", true) }

// columns adds the columns that stand behind those of the signal, and returns
// the promoted ones that take a value per row.
func (r *runs) columns(promoted []Column) (own []promotedRow) {
	r.scopes.add(r.scopes.set)
	r.resources.add(r.resources.set)
	for _, c := range promoted {
		switch {
		case c.ResourceAttribute != "":
			a := &r.resources.attributes
			a.promoted = append(a.promoted, newPromotedRun(r.resources.set, c.ResourceAttribute, c))
		case c.ScopeAttribute != "":
			a := &r.scopes.attributes
			a.promoted = append(a.promoted, newPromotedRun(r.scopes.set, c.ScopeAttribute, c))
		default:
			own = append(own, newPromotedRow(r.table, c))
		}
	}
	return own
}

func (r *runs) held() int { return r.resources.known.Held() + r.scopes.known.Held() }

func (r *runs) reset() {
	r.resources.reset()
	r.scopes.reset()
	r.walk, r.owner, r.from = otlp.Scopes{}, nil, 0
}

// group implements rows.
func (r *runs) group(s *stager, g *located) error {
	r.walk, r.owner = g.Scopes(), g
	for r.walk.Next() {
		for r.walk.Scope.Next() {
			if err := r.item(s, r.walk.Scope.Item, g.received); err != nil {
				return err
			}
		}
		if err := r.walk.Scope.Err(); err != nil {
			return err
		}
		if err := r.endRun(s, &r.walk.Scope); err != nil {
			return err
		}
	}
	return r.walk.Err()
}

// endRun puts the columns of resource and scope for the rows of the run.
func (r *runs) endRun(s *stager, sc *otlp.ScopeItems) error {
	n := r.table.Rows() - r.from
	if n == 0 {
		return nil
	}
	resource, err := r.resources.entry(r.owner, s.services.At(r.owner.service))
	if err != nil {
		return err
	}
	scope, err := r.scopes.entry(sc.Scope, sc.SchemaURL)
	if err != nil {
		return err
	}
	r.resources.set.Repeat(resource, n)
	r.scopes.set.Repeat(scope, n)
	r.from += n
	return nil
}

// full tells whether the row group has all the rows that it may have. An item
// then calls cut before it adds another.
func (r *runs) full() bool { return r.table.Rows() >= MaxRowGroupRows }

// cut ends the run and the row group, in the middle of a scope.
func (r *runs) cut(s *stager) error {
	whole, err := r.walk.Scope.Locate()
	if err != nil {
		return err
	}
	if err := r.endRun(s, &whole); err != nil {
		return err
	}
	walk, owner := r.walk, r.owner
	s.cut()
	r.walk, r.owner = walk, owner
	return nil
}
