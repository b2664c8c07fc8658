package servers

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Etcd starts a cluster of one etcd member. extra are further arguments.
func Etcd(t testing.TB, extra ...string) *Server {
	t.Helper()
	path, dir, peer := binary(t, "etcd"), t.TempDir(), "http://"+FreeAddress(t)
	return start(t, "etcd", func(address string) spec {
		scheme := "http://"
		for _, argument := range extra {
			if strings.HasPrefix(argument, "--cert-file") {
				scheme = "https://"
			}
		}
		return spec{
			argv: append([]string{
				path, "--data-dir", dir, "--log-level", "warn",
				"--listen-client-urls", scheme + address, "--advertise-client-urls", scheme + address,
				"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer,
				"--listen-metrics-urls", "",
			}, extra...),
			ready: dials,
		}
	})
}

// NATS starts a NATS server with JetStream. extra are
// further arguments.
func NATS(t testing.TB, extra ...string) *Server {
	t.Helper()
	path, dir := binary(t, "nats-server"), t.TempDir()
	return start(t, "nats-server", func(address string) spec {
		host, port, _ := net.SplitHostPort(address)
		return spec{
			argv:  append([]string{path, "-a", host, "-p", port, "-js", "-sd", dir}, extra...),
			ready: says("", "INFO "),
		}
	})
}

// Redis starts a Redis server that appends to a file and syncs every write.
// extra are further arguments.
func Redis(t testing.TB, extra ...string) *Server {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatalf("find server: %v: run testbed/servers/install.sh", err)
	}
	dir := t.TempDir()
	return start(t, "redis-server", func(address string) spec {
		host, port, _ := net.SplitHostPort(address)
		ready := says("PING\r\n", "")
		for _, argument := range extra {
			if argument == "--tls-port" {
				ready = dials
			}
		}
		return spec{
			argv: append([]string{
				path, "--bind", host, "--port", port, "--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync", "always",
			}, extra...),
			ready: ready,
		}
	})
}

// Dynalite starts a server with DynamoDB's interface that keeps its tables in a
// directory. It takes any credentials.
func Dynalite(t testing.TB) *Server {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("find server: %v: run make node", err)
	}
	path := existing(t, filepath.Join(build(t), "dynalite", "node_modules", "dynalite", "cli.js"))
	dir := filepath.Join(t.TempDir(), "tables")
	return start(t, "dynalite", func(address string) spec {
		host, port, _ := net.SplitHostPort(address)
		return spec{
			argv:  []string{node, path, "--host", host, "--port", port, "--path", dir, "--createTableMs", "0", "--deleteTableMs", "0"},
			ready: answers,
		}
	})
}

// dials succeeds when something listens.
func dials(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// says succeeds when the server answers a line to ask that begins with want.
func says(ask, want string) func(context.Context, string) error {
	return func(ctx context.Context, address string) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		defer conn.Close()
		if deadline, ok := ctx.Deadline(); ok {
			if err := conn.SetDeadline(deadline); err != nil {
				return err
			}
		}
		if _, err := conn.Write([]byte(ask)); err != nil {
			return err
		}
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err == nil && (!strings.HasPrefix(line, want) || strings.HasPrefix(line, "-LOADING")) {
			err = fmt.Errorf("it says %q", line)
		}
		return err
	}
}

// answers succeeds when the server answers HTTP.
func answers(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
