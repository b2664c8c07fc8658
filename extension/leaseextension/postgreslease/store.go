package postgreslease

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/s3window/s3window/extension/leaseextension/internal/dial"
	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// errForeign says that an answer is not one of the server's.
var errForeign = errors.New("the answer is not the server's: it has other rows than it says, or than were asked for")

// Store is a lease.Store in a table: one row per register, each write
// one statement that compares and sets.
//
// Names are bytea, not text: text cannot hold every name, and depends on the
// database's encoding. A revision is drawn at random by every write, so it never
// comes back, whatever the database is restored from. Every write returns the row
// that it wrote.
type Store struct {
	connection *dial.Lazy[*pgxpool.Pool]
	table      string // quoted
}

// Get implements lease.Store. It reads from the server that takes
// writes.
func (s *Store) Get(ctx context.Context, key string) (lease.Record, error) {
	pool, err := s.connection.Get(ctx)
	if err != nil {
		return lease.Record{}, err
	}
	rows, err := query(ctx, pool, "SELECT", "SELECT name, value, revision FROM "+s.table+" WHERE name = $1", []byte(key))
	switch {
	case is(err, undefinedTable): // a server that was set up again under a pool that stayed
		if err := s.ensure(ctx, pool); err != nil {
			return lease.Record{}, s.failed("get", key, err)
		}
		return lease.Record{}, lease.ErrNotFound
	case err != nil:
		return lease.Record{}, s.failed("get", key, err)
	case len(rows) == 0:
		return lease.Record{}, lease.ErrNotFound
	case len(rows) > 1 || rows[0].Key != key:
		return lease.Record{}, s.failed("get", key, errForeign)
	}
	return rows[0], nil
}

// Put implements lease.Store.
//
// Crash before this: the old version. Crash after it: the new one, as durable as
// synchronous_commit makes it.
func (s *Store) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	written := lease.Record{Key: key, Value: value, Revision: rand.Text()}
	verb, arguments := "INSERT 0", []any{[]byte(key), value, written.Revision}
	statement := "INSERT INTO " + s.table + " (name, value, revision) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING"
	if ifRevision != "" {
		verb, arguments = "UPDATE", append(arguments, ifRevision)
		statement = "UPDATE " + s.table + " SET value = $2, revision = $3 WHERE name = $1 AND revision = $4"
	}
	rows, err := s.write(ctx, verb, statement, arguments...)
	switch {
	case err != nil:
		return "", s.failed("put", key, err)
	case len(rows) == 0:
		return "", lease.ErrConflict
	case len(rows) > 1 || !equal(rows[0], written):
		return "", s.failed("put", key, errForeign)
	}
	return written.Revision, nil
}

// Delete implements lease.Store.
func (s *Store) Delete(ctx context.Context, key, ifRevision string) error {
	rows, err := s.write(ctx, "DELETE", "DELETE FROM "+s.table+" WHERE name = $1 AND revision = $2", []byte(key), ifRevision)
	switch {
	case err != nil:
		return s.failed("delete", key, err)
	case len(rows) == 1 && rows[0].Key == key && rows[0].Revision == ifRevision:
		return nil
	case len(rows) > 0:
		return s.failed("delete", key, errForeign)
	}
	if _, err := s.Get(ctx, key); err != nil {
		return err // ErrNotFound, or no answer
	}
	return lease.ErrConflict
}

// write runs a statement that changes one row or none, and returns that row. A
// transaction that meets another one, where the database isolates them that
// strictly, changes none.
func (s *Store) write(ctx context.Context, verb, statement string, arguments ...any) ([]lease.Record, error) {
	pool, err := s.connection.Get(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := query(ctx, pool, verb, statement+" RETURNING name, value, revision", arguments...)
	if is(err, serializationFailure) {
		return nil, nil
	}
	return rows, err
}

// query returns the rows of a statement, which must end as the server ends it:
// with verb and their number. An answer that is no server's may have no rows.
func query(ctx context.Context, pool *pgxpool.Pool, verb, statement string, arguments ...any) ([]lease.Record, error) {
	answer, err := pool.Query(ctx, statement, arguments...)
	if err != nil {
		return nil, err
	}
	rows, err := pgx.CollectRows(answer, func(row pgx.CollectableRow) (rec lease.Record, err error) {
		var name []byte
		err = row.Scan(&name, &rec.Value, &rec.Revision)
		rec.Key = string(name)
		return rec, err
	})
	if err == nil && answer.CommandTag().String() != fmt.Sprint(verb, " ", len(rows)) {
		err = errForeign
	}
	return rows, err
}

func equal(a, b lease.Record) bool {
	return a.Key == b.Key && a.Revision == b.Revision && bytes.Equal(a.Value, b.Value)
}

// List implements lease.Store.
func (s *Store) List(ctx context.Context, prefix string) ([]lease.Record, error) {
	pool, err := s.connection.Get(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := query(ctx, pool, "SELECT", "SELECT name, value, revision FROM "+s.table+
		" WHERE name >= $1 AND ($2::bytea IS NULL OR name < $2) ORDER BY name", []byte(prefix), behind([]byte(prefix)))
	if err != nil {
		return nil, s.failed("list", prefix, err)
	}
	return rows, nil
}

// behind is the first name after all that start with prefix; nil if there is
// none.
func behind(prefix []byte) []byte {
	end := bytes.TrimRight(bytes.Clone(prefix), "\xff")
	if len(end) == 0 {
		return nil
	}
	end[len(end)-1]++
	return end
}

func (s *Store) failed(verb, key string, err error) error {
	return fmt.Errorf("%s row %q of table %s: %w", verb, key, s.table, err)
}
