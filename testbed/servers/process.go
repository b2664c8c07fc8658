package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

const startTimeout = time.Minute

// Server is a running server on 127.0.0.1. It ends with the test that started
// it.
type Server struct {
	Address string // host:port
	Data    string // directory with all that it keeps; to be touched between Kill and Restart only

	t    testing.TB
	name string
	spec spec

	// mu guards everything declared below.
	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{}
}

// spec says how a server is run.
type spec struct {
	argv []string
	dir  string
	data string
	as   *syscall.Credential // nil: as the test
	// ready asks the server once whether it serves.
	ready func(ctx context.Context, address string) error
}

// start runs a server whose spec depends on its address.
func start(t testing.TB, name string, make func(address string) spec) *Server {
	t.Helper()
	s := &Server{t: t, name: name}
	t.Cleanup(s.Kill)
	var err error
	for range 5 { // another process may take the free port first
		s.Address = FreeAddress(t)
		s.spec = make(s.Address)
		s.Data = s.spec.data
		if err = s.run(); err == nil {
			return s
		}
	}
	t.Fatalf("start %s: %v", name, err)
	return nil
}

// Kill ends the server at once, and waits until it is gone.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	// The process may be gone already; waiting is what counts. Its children are
	// in its group.
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	<-s.exited
	s.cmd = nil
}

// Wipe removes all that the server keeps, between Kill and Restart.
func (s *Server) Wipe() {
	s.t.Helper()
	entries, err := os.ReadDir(s.Data)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.Data, e.Name())))
	}
	if err != nil {
		s.t.Fatalf("wipe %s: %v", s.name, err)
	}
}

// Restart starts the server again on the same address and directory after Kill.
func (s *Server) Restart() {
	s.t.Helper()
	if err := s.run(); err != nil {
		s.t.Fatalf("restart %s: %v", s.name, err)
	}
}

// run starts the process and waits until it serves or is gone.
func (s *Server) run() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := &bytes.Buffer{}
	cmd := exec.Command(s.spec.argv[0], s.spec.argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.spec.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: s.spec.as}
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	if err := s.await(exited); err != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-exited
		return fmt.Errorf("%w\n%s", err, log)
	}
	s.cmd, s.exited = cmd, exited
	return nil
}

// await asks until the server serves, exits, or the time is over.
func (s *Server) await(exited <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		err := s.spec.ready(ctx, s.Address)
		if err == nil {
			return nil
		}
		select {
		case <-exited:
			return fmt.Errorf("it exited before it served")
		case <-ctx.Done():
			return fmt.Errorf("it did not serve in %v: %w", startTimeout, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// FreeAddress is an address on which nothing listens.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("find a free port: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}

// build is the .build directory of the repository: the one above the working
// directory that is beside a go.mod.
func build(t testing.TB) string {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatalf("find .build: %v", err)
	}
	for ; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".build", "bin")); err == nil {
			return filepath.Join(at, ".build")
		}
	}
	t.Fatalf("find .build: it is in no directory above: run testbed/servers/install.sh")
	return ""
}

// binary finds an executable that install.sh builds.
func binary(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("S3WINDOW_BIN")
	if dir == "" {
		dir = filepath.Join(build(t), "bin")
	}
	return existing(t, filepath.Join(dir, name))
}

func existing(t testing.TB, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("find server: %v: run testbed/servers/install.sh", err)
	}
	return path
}
