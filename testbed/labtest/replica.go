package labtest

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/e2e/process"
	"github.com/s3window/s3window/testbed/s3test"
)

// configFile is the base of every replica's configuration.
const configFile = "testbed/e2e/testdata/collector.yaml"

// Replica is a collector that comes and goes: a WAL directory and addresses
// that stay, and processes one after the other.
type Replica struct {
	*process.Process
	Name    string
	Address string   // of its OTLP gRPC receiver
	WAL     string   // directory
	MaxAge  string   // flush::max_age
	S3      string   // endpoint, where it is not the lab's
	Secret  string   // of the S3 key; the right one unless set
	Config  []string // values of --config, merged over the base
	Peak    Memory   // of all processes so far

	lab     *Lab
	health  string // address of the status endpoint
	metrics string // address of the metrics endpoint
}

// Replica makes a replica that is not started. Names are of letters, digits
// and dashes.
func (l *Lab) Replica(name string, config ...string) *Replica {
	l.t.Helper()
	r := &Replica{Name: name, WAL: filepath.Join(l.Dir, name+"-wal"), MaxAge: "1s", Secret: l.Server.SecretKey, Config: config, lab: l}
	for _, address := range []*string{&r.Address, &r.health, &r.metrics} {
		var err error
		*address, err = process.FreeAddress()
		require.NoError(l.t, err)
	}
	return r
}

// Start starts the replica's process and waits until it takes data.
func (r *Replica) Start(env ...string) {
	r.lab.t.Helper()
	r.Launch(env...)
	require.NoError(r.lab.t, r.AwaitReady(r.lab.t.Context()))
}

// Launch starts the replica's process and waits for nothing.
func (r *Replica) Launch(env ...string) {
	r.lab.t.Helper()
	var err error
	r.Process, err = process.Launch(r.options(env))
	require.NoError(r.lab.t, err)
	r.lab.t.Cleanup(r.Process.Kill)
	go r.Peak.watch(r.Process)
}

// StartToCrash starts the process with a crash point, which it may meet before
// it takes data.
func (r *Replica) StartToCrash(point string) {
	r.lab.t.Helper()
	r.Launch("S3WINDOW_CRASH_AT=" + point)
}

// AwaitCrash waits until the process has killed itself.
func (r *Replica) AwaitCrash() {
	r.lab.t.Helper()
	select {
	case <-r.Done():
		require.True(r.lab.t, r.Killed(), "the collector ended by itself: %s", r.Tail(4000))
	case <-time.After(Patience):
		require.Fail(r.lab.t, "the crash point was not reached", r.Tail(4000))
	}
}

// AwaitEnd waits until the process is gone by itself and returns the end of
// its log.
func (r *Replica) AwaitEnd() string {
	r.lab.t.Helper()
	select {
	case <-r.Done():
		require.False(r.lab.t, r.Killed())
	case <-time.After(Patience):
		require.Fail(r.lab.t, "the collector did not end", r.Tail(4000))
	}
	return r.Tail(4000)
}

// Shutdown stops the process as an orchestrator does: it must end by itself in
// its grace.
func (r *Replica) Shutdown() {
	r.lab.t.Helper()
	require.NoError(r.lab.t, r.Stop(Grace))
}

// Log is everything that the replica's processes have logged.
func (r *Replica) Log() string {
	content, err := os.ReadFile(r.Process.Log)
	require.NoError(r.lab.t, err)
	return string(content)
}

func (r *Replica) options(env []string) process.Options {
	l := r.lab
	build := filepath.Dir(filepath.Dir(s3test.Binary(l.t, "versitygw")))
	args := []string{"--config", filepath.Join(moduleRoot(l), configFile), "--config", "yaml:" + observed}
	for _, c := range r.Config {
		args = append(args, "--config", c)
	}
	return process.Options{
		Path: filepath.Join(build, "otelcol-s3window"),
		Args: args,
		Env: append(env,
			"WAL_DIR="+r.WAL, "OTLP_ENDPOINT="+r.Address, "S3_BUCKET="+l.Bucket, "S3_ENDPOINT="+cmp.Or(r.S3, l.Endpoint),
			"S3_ACCESS_KEY="+l.Server.AccessKey, "S3_SECRET_KEY="+r.Secret, "MAX_AGE="+r.MaxAge,
			"HEALTH_ENDPOINT="+r.health, "METRICS_HOST="+host(r.metrics), "METRICS_PORT="+port(r.metrics)),
		Log:   filepath.Join(l.Dir, r.Name+".log"),
		Ready: r.Address,
	}
}

// moduleRoot walks up from the test's directory to go.mod.
func moduleRoot(l *Lab) string {
	dir, err := os.Getwd()
	require.NoError(l.t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		require.NotEqual(l.t, dir, filepath.Dir(dir), "no go.mod above the test")
		dir = filepath.Dir(dir)
	}
}

func host(address string) string { return address[:strings.LastIndexByte(address, ':')] }
func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// Memory is the peak of a replica's resident memory, sampled.
type Memory struct {
	mu    sync.Mutex // guards everything below
	anon  int64
	total int64
}

// watch samples a process until it is gone.
func (m *Memory) watch(p *process.Process) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		m.sample(p.PID())
		select {
		case <-p.Done():
			return
		case <-tick.C:
		}
	}
}

func (m *Memory) sample(pid int) {
	content, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return // gone
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for line := range strings.Lines(string(content)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		kib, err := strconv.ParseInt(f[1], 10, 64)
		switch {
		case err != nil:
		case f[0] == "RssAnon:":
			m.anon = max(m.anon, kib<<10)
		case f[0] == "VmHWM:":
			m.total = max(m.total, kib<<10)
		}
	}
}

// Anonymous is the peak of memory that cannot be taken back by the system:
// without the pages of the WAL's file, which bbolt maps.
func (m *Memory) Anonymous() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.anon
}

// Resident is the peak of all resident memory.
func (m *Memory) Resident() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total
}
