package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/s3window/s3window/internal/lake"
)

// namedModules are those that decide what the tool reads and speaks.
func namedModules() []string {
	return []string{
		"go.opentelemetry.io/collector/pdata",
		"github.com/parquet-go/parquet-go",
		"github.com/klauspost/compress",
		"github.com/aws/aws-sdk-go-v2/service/s3",
		"google.golang.org/grpc",
	}
}

func runVersion(_ context.Context, args []string, out output) int {
	f := flag.NewFlagSet("version", flag.ContinueOnError)
	f.SetOutput(out.stderr)
	all := f.Bool("all", false, "print every module that the tool is built from")
	f.Usage = func() {
		fmt.Fprint(out.stderr, "usage: s3window version [-all]\n\nPrints what the tool is built from, and what it can read.\n\n")
		f.PrintDefaults()
	}
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitFailed
	case f.NArg() > 0:
		fmt.Fprintf(out.stderr, "s3window version: %q is too much: it takes no lake\n", f.Arg(0))
		return exitFailed
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: "unknown"}
	}
	printVersion(out.stdout, info, *all)
	return exitOK
}

func printVersion(w io.Writer, info *debug.BuildInfo, all bool) {
	own := info.Main.Version
	if own == "" || own == "(devel)" {
		own = "built from source"
	}
	fmt.Fprintf(w, "s3window %s%s, %s\n", own, revision(info), info.GoVersion)
	fmt.Fprintf(w, "reads manifests up to version %d\n", lake.ManifestVersion)
	for _, m := range info.Deps {
		if !all && !slices.Contains(namedModules(), m.Path) {
			continue
		}
		fmt.Fprintf(w, "%s %s", m.Path, m.Version)
		if m.Replace != nil {
			fmt.Fprintf(w, " => %s %s", m.Replace.Path, m.Replace.Version)
		}
		fmt.Fprintln(w)
	}
}

// revision names the commit that the tool was built from, where the build
// recorded it.
func revision(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["vcs.revision"] == "" {
		return ""
	}
	text := " (" + strings.TrimSpace(settings["vcs.revision"]+" "+settings["vcs.time"])
	if settings["vcs.modified"] == "true" {
		text += ", changed"
	}
	return text + ")"
}
