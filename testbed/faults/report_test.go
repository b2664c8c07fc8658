//go:build e2e

package faults

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	code := m.Run()
	findings.print()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// finding is a line of the table.
type finding struct {
	fault     string
	status    string        // of the collector, in its own words
	refused   int64         // requests
	answer    string        // to a refused one
	meanwhile int64         // records acknowledged while the fault lasted
	lasted    time.Duration // the fault
	recovered time.Duration // from its end until all is committed
	memory    int64         // peak, without mapped files
	verdict   string
}

type report struct {
	mu    sync.Mutex // guards lines
	lines []finding
}

var findings report

func (r *report) add(f finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, f)
}

func (r *report) print() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) == 0 {
		return
	}
	fmt.Println("\n| fault | lasted | status of the exporter | requests refused, and how | records taken meanwhile | all committed after | peak memory | records lost or twice |\n|---|---|---|---|---|---|---|---|")
	cell := strings.NewReplacer("|", "/", "\n", "; ", os.TempDir(), "")
	for _, f := range r.lines {
		fmt.Printf("| %s | %.0f s | %s | %d %s | %d | %.1f s | %d MiB | %s |\n", f.fault, f.lasted.Seconds(),
			cell.Replace(f.status), f.refused, cell.Replace(f.answer), f.meanwhile, f.recovered.Seconds(), f.memory>>20, f.verdict)
	}
}
