package postgreslease

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// PostgreSQL's words for a transaction that met another, and for a table that is
// not there.
const (
	serializationFailure = "40001"
	undefinedTable       = "42P01"
)

// connect makes the pool and finds the table, or makes it.
//
// Crash before this: no table. Crash after it: an empty one.
func (s *Store) connect(ctx context.Context, settings *pgxpool.Config) (*pgxpool.Pool, error) {
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	if err := s.ensure(ctx, pool); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// ensure makes the table unless it is there.
//
// Crash before this: no table. Crash after it: an empty one, which the next
// process finds.
func (s *Store) ensure(ctx context.Context, pool *pgxpool.Pool) error {
	ctx, cancel := context.WithTimeout(ctx, 2*connectTimeout)
	defer cancel()
	if found, err := s.exists(ctx, pool); found || err != nil {
		return err
	}
	create := "CREATE TABLE IF NOT EXISTS " + s.table + " (name bytea PRIMARY KEY, value bytea NOT NULL, revision text NOT NULL)"
	_, createErr := pool.Exec(ctx, create)
	if createErr == nil {
		return nil
	}
	// Two that make it at once meet in the catalogue, in several ways.
	if found, err := s.exists(ctx, pool); found || err != nil {
		return err
	}
	return fmt.Errorf("make the table, as somebody who may does with %q: %w", create, createErr)
}

func (s *Store) exists(ctx context.Context, pool *pgxpool.Pool) (found bool, err error) {
	if err := pool.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", s.table).Scan(&found); err != nil {
		return false, fmt.Errorf("look for table %s: %w", s.table, err)
	}
	return found, nil
}

// is tells whether the server answered with the code.
func is(err error, code string) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == code
}
