package postgreslease

import (
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/leasetest"
)

// forger is a server that has the table, and answers every statement on it in the
// same way.
type forger struct {
	answer []pgproto3.BackendMessage
	work   sync.WaitGroup
}

// serve returns the address of the server, which ends with the test.
func (f *forger) serve(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f.work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			f.work.Go(func() { f.connect(conn) })
		}
	})
	t.Cleanup(func() { listener.Close(); f.work.Wait() })
	return listener.Addr().String()
}

func (f *forger) connect(conn net.Conn) {
	defer conn.Close()
	b := pgproto3.NewBackend(conn, conn)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	statement := ""
	for b.Flush() == nil {
		message, err := b.Receive()
		if err != nil {
			return
		}
		switch m := message.(type) {
		case *pgproto3.Query: // whether it takes writes
			send(b, row(column{pgtype.TextOID, "off"})...)
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		case *pgproto3.Parse:
			statement = m.Query
			b.Send(&pgproto3.ParseComplete{})
		case *pgproto3.Bind:
			b.Send(&pgproto3.BindComplete{})
		case *pgproto3.Execute:
			if strings.Contains(statement, "to_regclass") {
				send(b, row(column{pgtype.BoolOID, "t"})...)
				continue
			}
			send(b, f.answer...)
		case *pgproto3.Sync:
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		}
	}
}

func send(b *pgproto3.Backend, messages ...pgproto3.BackendMessage) {
	for _, m := range messages {
		b.Send(m)
	}
}

// column is a value as text.
type column struct {
	oid  uint32
	text string
}

// row is an answer of one row.
func row(columns ...column) []pgproto3.BackendMessage {
	description, data := &pgproto3.RowDescription{}, &pgproto3.DataRow{}
	for _, c := range columns {
		description.Fields = append(description.Fields, pgproto3.FieldDescription{Name: []byte("c"), DataTypeOID: c.oid, DataTypeSize: -1, TypeModifier: -1})
		data.Values = append(data.Values, []byte(c.text))
	}
	return []pgproto3.BackendMessage{description, data, tag("SELECT 1")}
}

// register is a row of the table, the name and value of which are hexadecimal.
func register(name, value, revision string) []pgproto3.BackendMessage {
	return row(column{pgtype.ByteaOID, `\x` + name}, column{pgtype.ByteaOID, `\x` + value}, column{pgtype.TextOID, revision})
}

func tag(s string) *pgproto3.CommandComplete { return &pgproto3.CommandComplete{CommandTag: []byte(s)} }

func TestForgedAnswers(t *testing.T) {
	others := register("62", "7b7d", "r")
	for name, answer := range map[string][]pgproto3.BackendMessage{
		"empty statement":           {&pgproto3.EmptyQueryResponse{}},
		"no verb":                   {&pgproto3.NoData{}, tag("")},
		"another verb":              {&pgproto3.NoData{}, tag("SET")},
		"a verb without its number": {&pgproto3.NoData{}, tag("INSERT")},
		"inserted, and no row":      {&pgproto3.NoData{}, tag("INSERT 0 1")},
		"updated, and no row":       {&pgproto3.NoData{}, tag("UPDATE 1")},
		"deleted, and no row":       {&pgproto3.NoData{}, tag("DELETE 1")},
		"found, and no row":         {&pgproto3.NoData{}, tag("SELECT 1")},
		"inserted another row":      {others[0], others[1], tag("INSERT 0 1")},
		"updated another row":       {others[0], others[1], tag("UPDATE 1")},
		"deleted another row":       {others[0], others[1], tag("DELETE 1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := DefaultConfig()
			cfg.Endpoints, cfg.Username = []string{(&forger{answer: answer}).serve(t)}, "u"
			leasetest.RequireDisbelief(t, open(t, cfg), "r")
		})
	}
}

// TestForgedRow finds a row of another name, which no listing would mind.
func TestForgedRow(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Endpoints, cfg.Username = []string{(&forger{answer: register("62", "7b7d", "r")}).serve(t)}, "u"
	_, err := open(t, cfg).Get(t.Context(), "a")
	require.ErrorIs(t, err, errForeign)
}
