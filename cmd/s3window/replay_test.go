package main

import (
	"context"
	"encoding/pem"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// sink is an OTLP receiver that counts records.
type sink struct {
	plogotlp.UnimplementedGRPCServer
	records atomic.Int64
	refuses atomic.Bool
}

// Export implements plogotlp.GRPCServer.
func (s *sink) Export(_ context.Context, req plogotlp.ExportRequest) (plogotlp.ExportResponse, error) {
	if s.refuses.Load() {
		return plogotlp.NewExportResponse(), status.Error(codes.InvalidArgument, "a bad record")
	}
	s.records.Add(int64(req.Logs().LogRecordCount()))
	return plogotlp.NewExportResponse(), nil
}

func receiveOTLP(t *testing.T, options ...grpc.ServerOption) (*sink, string) {
	in, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, s := grpc.NewServer(options...), &sink{}
	plogotlp.RegisterGRPCServer(server, s)
	done := make(chan error)
	go func() { done <- server.Serve(in) }()
	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-done)
	})
	return s, in.Addr().String()
}

func TestReplayDirectory(t *testing.T) {
	root, key := dir(t)
	where := filepath.Join(root, "otel")
	s, addr := receiveOTLP(t)

	code, stdout, stderr := run(t.Context(), "replay", "-dry-run", where)
	require.Equal(t, exitOK, code, stderr)
	require.Contains(t, stdout, `tenant "acme", logs, sink default: would send windows 1 to 2 (2), 4 records, 12 B`)
	require.Zero(t, s.records.Load())

	state := filepath.Join(t.TempDir(), "state")
	for _, want := range []string{"sent windows 1 to 2 (2), 4 records, 12 B\n", "sent nothing; up to window 2 was sent before\n"} {
		code, stdout, stderr = run(t.Context(), "replay", where, "-endpoint", addr, "-insecure", "-state", state)
		require.Equal(t, exitOK, code, stderr)
		require.Contains(t, stdout, want)
		require.EqualValues(t, 4, s.records.Load())
	}

	code, _, stderr = run(t.Context(), "replay", where, "-endpoint", addr, "-insecure", "-state", state, "-k", "2:")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "is of another replay")

	require.NoError(t, os.Remove(filepath.Join(root, key)))
	code, stdout, _ = run(t.Context(), "replay", where, "-endpoint", addr, "-insecure")
	require.Equal(t, exitDamaged, code)
	require.Contains(t, stdout, "sent windows 1 to 1 (1), 2 records")
	require.Contains(t, stdout, "DAMAGE: window 2: object")
}

func TestReplayPassesOverWhatIsRefused(t *testing.T) {
	root, key := dir(t)
	where, state := filepath.Join(root, "otel"), filepath.Join(t.TempDir(), "state")
	s, addr := receiveOTLP(t)
	s.refuses.Store(true)
	code, _, stderr := run(t.Context(), "replay", where, "-endpoint", addr, "-insecure", "-state", state)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, `the receiver refuses record 1 of object "otel/tenant=acme/`)
	require.Contains(t, stderr, "a bad record")
	require.Contains(t, stderr, "Give -skip-refused")

	for range 2 { // the second run has nothing left to send
		code, stdout, stderr := run(t.Context(), "replay", where, "-endpoint", addr, "-insecure", "-state", state, "-skip-refused")
		if strings.Contains(stdout, "sent before") {
			require.Equal(t, exitOK, code)
			break
		}
		require.Equal(t, exitDamaged, code, stderr)
		require.Equal(t, 4, strings.Count(stderr, "passed over: the receiver refuses record"), stderr)
		require.Contains(t, stdout, "; 4 of them were passed over")
		require.Contains(t, stdout, "PASSED OVER: 4 records that the receiver refuses; "+state+".refused names them")
	}
	content, err := os.ReadFile(state + ".refused")
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(string(content), "\n"))
	require.Contains(t, string(content), `"object_key":"`+key+`","record":2,`)

	code, stdout, _ := run(t.Context(), "replay", where, "-endpoint", addr, "-insecure", "-skip-refused")
	require.Equal(t, exitDamaged, code)
	require.Contains(t, stdout, "PASSED OVER: 4 records that the receiver refuses\n")
	code, _, stderr = run(t.Context(), "replay", where, "-endpoint", addr, "-insecure", "-state", state+"2", "-skip-refused", "-dry-run")
	require.Equal(t, exitOK, code, stderr)
}

func TestReplayOverTLS(t *testing.T) {
	root, _ := dir(t)
	where := filepath.Join(root, "otel")
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	cert := &web.TLS.Certificates[0]
	s, addr := receiveOTLP(t, grpc.Creds(credentials.NewServerTLSFromCert(cert)))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}), 0o600))

	code, _, stderr := run(t.Context(), "replay", where, "-endpoint", addr, "-retry-for", "0")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "certificate")
	require.Contains(t, stderr, "Without -state nothing is remembered")

	code, _, stderr = run(t.Context(), "replay", where, "-endpoint", addr, "-ca-file", ca, "-header", "Authorization=Bearer x", "-max-request-mib", "1")
	require.Equal(t, exitOK, code, stderr)
	require.EqualValues(t, 4, s.records.Load())
}

func TestReplayFlags(t *testing.T) {
	root, _ := dir(t)
	where := filepath.Join(root, "otel")
	for args, want := range map[string]string{
		"":                                      "name the receiver",
		"-endpoint x:4317 -timeout 0":           "-timeout (0s) must be more than 0",
		"-endpoint x:4317 -k 0":                 "no number of a window",
		"-endpoint x:4317 -k 3:b":               "no number of a window",
		"-endpoint x:4317 -from yesterday":      "not like 2006",
		"-endpoint x:4317 -signal smoke":        "smoke",
		"-endpoint x:4317 -header bad":          "not name=value",
		"-endpoint x:4317 -ca-file /no/such":    "/no/such",
		"-endpoint x:4317 -tenant nobody":       "no commit log of a selected partition",
		"-endpoint x:4317 -state /no/such/file": "write state",
	} {
		code, _, stderr := run(t.Context(), append([]string{"replay", where}, strings.Fields(args)...)...)
		require.Equal(t, exitFailed, code, args)
		require.Contains(t, stderr, want, args)
	}
	code, _, stderr := run(t.Context(), "replay", "-h")
	require.Equal(t, exitOK, code)
	require.Contains(t, stderr, "-s3-endpoint")
}
