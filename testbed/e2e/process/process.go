// Package process starts, kills and stops the real programs of a test run: the
// collector and the S3 server. A process ends at the latest with the program
// that started it.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Options say what to start.
type Options struct {
	Path  string
	Args  []string
	Env   []string // added to this program's own environment
	Log   string   // file that output is appended to
	Ready string   // host:port that accepts connections once the process serves
}

// Process is a started program.
type Process struct {
	Options
	cmd  *exec.Cmd
	done chan struct{} // closed when the process is gone
}

const startTimeout = 60 * time.Second

// Start starts a program and returns when it serves. An error carries the end
// of its log.
func Start(ctx context.Context, o Options) (*Process, error) {
	p, err := Launch(o)
	if err != nil {
		return nil, err
	}
	if err := p.AwaitReady(ctx); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// Launch starts a program and does not wait for anything.
func Launch(o Options) (*Process, error) {
	log, err := os.OpenFile(o.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(o.Path, o.Args...)
	cmd.Env = append(os.Environ(), o.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", o.Path, err)
	}
	p := &Process{Options: o, cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // the state is read from cmd.ProcessState
	}()
	return p, nil
}

// AwaitReady waits until the process accepts connections.
func (p *Process) AwaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.Ready)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended before it served (%s); the end of its log:\n%s", p.Path, p.cmd.ProcessState, p.Tail(4000))
		case <-ctx.Done():
			return fmt.Errorf("%s did not serve at %s: %w; the end of its log:\n%s", p.Path, p.Ready, err, p.Tail(4000))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Done is closed when the process is gone.
func (p *Process) Done() <-chan struct{} { return p.done }

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Running says whether the process is still there.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Signal sends a signal; to a process that is gone it does nothing.
func (p *Process) Signal(sig syscall.Signal) {
	_ = p.cmd.Process.Signal(sig)
}

// Kill ends the process by SIGKILL and waits until it is gone.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.done
}

// Killed says whether the process is gone through SIGKILL.
func (p *Process) Killed() bool {
	if p.Running() {
		return false
	}
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// ErrSlow says that a process did not end in its time and was killed.
var ErrSlow = errors.New("did not end in time")

// Stop asks the process to end by SIGTERM and waits; after the timeout it is
// killed. It is an error if the process ends with anything but code 0.
func (p *Process) Stop(timeout time.Duration) error {
	p.Signal(syscall.SIGTERM)
	t := time.NewTimer(timeout)
	defer t.Stop()
	select {
	case <-p.done:
	case <-t.C:
		p.Kill()
		return fmt.Errorf("%s: %w (%v)", p.Path, ErrSlow, timeout)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%s ended with %s; the end of its log:\n%s", p.Path, p.cmd.ProcessState, p.Tail(4000))
	}
	return nil
}

// Tail returns the last n bytes of the log.
func (p *Process) Tail(n int) string {
	log, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(log[max(0, len(log)-n):]))
}

// FreeAddress finds a port of the loopback interface that is free now. It lies
// below those that the system gives to outgoing connections, so that a process
// that was killed finds it free again.
func FreeAddress() (string, error) {
	var last error
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(22_000))
		l, err := net.Listen("tcp", address)
		if err == nil {
			return address, l.Close()
		}
		last = err
	}
	return "", fmt.Errorf("find a free port: %w", last)
}
