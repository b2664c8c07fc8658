package servers

import (
	"context"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// Postgres starts a PostgreSQL server with the database postgres, whose
// superuser is User.
func Postgres(t testing.TB, o Options) *Server {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		t.Fatal("find server: there is no PostgreSQL in /usr/lib/postgresql: run testbed/servers/install.sh")
	}
	bin := filepath.Dir(found[len(found)-1])
	dir, as := postgresDir(t)
	data := filepath.Join(dir, "data")
	auth := []string{"-A", "trust"}
	if o.Password != "" {
		auth = []string{"-A", "scram-sha-256", "--pwfile", give(t, dir, "password", []byte(o.Password), as)}
	}
	initdb := exec.Command(filepath.Join(bin, "initdb"), append(auth, "-D", data, "-U", User, "-E", "UTF8", "--no-sync")...)
	initdb.Dir, initdb.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as}
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("make a database: %v\n%s", err, out)
	}
	var encryption []string
	if o.TLS != nil {
		encryption = []string{
			"-c", "ssl=on", "-c", "ssl_cert_file=" + give(t, dir, "cert.pem", o.TLS.Cert, as), "-c", "ssl_key_file=" + give(t, dir, "key.pem", o.TLS.Key, as),
		}
	}
	return start(t, "postgres", func(address string) spec {
		host, port, _ := net.SplitHostPort(address)
		return spec{
			argv: append([]string{filepath.Join(bin, "postgres"), "-D", data, "-h", host, "-p", port, "-k", dir, "-c", "max_connections=500"}, encryption...),
			dir:  dir, data: data, as: as,
			ready: func(ctx context.Context, _ string) error {
				return exec.CommandContext(ctx, filepath.Join(bin, "pg_isready"), "-q", "-h", host, "-p", port).Run()
			},
		}
	})
}

// give writes a file that belongs to as.
func give(t testing.TB, dir, name string, content []byte, as *syscall.Credential) string {
	t.Helper()
	path := filepath.Join(dir, name)
	err := os.WriteFile(path, content, 0o600)
	if err == nil && as != nil {
		err = os.Chown(path, int(as.Uid), int(as.Gid))
	}
	if err != nil {
		t.Fatalf("give a file to PostgreSQL: %v", err)
	}
	return path
}

// postgresDir makes a directory, and returns the user that must run the server in
// it, which refuses to run as root.
func postgresDir(t testing.TB) (dir string, as *syscall.Credential) {
	t.Helper()
	dir, err := os.MkdirTemp("", "postgres-*")
	if err != nil {
		t.Fatalf("make a directory: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Getuid() != 0 {
		return dir, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Fatalf("find who runs PostgreSQL: %v", err)
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	if uidErr != nil || gidErr != nil {
		t.Fatalf("find who runs PostgreSQL: %+v", u)
	}
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		t.Fatalf("give the directory to PostgreSQL: %v", err)
	}
	return dir, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
