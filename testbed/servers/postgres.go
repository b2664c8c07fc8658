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

// PostgresUser is the superuser of Postgres' database.
const PostgresUser = "probe"

// Postgres starts a PostgreSQL server whose database postgres lets everybody in.
// extra are further arguments.
func Postgres(t testing.TB, extra ...string) *Server {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		t.Fatal("find server: there is no PostgreSQL in /usr/lib/postgresql: run testbed/servers/install.sh")
	}
	bin := filepath.Dir(found[len(found)-1])
	dir, as := postgresDir(t)
	data := filepath.Join(dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", PostgresUser, "-E", "UTF8", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGKILL}
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("make a database: %v\n%s", err, out)
	}
	return start(t, "postgres", func(address string) spec {
		host, port, _ := net.SplitHostPort(address)
		return spec{
			argv: append([]string{filepath.Join(bin, "postgres"), "-D", data, "-h", host, "-p", port, "-k", dir}, extra...),
			dir:  dir, as: as,
			ready: func(ctx context.Context, _ string) error {
				return exec.CommandContext(ctx, filepath.Join(bin, "pg_isready"), "-q", "-h", host, "-p", port).Run()
			},
		}
	})
}

// postgresDir makes a directory, and says who must run the server in it: not
// root, whom it refuses.
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
