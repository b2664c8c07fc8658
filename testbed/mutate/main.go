package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has run
	}
}

func command(ctx context.Context) error {
	only := flag.String("run", "", "only mutants whose package and name match this `regexp`")
	jobs := flag.Int("j", max(1, runtime.NumCPU()/2), "mutants at once")
	timeout := flag.Duration("timeout", 2*time.Minute, "of the tests of one package")
	flag.Parse()
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("find the root of the tree: %w", err)
	}
	var chosen []mutant
	for _, m := range mutants() {
		if match.MatchString(m.pkg() + ": " + m.name) {
			chosen = append(chosen, m)
		}
	}
	r := &runner{root: strings.TrimSpace(string(root)), timeout: *timeout}
	return r.all(ctx, chosen, *jobs)
}

// all judges mutants, several at once, and says what became of each. The error
// says how many are not as they should be.
func (r *runner) all(ctx context.Context, chosen []mutant, jobs int) error {
	var mu sync.Mutex // guards the counts and the output
	noticed, lived, bad := 0, 0, 0
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	for i := range chosen {
		m := &chosen[i]
		g.Go(func() error {
			o := r.judge(ctx, m)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case o.err != nil:
				bad++
				fmt.Printf("BROKEN   %s: %s: %v\n", m.pkg(), m.name, o.err)
			case o.noticed:
				noticed++
				fmt.Printf("noticed  %s: %s (by %s, %.0f s)%s\n", m.pkg(), m.name, o.by, o.took.Seconds(), better(m))
			case m.lives != "":
				lived++
				fmt.Printf("lives    %s: %s (known: %s)\n", m.pkg(), m.name, m.lives)
			default:
				bad++
				fmt.Printf("LIVES    %s: %s (%.0f s)\n", m.pkg(), m.name, o.took.Seconds())
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	fmt.Printf("%d mutants: %d noticed, %d live and are known, %d are not as they should be\n", len(chosen), noticed, lived, bad)
	if bad > 0 {
		return fmt.Errorf("%d mutants live that should not, or could not be judged", bad)
	}
	return nil
}

func better(m *mutant) string {
	if m.lives == "" {
		return ""
	}
	return ": its list says that it lives, which it no longer does"
}
