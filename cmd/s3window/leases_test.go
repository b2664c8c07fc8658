package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/testbed/servers"
)

// aheadRecord is a head that knows three windows more than the lake of fill.
const aheadRecord = `{"version":1,"epoch":7,"write":"x","k":5,"manifest_sha256":"` +
	`0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","writers":{},"pruned":0}`

func TestHeadsInEtcd(t *testing.T) {
	server := servers.Etcd(t, servers.Options{})
	url := "http://" + server.Address
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}})
	require.NoError(t, err)
	defer client.Close()
	root, _ := dir(t)
	lake := filepath.Join(root, "otel")
	config := filepath.Join(root, "lease.yaml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "backend: etcd\netcd:\n  endpoints: [%s]\n  prefix: mine/\n", url), 0o600))
	sources := [][]string{{"-lease-etcd", url + ",mine/"}, {"-lease-config", config}}

	for _, source := range sources {
		args := append([]string{"verify", "-head-bucket", "lake", lake}, source...)
		code, stdout, stderr := run(t.Context(), args...)
		require.Equal(t, exitOK, code, "%s%s", stdout, stderr)
	}
	key := "mine/" + partition.HeadName("lake", "otel", acme)
	for record, says := range map[string]string{
		aheadRecord:     "DAMAGE (cut-off): otel/_s3window/sink=default/tenant=acme/signal=logs/windows/0000000005.json: does not exist, but the head bucket=lake/",
		`{"version":9}`: "DAMAGE (head): bucket=lake/prefix=otel/sink=default/tenant=acme/signal=logs: is no record of a lease",
	} {
		_, err = client.Put(t.Context(), key, record)
		require.NoError(t, err)
		for _, source := range sources {
			args := append([]string{"verify", "-head-bucket", "lake", lake}, source...)
			code, stdout, stderr := run(t.Context(), args...)
			require.Equal(t, exitDamaged, code, stderr)
			require.Contains(t, stdout, says)
		}
	}
	answer, err := client.Get(t.Context(), key)
	require.NoError(t, err)
	require.EqualValues(t, 2, answer.Kvs[0].Version, "the head was written to")
}

func TestExportedHeads(t *testing.T) {
	root, _ := dir(t)
	name := "store/" + partition.HeadName("lake", "otel", acme)
	export := filepath.Join(root, "heads.jsonl")
	line, err := json.Marshal(map[string]any{"name": name, "record": aheadRecord})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(export, line, 0o600))
	code, stdout, _ := run(t.Context(), "verify", "-heads", export, filepath.Join(root, "otel"))
	require.Equal(t, exitDamaged, code)
	require.Contains(t, stdout, "DAMAGE (cut-off)")

	code, _, stderr := run(t.Context(), "verify", "-head-bucket", "another", "-heads", export, filepath.Join(root, "otel"))
	require.Equal(t, exitOK, code, stderr)
}

func TestLeaseFlagsThatCannotBe(t *testing.T) {
	root, _ := dir(t)
	bad := filepath.Join(root, "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("backend: tape\n"), 0o600))
	for args, says := range map[string]string{
		"-heads /does/not/exist":                         "no such file",
		"-heads " + bad:                                  "read exported head 1",
		"-lease-etcd http://127.0.0.1:1":                 "name the bucket with -head-bucket",
		"-lease-etcd http://127.0.0.1:1 -lease-config x": "name one",
		"-lease-config /does/not/exist -head-bucket b":   "no such file",
		"-head-bucket b -lease-config " + bad:            "backend",
		"-head-bucket b -lease-etcd nonsense":            "endpoints",
	} {
		code, _, stderr := run(t.Context(), append([]string{"verify", filepath.Join(root, "otel")}, strings.Fields(args)...)...)
		require.Equal(t, exitFailed, code, args)
		require.Contains(t, stderr, says, args)
	}
}
