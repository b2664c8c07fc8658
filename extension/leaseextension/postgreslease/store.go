package postgreslease

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/s3window/s3window/extension/leaseextension"
	"github.com/s3window/s3window/extension/leaseextension/internal/dial"
)

// Store is a leaseextension.Store in a table: one row per register, each write
// one statement that compares and sets.
//
// Names are bytea, not text: text cannot hold every name, and depends on the
// database's encoding. A revision is drawn at random by every write, so it never
// comes back, whatever the database is restored from.
type Store struct {
	connection *dial.Lazy[*pgxpool.Pool]
	table      string // quoted
}

// Get implements leaseextension.Store. It reads from the server that takes
// writes.
func (s *Store) Get(ctx context.Context, key string) (leaseextension.Record, error) {
	pool, err := s.connection.Get(ctx)
	if err != nil {
		return leaseextension.Record{}, err
	}
	rec := leaseextension.Record{Key: key}
	err = pool.QueryRow(ctx, "SELECT value, revision FROM "+s.table+" WHERE name = $1", []byte(key)).Scan(&rec.Value, &rec.Revision)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return leaseextension.Record{}, leaseextension.ErrNotFound
	case is(err, undefinedTable): // a server that was set up anew under a pool that stayed
		if err := s.ensure(ctx, pool); err != nil {
			return leaseextension.Record{}, s.failed("get", key, err)
		}
		return leaseextension.Record{}, leaseextension.ErrNotFound
	case err != nil:
		return leaseextension.Record{}, s.failed("get", key, err)
	}
	return rec, nil
}

// Put implements leaseextension.Store.
//
// Crash before this: the old version. Crash after it: the new one, as durable as
// synchronous_commit makes it.
func (s *Store) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	revision := rand.Text()
	var changed bool
	var err error
	if ifRevision == "" {
		changed, err = s.write(ctx, "INSERT INTO "+s.table+" (name, value, revision) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING",
			[]byte(key), value, revision)
	} else {
		changed, err = s.write(ctx, "UPDATE "+s.table+" SET value = $2, revision = $3 WHERE name = $1 AND revision = $4",
			[]byte(key), value, revision, ifRevision)
	}
	switch {
	case err != nil:
		return "", s.failed("put", key, err)
	case !changed:
		return "", leaseextension.ErrConflict
	}
	return revision, nil
}

// Delete implements leaseextension.Store.
func (s *Store) Delete(ctx context.Context, key, ifRevision string) error {
	changed, err := s.write(ctx, "DELETE FROM "+s.table+" WHERE name = $1 AND revision = $2", []byte(key), ifRevision)
	switch {
	case err != nil:
		return s.failed("delete", key, err)
	case changed:
		return nil
	}
	if _, err := s.Get(ctx, key); err != nil {
		return err // ErrNotFound, or no answer
	}
	return leaseextension.ErrConflict
}

// write tells whether the statement changed its one row. A transaction that
// meets another one, where the database isolates them that strictly, does not.
func (s *Store) write(ctx context.Context, statement string, arguments ...any) (bool, error) {
	pool, err := s.connection.Get(ctx)
	if err != nil {
		return false, err
	}
	var tag pgconn.CommandTag
	tag, err = pool.Exec(ctx, statement, arguments...)
	if is(err, serializationFailure) {
		return false, nil
	}
	return tag.RowsAffected() == 1, err
}

// List implements leaseextension.Store.
func (s *Store) List(ctx context.Context, prefix string) ([]leaseextension.Record, error) {
	pool, err := s.connection.Get(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := pool.Query(ctx, "SELECT name, value, revision FROM "+s.table+
		" WHERE name >= $1 AND ($2::bytea IS NULL OR name < $2) ORDER BY name", []byte(prefix), behind([]byte(prefix)))
	if err != nil {
		return nil, s.failed("list", prefix, err)
	}
	records, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (rec leaseextension.Record, err error) {
		var name []byte
		err = row.Scan(&name, &rec.Value, &rec.Revision)
		rec.Key = string(name)
		return rec, err
	})
	if err != nil {
		return nil, s.failed("list", prefix, err)
	}
	return records, nil
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
