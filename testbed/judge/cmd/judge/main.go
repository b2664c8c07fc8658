// Command judge compares a bucket's directory with journals of the load
// generator.
//
//	judge -prefix otel <bucket directory> <journal>…
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/s3window/s3window/testbed/judge"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

func run() error {
	prefix := flag.String("prefix", "", "the lake's prefix in the bucket")
	flag.Parse()
	if flag.NArg() < 2 {
		return errors.New("usage: judge [-prefix p] <bucket directory> <journal>…")
	}
	var journals []io.Reader
	for _, name := range flag.Args()[1:] {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		journals = append(journals, f)
	}
	j, err := judge.ReadJournal(journals...)
	if err != nil {
		return err
	}
	v, err := judge.Judge(os.DirFS(flag.Arg(0)), *prefix, j)
	if err != nil {
		return err
	}
	fmt.Println(v)
	return v.Err()
}
