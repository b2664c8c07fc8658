package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Values that make no sense are errors that say what to do, before anything is
// read or sent.
func TestFlagsThatMakeNoSense(t *testing.T) {
	root, _ := dir(t)
	where := filepath.Join(root, "otel")
	for args, want := range map[string]string{
		"verify -workers 0":                     "-workers (0) must be 1 to 1024: how many reads run at once",
		"verify -workers -3":                    "-workers (-3) must be 1 to 1024",
		"verify -workers 5000":                  "-workers (5000) must be 1 to 1024",
		"verify -workers many":                  "-workers",
		"verify -temp-dir /tmp":                 "-temp-dir is for -duplicates: give both or none",
		"verify -sizes-only -resume /tmp/file":  "-resume keeps which objects were read, and -sizes-only reads none: leave one of them out",
		"verify -temp-dir /no/such -duplicates": "-temp-dir \"/no/such\"",

		"replay -dry-run -k 5:2":   "selects nothing: write the smaller number first, 2:5",
		"replay -dry-run -k :":     "names no number: write first:last, first:, :last or one number",
		"replay -dry-run -k 1:2:3": "is no number of a window",
		"replay -dry-run -k -1":    "is no number of a window",
		"replay -dry-run -from 2026-11-30T09:00:00Z -to 2026-11-30T08:00:00Z": "-from (2026-11-30T09:00:00Z) must be before -to (2026-11-30T08:00:00Z): nothing lies between",
		"replay -dry-run -from 2026-11-30T09:00:00Z -to 2026-11-30T09:00:00Z": "must be before -to",
		"replay -dry-run -max-request-mib 0":                                  "-max-request-mib (0) must be more than 0 and at most 1024",
		"replay -dry-run -max-request-mib -1":                                 "-max-request-mib (-1) must be more than 0",
		"replay -dry-run -max-request-mib NaN":                                "-max-request-mib (NaN) must be more than 0",
		"replay -dry-run -max-request-mib 1e9":                                "-max-request-mib (1e+09) must be more than 0 and at most 1024",
		"replay -dry-run -timeout 0":                                          "-timeout (0s) must be more than 0: how long one try of a request may take",
		"replay -dry-run -timeout -1s":                                        "-timeout (-1s) must be more than 0",
		"replay -dry-run -retry-for -1s":                                      "-retry-for (-1s) must not be negative; 0 = one try",
		"replay -endpoint http://collector:4318 -insecure":                    "-endpoint \"http://collector:4318\" must be host:port of a gRPC receiver, without http://",
		"replay -endpoint https://collector:4317":                             "without https://",
		"replay -endpoint collector":                                          "must be host:port of a gRPC receiver, such as collector:4317",
		"replay -endpoint collector:4317 -insecure -ca-file x.pem":            "-insecure means no TLS: leave out -ca-file",
		"replay -endpoint collector:4317 -insecure -cert-file x -key-file y":  "-insecure means no TLS: leave out -cert-file, -key-file",
		"replay -endpoint collector:4317 -insecure -insecure-skip-verify":     "leave out -insecure-skip-verify",
		"replay -endpoint collector:4317 -cert-file x":                        "-cert-file and -key-file belong together: give both",
		"replay -endpoint collector:4317 -key-file x":                         "-cert-file and -key-file belong together: give both",
	} {
		a := strings.Fields(args)
		code, stdout, stderr := run(t.Context(), append([]string{a[0], where}, a[1:]...)...)
		require.Equal(t, exitFailed, code, args)
		require.Contains(t, stderr, want, args)
		require.Empty(t, stdout, args)
	}
}

// All that is wrong is said at once.
func TestFlagsAreJudgedTogether(t *testing.T) {
	root, _ := dir(t)
	_, _, stderr := run(t.Context(), "replay", filepath.Join(root, "otel"), "-timeout", "0", "-retry-for", "-1s", "-endpoint", "x")
	for _, want := range []string{"-timeout (", "-retry-for (", "-endpoint \"x\""} {
		require.Contains(t, stderr, want)
	}
}
