package main

import (
	"bytes"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	code, stdout, stderr := run(t.Context(), "version")
	require.Equal(t, exitOK, code, stderr)
	require.Regexp(t, `^s3window .*go1\.`, stdout)
	require.Contains(t, stdout, "\nreads manifests up to version 2\n")
	for _, module := range namedModules() {
		require.Contains(t, stdout, "\n"+module+" v", "a module of this name is linked")
	}
	_, all, _ := run(t.Context(), "version", "-all")
	require.Greater(t, len(all), 2*len(stdout))

	code, stdout, stderr = run(t.Context(), "version", "/lake")
	require.Equal(t, exitFailed, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "takes no lake")
	code, _, _ = run(t.Context(), "version", "-h")
	require.Equal(t, exitOK, code)
	code, _, _ = run(t.Context(), "version", "-x")
	require.Equal(t, exitFailed, code)
}

func TestVersionOfABuild(t *testing.T) {
	for want, info := range map[string]*debug.BuildInfo{
		"s3window v1.2.3, go1.26.8\n": {GoVersion: "go1.26.8", Main: debug.Module{Version: "v1.2.3"}},
		"s3window built from source (abc 2026-11-30T08:00:00Z, changed), go1.26.8\n": {
			GoVersion: "go1.26.8", Main: debug.Module{Version: "(devel)"},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-11-30T08:00:00Z"}, {Key: "vcs.modified", Value: "true"}},
		},
		"\ngoogle.golang.org/grpc v1 => ../grpc v2\n": {
			Deps: []*debug.Module{{Path: "google.golang.org/grpc", Version: "v1", Replace: &debug.Module{Path: "../grpc", Version: "v2"}}, {Path: "other", Version: "v3"}},
		},
	} {
		var out bytes.Buffer
		printVersion(&out, info, false)
		require.Contains(t, out.String(), want)
		require.NotContains(t, out.String(), "other")
	}
}
