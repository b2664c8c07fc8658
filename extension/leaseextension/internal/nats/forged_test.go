package nats_test

import (
	"strings"
	"sync/atomic"
	"testing"

	natsgo "github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/internal/nats"
	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
	"github.com/s3window/s3window/testbed/servers"
)

// TestForgedAnswers has something else that is subscribed answer in JetStream's
// place, first as it should, so that the bucket is there, then not.
func TestForgedAnswers(t *testing.T) {
	server := servers.CoreNATS(t)
	const bucket = `{"config":{"name":"KV_s3window-leases"}}`
	for name, lie := range map[string]struct{ got, put, info string }{
		"empty":        {},
		"a page":       {"<html>", "<html>", "<html>"},
		"empty JSON":   {"{}", "{}", "{}"},
		"empty fields": {`{"message":{}}`, `{"stream":"KV_s3window-leases"}`, `{"config":{}}`},
		"of others": {
			`{"message":{"subject":"$KV.s3window-leases.b","seq":9}}`, `{"stream":"other","seq":9}`, `{"config":{"name":"other"}}`,
		},
		"old": {`{"message":{"subject":"$KV.s3window-leases.a","seq":0}}`, `{"stream":"KV_s3window-leases","seq":0}`, "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := natsgo.Connect(server.Address)
			require.NoError(t, err)
			defer conn.Close()
			var lying atomic.Bool
			_, err = conn.Subscribe(">", func(m *natsgo.Msg) {
				answer := lie.info
				switch {
				case m.Reply == "":
					return
				case !lying.Load():
					answer = bucket
				case strings.HasPrefix(m.Subject, "$JS.API.STREAM.MSG.GET."):
					answer = lie.got
				case strings.HasPrefix(m.Subject, "$KV."):
					answer = lie.put
				}
				if err := m.Respond([]byte(answer)); err != nil {
					t.Error(err)
				}
			})
			require.NoError(t, err)
			require.NoError(t, conn.Flush())
			cfg := nats.DefaultConfig()
			cfg.Endpoints = []string{"nats://" + server.Address}
			store := open(t, cfg)
			_, err = store.List(t.Context(), "")
			require.NoError(t, err, "the bucket is open")
			lying.Store(true)
			leasetest.RequireDisbelief(t, store, "7")
		})
	}
}

// A bucket of another name, or of none, is not opened.
func TestForgedBucket(t *testing.T) {
	server := servers.CoreNATS(t)
	conn, err := natsgo.Connect(server.Address)
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Subscribe("$JS.API.>", func(m *natsgo.Msg) { _ = m.Respond([]byte(`{"config":{"name":"other"}}`)) })
	require.NoError(t, err)
	require.NoError(t, conn.Flush())
	cfg := nats.DefaultConfig()
	cfg.Endpoints = []string{"nats://" + server.Address}
	_, err = open(t, cfg).Get(t.Context(), "a")
	require.EqualError(t, err, `open bucket "s3window-leases": the answer is about stream "other"`)
	require.NotErrorIs(t, err, lease.ErrNotFound)
}
