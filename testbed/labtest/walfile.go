package labtest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// entryKey is what the queue's entries are stored under. It is written down
// here once more: a laboratory shares no code with what it looks at.
var entryKey = regexp.MustCompile(`^l[0-9a-f]{16}$`)

// requestID finds the requests of the load generator in an entry's bytes.
var requestID = regexp.MustCompile(`([a-z0-9]+-\d+-\d{6})/`)

// WALFile is the file that the queue is in. No process may have it open.
func (r *Replica) WALFile() string {
	r.lab.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.WAL, "exporter_s3window_*wal"))
	require.NoError(r.lab.t, err)
	require.Len(r.lab.t, files, 1)
	return files[0]
}

// Owed gives the values of the entries in a stopped replica's WAL.
func (r *Replica) Owed() [][]byte {
	r.lab.t.Helper()
	db, err := bbolt.Open(r.WALFile(), 0o600, &bbolt.Options{ReadOnly: true, Timeout: 5 * time.Second})
	require.NoError(r.lab.t, err)
	defer db.Close()
	var out [][]byte
	require.NoError(r.lab.t, db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				if entryKey.Match(k) {
					out = append(out, bytes.Clone(v))
				}
				return nil
			})
		})
	}))
	return out
}

// RequestsIn names the requests of the load generator whose records are in an
// entry's value.
func RequestsIn(entry []byte) []string {
	var out []string
	for _, m := range requestID.FindAllSubmatch(entry, -1) {
		if name := string(m[1]); len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	return out
}

// Damage flips bytes in the middle of an entry's value, in the file of a
// stopped replica, wherever the file has it.
func (r *Replica) Damage(entry []byte) {
	r.lab.t.Helper()
	file := r.WALFile()
	content, err := os.ReadFile(file)
	require.NoError(r.lab.t, err)
	found := 0
	for at := 0; ; {
		i := bytes.Index(content[at:], entry)
		if i < 0 {
			break
		}
		found++
		for n := range 8 {
			content[at+i+len(entry)/2+n] ^= 0xff
		}
		at += i + len(entry)
	}
	require.Positive(r.lab.t, found)
	require.NoError(r.lab.t, os.WriteFile(file, content, 0o600))
}

// CopyWAL copies a stopped replica's WAL to another replica, which gets the
// same queue in the state that it is in now.
func (r *Replica) CopyWAL(to *Replica) {
	r.lab.t.Helper()
	require.NoError(r.lab.t, os.RemoveAll(to.WAL))
	require.NoError(r.lab.t, os.CopyFS(to.WAL, os.DirFS(r.WAL)))
}
