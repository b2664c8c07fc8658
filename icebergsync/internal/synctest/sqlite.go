package synctest

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	icesql "github.com/apache/iceberg-go/catalog/sql"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver
)

// SQLite makes a catalog in a file, with its warehouse at a location.
func SQLite(t testing.TB, warehouse string) catalog.Catalog {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "catalog.sqlite")+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	c, err := icesql.NewCatalog("test", db, icesql.SQLite, iceberg.Properties{"warehouse": warehouse})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}
