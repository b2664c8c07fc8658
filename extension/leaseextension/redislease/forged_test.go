package redislease

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/leasetest"
)

// forger is a server that answers every script in the same way, and every other
// command in the same way.
type forger struct {
	script, other string
	work          sync.WaitGroup
}

// serve returns the address of the server, which ends with the test.
func (f *forger) serve(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f.work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			f.work.Go(func() { f.connect(conn) })
		}
	})
	t.Cleanup(func() { listener.Close(); f.work.Wait() })
	return listener.Addr().String()
}

func (f *forger) connect(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		command, err := read(in)
		if err != nil {
			return
		}
		answer := f.other
		switch strings.ToUpper(command) {
		case "HELLO": // clients go on without
			answer = "-ERR unknown command\r\n"
		case "EVALSHA":
			answer = f.script
		}
		if _, err := io.WriteString(conn, answer); err != nil {
			return
		}
	}
}

// read reads a command, an array of strings, and returns its first.
func read(in *bufio.Reader) (first string, err error) {
	n, err := length(in)
	for i := 0; i < n && err == nil; i++ {
		var size int
		if size, err = length(in); err != nil {
			return "", err
		}
		text := make([]byte, size+len("\r\n"))
		if _, err = io.ReadFull(in, text); i == 0 {
			first = string(text[:size])
		}
	}
	return first, err
}

func length(in *bufio.Reader) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}

func TestForgedAnswers(t *testing.T) {
	for name, answer := range map[string]struct{ script, other string }{
		"OK":                 {"+OK\r\n", "+OK\r\n"},
		"one":                {":1\r\n", "*0\r\n"},
		"another number":     {":7\r\n", "*0\r\n"},
		"nil":                {"$-1\r\n", "$-1\r\n"},
		"empty text":         {"$0\r\n\r\n", "$0\r\n\r\n"},
		"another text":       {"$1\r\nx\r\n", "$1\r\nx\r\n"},
		"nil list":           {"*-1\r\n", "*-1\r\n"},
		"empty list":         {"*0\r\n", "*0\r\n"},
		"list of one":        {"*1\r\n$-1\r\n", "*1\r\n$-1\r\n"},
		"list of three":      {"*3\r\n$-1\r\n$-1\r\n$-1\r\n", "*3\r\n$-1\r\n$-1\r\n$-1\r\n"},
		"another protocol's": {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := DefaultConfig()
			cfg.Endpoints = []string{(&forger{script: answer.script, other: answer.other}).serve(t)}
			leasetest.RequireDisbelief(t, open(t, cfg), "r")
		})
	}
}
