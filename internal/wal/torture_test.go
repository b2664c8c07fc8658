package wal

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The torture: a child process appends, reads, trims, seals and rotates; this
// one kills it with SIGKILL at a random moment, opens what it left, and
// compares it with what the child had said. Every line of the child is one
// write(2) to a pipe, so what it said before it died is not lost.
//
//	A <id>   append was acknowledged
//	T <id>   is about to be trimmed
//	D <id>   trim was acknowledged
const (
	tortureDir   = "S3WINDOW_WAL_TORTURE_DIR"
	tortureFsync = "S3WINDOW_WAL_TORTURE_FSYNC"
	tortureKills = "S3WINDOW_WAL_TORTURE_KILLS" // how many, default 30
)

// childMain runs the child when this process is one.
func childMain() bool {
	dir := os.Getenv(tortureDir)
	if dir == "" {
		return false
	}
	if err := tortureChild(dir, os.Getenv(tortureFsync) != ""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// filler makes a payload of id that shows every damage.
func filler(id string, size int) []byte {
	b := append([]byte(id), ' ')
	for len(b) < size {
		b = append(b, id...)
	}
	return b
}

func idOf(t *testing.T, payload []byte) string {
	id, _, _ := bytes.Cut(payload, []byte{' '})
	require.Equal(t, filler(string(id), len(payload))[:len(payload)], payload)
	return string(id)
}

func say(kind string, ids ...string) {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(kind + " " + id + "\n")
	}
	_, _ = os.Stdout.WriteString(b.String())
}

func tortureChild(dir string, fsync bool) error {
	client, err := openFile(dir, "wal", fsync)
	if err != nil {
		return err
	}
	w, err := Open(context.Background(), Options{Client: client, SegmentSize: 1 << 20, SegmentAge: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	for g := range 16 {
		go tortureAppend(w, g)
	}
	go func() {
		for i := 0; ; i++ {
			if id, err := w.PutSeal(context.Background(), []byte("seal")); err == nil && i%2 == 0 {
				_ = w.DeleteSeal(context.Background(), id)
			}
			w.Safe()
		}
	}()
	return tortureRead(w)
}

func tortureAppend(w *WAL, g int) {
	for n := 0; ; n++ {
		recs := make([]Record, 1+rand.IntN(3))
		ids := make([]string, len(recs))
		for i := range recs {
			size := 10 + rand.IntN(3000)
			if rand.IntN(20) == 0 {
				size = rand.IntN(100_000)
			}
			ids[i] = fmt.Sprintf("%s/%d/%d/%d", w.Writer(), g, n, i)
			recs[i] = Record{Tenant: strconv.Itoa(i), Signal: "logs", Items: 1, Payload: filler(ids[i], size)}
		}
		if w.Append(context.Background(), recs...) == nil {
			say("A", ids...)
		}
	}
}

// tortureRead trims at random, always the larger part of what it holds.
func tortureRead(w *WAL) error {
	var held []Entry
	for {
		entries, err := w.Read(context.Background())
		if err != nil {
			return err
		}
		held = append(held, entries...)
		if len(held) < 500 {
			continue
		}
		rand.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
		cut := held[:rand.IntN(len(held))]
		ids := make([]string, len(cut))
		for i, e := range cut {
			id, _, _ := bytes.Cut(e.Payload, []byte{' '})
			ids[i] = string(id)
		}
		say("T", ids...)
		if err := w.Trim(context.Background(), seqsOf(cut)); err != nil {
			return err
		}
		say("D", ids...)
		held = append([]Entry{}, held[len(cut):]...)
	}
}

type torture struct {
	acked, asked, done map[string]bool
	lines              int
}

func TestSigkillLosesNothing(t *testing.T) {
	kills := 30
	if n, err := strconv.Atoi(os.Getenv(tortureKills)); err == nil {
		kills = n
	}
	for _, fsync := range []bool{false, true} {
		t.Run(fmt.Sprintf("fsync %v", fsync), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			to := &torture{map[string]bool{}, map[string]bool{}, map[string]bool{}, 0}
			for range (kills + 1) / 2 {
				to.kill(t, dir, fsync)
				to.check(t, dir, fsync)
			}
			t.Logf("%d lines, %d acknowledged and owed after the last kill", to.lines, len(to.acked))
		})
	}
}

// kill runs a child until it said a random number of lines.
func (to *torture) kill(t *testing.T, dir string, fsync bool) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), tortureDir+"="+dir)
	if fsync {
		cmd.Env = append(cmd.Env, tortureFsync+"=1")
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var once sync.Once
	left := 1 + rand.IntN(6000)
	for s := bufio.NewScanner(out); s.Scan(); left-- {
		kind, id, _ := strings.Cut(s.Text(), " ")
		to.lines++
		switch kind {
		case "A":
			to.acked[id] = true
		case "T":
			to.asked[id] = true
		case "D":
			to.done[id] = true
		}
		if left <= 0 {
			once.Do(func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait()
	require.Empty(t, stderr.String())
}

func (to *torture) check(t *testing.T, dir string, fsync bool) {
	client, err := openFile(dir, "wal", fsync)
	require.NoError(t, err)
	w := open(t, Options{Client: client})
	found := map[string]int{}
	var last Entry
	next := map[string]int{} // per sender: its requests come in order
	for _, e := range drain(t, w) {
		require.Greater(t, e.Seq, last.Seq)
		require.GreaterOrEqual(t, e.Stamp, last.Stamp)
		last = e
		id := idOf(t, e.Payload)
		require.NotContains(t, found, id, "once")
		found[id] = 1
		require.False(t, to.done[id], "%s was trimmed", id)
		parts := strings.Split(id, "/")
		n, err := strconv.Atoi(parts[2])
		require.NoError(t, err)
		sender := parts[0] + "/" + parts[1]
		require.GreaterOrEqual(t, n, next[sender], "in order")
		next[sender] = n
		require.Equal(t, parts[3], e.Tenant)
	}
	require.Zero(t, w.Stats().Damaged)
	for id := range to.acked {
		if !to.asked[id] {
			require.Contains(t, found, id, "acknowledged")
		} else if found[id] == 0 {
			delete(to.acked, id)
		}
	}
	require.NoError(t, w.Close(context.Background()))
}
