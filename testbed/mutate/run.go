package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// outcome is what became of a mutant.
type outcome struct {
	noticed bool
	by      string // the package whose tests noticed, and the first that did
	took    time.Duration
	err     error // it could not be judged: it does not fit the tree, or does not build
}

// runner runs mutants of the tree under root.
type runner struct {
	root    string
	timeout time.Duration // of the tests of one package; what takes longer has noticed
}

// judge runs the tests that should notice m, until some do.
func (r *runner) judge(ctx context.Context, m *mutant) (o outcome) {
	started := time.Now()
	defer func() { o.took = time.Since(started) }()
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return outcome{err: err}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := r.overlay(dir, m)
	if err != nil {
		return outcome{err: err}
	}
	built := map[string]string{}
	for _, s := range m.suites() {
		binary, ok := built[s.pkg]
		if !ok {
			binary = filepath.Join(dir, fmt.Sprintf("test%d", len(built)))
			build := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-o", binary, ".")
			build.Dir = filepath.Join(r.root, s.pkg)
			if out, err := build.CombinedOutput(); err != nil {
				return outcome{err: fmt.Errorf("build the tests of %s: %w\n%s", s.pkg, err, out)}
			}
			built[s.pkg] = binary
		}
		failed, err := r.run(ctx, binary, s)
		if err != nil {
			return outcome{err: err}
		}
		if failed != "" {
			return outcome{noticed: true, by: s.pkg + ": " + failed}
		}
	}
	return outcome{}
}

// overlay writes the files of the mutant, and what go's -overlay reads.
func (r *runner) overlay(dir string, m *mutant) (string, error) {
	files, err := m.apply(r.root)
	if err != nil {
		return "", err
	}
	var is struct{ Replace map[string]string }
	is.Replace = map[string]string{}
	for path, content := range files {
		to := filepath.Join(dir, fmt.Sprintf("%d-%s", len(is.Replace), filepath.Base(path)))
		if err := os.WriteFile(to, content, 0o600); err != nil {
			return "", err
		}
		is.Replace[path] = to
	}
	text, err := json.Marshal(is)
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, text, 0o600)
}

// run runs a test binary, and returns the first test that failed, or nothing.
func (r *runner) run(ctx context.Context, binary string, s suite) (failed string, err error) {
	args := []string{"-test.failfast", "-test.timeout", r.timeout.String()}
	if s.run != "" {
		args = append(args, "-test.run", s.run)
	}
	test := exec.CommandContext(ctx, binary, args...)
	test.Dir = filepath.Join(r.root, s.pkg)
	test.Env = append(os.Environ(), s.env...)
	test.WaitDelay = 10 * time.Second // of processes that a test has left
	out, err := test.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil:
		return "", nil
	case !errors.As(err, new(*exec.ExitError)):
		return "", err
	}
	return firstFailure(string(out)), nil
}

// firstFailure is the innermost test that the output of a test binary says
// failed first.
func firstFailure(out string) string {
	name := ""
	for line := range strings.Lines(out) {
		text, found := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: ")
		if !found {
			if name != "" && !strings.HasPrefix(line, " ") {
				break
			}
			continue
		}
		text, _, _ = strings.Cut(text, " (")
		if name == "" || strings.HasPrefix(text, name+"/") {
			name = text
		}
	}
	switch {
	case name != "":
		return name
	case strings.Contains(out, "panic: test timed out"):
		return "hangs"
	case strings.Contains(out, "DATA RACE"):
		return "a race"
	case strings.Contains(out, "found unexpected goroutines"):
		return "a goroutine is left"
	}
	return "ends early"
}
