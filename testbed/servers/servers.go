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

// Options are how a server lets clients in.
type Options struct {
	// TLS is the server's certificate; nil: connections are plain.
	TLS *Certificate
	// Password lets User in; empty: everybody is let in. Not for etcd.
	Password string
}

// User is the user that has the password, where a server has users.
const User = "probe"

// Etcd starts a cluster of one etcd member.
func Etcd(t testing.TB, o Options) *Server {
	t.Helper()
	path, dir, peer := binary(t, "etcd"), t.TempDir(), "http://"+FreeAddress(t)
	return start(t, "etcd", func(address string) spec {
		scheme, argv := "http://", []string{path, "--data-dir", dir, "--log-level", "warn"}
		if o.TLS != nil {
			scheme, argv = "https://", append(argv, "--cert-file", o.TLS.CertFile, "--key-file", o.TLS.KeyFile)
		}
		return spec{
			argv: append(argv, "--listen-client-urls", scheme+address, "--advertise-client-urls", scheme+address,
				"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer),
			data: dir, ready: dials,
		}
	})
}

// NATS starts a NATS server with JetStream.
func NATS(t testing.TB, o Options) *Server {
	t.Helper()
	return nats(t, o)
}

// CoreNATS starts a NATS server without JetStream, in which a test answers in its
// place.
func CoreNATS(t testing.TB) *Server {
	t.Helper()
	path := binary(t, "nats-server")
	return start(t, "nats-server", func(address string) spec {
		host, port, _ := net.SplitHostPort(address)
		return spec{argv: []string{path, "-a", host, "-p", port}, ready: says("", "INFO ")}
	})
}

// NATSCluster starts three NATS servers that form a cluster.
func NATSCluster(t testing.TB) []*Server {
	t.Helper()
	var routes, urls []string
	for range 3 {
		routes = append(routes, FreeAddress(t))
		urls = append(urls, "nats-route://"+routes[len(routes)-1])
	}
	var members []*Server
	for i, route := range routes {
		members = append(members, nats(t, Options{}, "--cluster_name", "test", "--server_name", fmt.Sprint("n", i),
			"--cluster", "nats://"+route, "--routes", strings.Join(urls, ",")))
	}
	return members
}

func nats(t testing.TB, o Options, extra ...string) *Server {
	t.Helper()
	path, dir := binary(t, "nats-server"), t.TempDir()
	return start(t, "nats-server", func(address string) spec {
		host, port, _ := net.SplitHostPort(address)
		argv := append([]string{path, "-a", host, "-p", port, "-js", "-sd", dir}, extra...)
		if o.TLS != nil {
			argv = append(argv, "--tls", "--tlscert", o.TLS.CertFile, "--tlskey", o.TLS.KeyFile)
		}
		if o.Password != "" {
			argv = append(argv, "--user", User, "--pass", o.Password)
		}
		return spec{argv: argv, data: dir, ready: says("", "INFO ")}
	})
}

// Redis starts a Redis server that appends to a file and syncs every write. The
// password is that of its default user.
func Redis(t testing.TB, o Options) *Server {
	t.Helper()
	return redis(t, o)
}

// RedisCluster starts a node of a Redis Cluster that has no slots yet.
func RedisCluster(t testing.TB) *Server {
	t.Helper()
	return redis(t, Options{}, "--cluster-enabled", "yes")
}

func redis(t testing.TB, o Options, extra ...string) *Server {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatalf("find server: %v: run testbed/servers/install.sh", err)
	}
	dir := t.TempDir()
	return start(t, "redis-server", func(address string) spec {
		host, port, _ := net.SplitHostPort(address)
		argv := []string{path, "--bind", host, "--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync", "always"}
		argv = append(argv, extra...)
		if o.Password != "" {
			argv = append(argv, "--requirepass", o.Password)
		}
		if o.TLS != nil {
			argv = append(argv, "--port", "0", "--tls-port", port, "--tls-auth-clients", "no",
				"--tls-cert-file", o.TLS.CertFile, "--tls-key-file", o.TLS.KeyFile, "--tls-ca-cert-file", o.TLS.CertFile)
			return spec{argv: argv, data: dir, ready: dials}
		}
		return spec{argv: append(argv, "--port", port), data: dir, ready: says("PING\r\n", "")}
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
			argv: []string{node, path, "--host", host, "--port", port, "--path", dir, "--createTableMs", "0", "--deleteTableMs", "0"},
			data: dir, ready: answers,
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
