package s3test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

const (
	startTimeout = 30 * time.Second
	healthPath   = "/health"
)

// Server is a running versitygw with its posix backend: an object is the plain
// file <Dir>/<bucket>/<key>. It ends with the test that started it.
type Server struct {
	Endpoint  string // http://127.0.0.1:<port>
	Region    string
	AccessKey string
	SecretKey string
	Dir       string // holds a directory per bucket

	t       testing.TB
	binary  string
	address string
	sidecar string // metadata, where the file system has no user attributes

	// mu guards everything declared below.
	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{}
}

// Start runs a server on a free port of the loopback interface and waits until
// it serves. It fails the test if the binary is missing.
func Start(t testing.TB) *Server {
	t.Helper()
	root := t.TempDir()
	return start(t, root, !hasAttributes(root))
}

// start runs a server below root. With sidecar the metadata goes into files
// instead of attributes.
func start(t testing.TB, root string, sidecar bool) *Server {
	t.Helper()
	s := &Server{
		Region: "us-east-1", AccessKey: "s3test", SecretKey: "s3test-" + rand.Text(),
		Dir: filepath.Join(root, "buckets"), t: t, binary: Binary(t, "versitygw"),
	}
	if err := os.Mkdir(s.Dir, 0o755); err != nil {
		t.Fatalf("start versitygw: %v", err)
	}
	if sidecar {
		s.sidecar = filepath.Join(root, "sidecar")
		if err := os.Mkdir(s.sidecar, 0o755); err != nil {
			t.Fatalf("start versitygw: %v", err)
		}
	}
	t.Cleanup(s.Kill)
	var err error
	for range 5 { // another process may take the free port first
		s.address = freeAddress(t)
		s.Endpoint = "http://" + s.address
		if err = s.run(); err == nil {
			return s
		}
	}
	t.Fatalf("start versitygw: %v", err)
	return nil
}

// Binary finds an executable that `make tools` builds, and fails the test if
// it is missing.
func Binary(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("S3WINDOW_BIN")
	if dir == "" {
		at, err := os.Getwd()
		if err != nil {
			t.Fatalf("find %s: %v", name, err)
		}
		for at != filepath.Dir(at) {
			if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
				break
			}
			at = filepath.Dir(at)
		}
		dir = filepath.Join(at, ".build", "bin")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("find %s: %v: run make tools", name, err)
	}
	return path
}

// Restart starts the server again on the same port and directory after Stop
// or Kill.
func (s *Server) Restart() {
	s.t.Helper()
	if err := s.run(); err != nil {
		s.t.Fatalf("restart versitygw: %v", err)
	}
}

// Stop ends the server as a signal TERM does, and waits until it is gone.
func (s *Server) Stop() { s.end(syscall.SIGTERM) }

// Kill ends the server at once, and waits until it is gone.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Pause freezes the server: when it returns, connections are accepted and
// nothing is answered.
func (s *Server) Pause() {
	s.signal(syscall.SIGSTOP)
	s.mu.Lock()
	defer s.mu.Unlock()
	for deadline := time.Now().Add(startTimeout); s.cmd != nil && !stopped(s.cmd.Process.Pid); {
		if time.Now().After(deadline) {
			s.t.Errorf("pause versitygw: it did not stop in %v", startTimeout)
			return
		}
		runtime.Gosched()
	}
}

// Resume ends a Pause.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Errorf("signal versitygw: %v", err)
	}
}

// stopped says whether every thread of the process is stopped, which takes a
// moment after the signal.
func stopped(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return false
	}
	for _, path := range threads {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // the thread ended
		}
		// The state follows the name, which is in parentheses.
		if i := bytes.LastIndexByte(stat, ')'); i < 0 || i+2 >= len(stat) || stat[i+2] != 'T' {
			return false
		}
	}
	return len(threads) > 0
}

func (s *Server) end(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	// The process may be gone already; waiting below is what counts.
	_ = s.cmd.Process.Signal(sig)
	select {
	case <-s.exited:
	case <-time.After(startTimeout):
		_ = s.cmd.Process.Kill()
		<-s.exited
	}
	s.cmd = nil
}

// run starts the process and waits until it is healthy or gone.
func (s *Server) run() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	args := []string{
		"-p", s.address, "-a", s.AccessKey, "-s", s.SecretKey, "--region", s.Region,
		"--keep-alive", "--health", healthPath, "-q", "posix",
	}
	if s.sidecar != "" {
		args = append(args, "--sidecar", s.sidecar)
	}
	log := &bytes.Buffer{}
	cmd := exec.Command(s.binary, append(args, s.Dir)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	if err := awaitHealth(s.Endpoint+healthPath, exited); err != nil {
		_ = cmd.Process.Kill()
		<-exited
		return fmt.Errorf("%w\n%s", err, log)
	}
	s.cmd, s.exited = cmd, exited
	return nil
}

// awaitHealth asks until the server answers, it exits, or the time is over.
func awaitHealth(url string, exited <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if resp, err := client.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-exited:
			return fmt.Errorf("it exited before it served")
		case <-ctx.Done():
			return fmt.Errorf("it did not serve in %v", startTimeout)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// NewBucket creates a bucket with a fresh name.
func (s *Server) NewBucket(t testing.TB) string {
	t.Helper()
	name := "b-" + strings.ToLower(rand.Text())
	s.CreateBucket(t, name)
	return name
}

// CreateBucket creates the bucket called name.
func (s *Server) CreateBucket(t testing.TB, name string) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String(s.Endpoint), Region: s.Region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(s.AccessKey, s.SecretKey, ""),
		HTTPClient:  &http.Client{Transport: transport},
	})
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(name)}); err != nil {
		t.Fatalf("create bucket %q: %v", name, err)
	}
}

// BucketDir is the directory that holds the bucket's objects as plain files.
func (s *Server) BucketDir(bucket string) string { return filepath.Join(s.Dir, bucket) }

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("find a free port: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}

// hasAttributes says whether dir's file system keeps user attributes, in which
// the server stores metadata.
func hasAttributes(dir string) bool {
	return syscall.Setxattr(dir, "user.s3test", []byte("1"), 0) == nil
}
