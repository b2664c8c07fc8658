#!/usr/bin/env bash
# Runs every fuzz target of the packages named, as many at once as there are
# cores, each for a time of its own. A finding fails it: the input is printed
# and kept in the package's testdata/fuzz, where it is a test case from then on.
#
#   testbed/fuzz.sh 60s ./internal/wal ./internal/encode/...
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --one ]; then
  package=$2 target=$3 time=$4
  started=$SECONDS log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  # A minute more than it needs: what hangs is a finding.
  if timeout --kill-after=10s $((${time%s} + 120)) \
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -parallel 1 "$package" >"$log" 2>&1; then
    last=$(grep -o 'execs: [0-9]*' "$log" | tail -1 || true)
    printf 'ok    %s %s, %s (%d s)\n' "$package" "$target" "$last" $((SECONDS - started))
    exit
  fi
  # The fuzzer's own end of time is reported as an error now and then, in the
  # middle of a run that found nothing.
  if grep -q 'context deadline exceeded' "$log" && ! grep -Eq 'Failing input|panic|DATA RACE|fatal error' "$log"; then
    printf 'ok    %s %s, at the end of its time (%d s)\n' "$package" "$target" $((SECONDS - started))
    exit
  fi
  printf 'FAIL  %s %s\n' "$package" "$target"
  cat "$log"
  exit 1
fi

time=$1
shift
case $time in *[!0-9s]* | s | "") echo "fuzz.sh: the time must be seconds, such as 60s" >&2; exit 2 ;; esac
targets=()
for package in $(go list "$@"); do
  for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
    targets+=("$package" "$target")
  done
done
((${#targets[@]})) || { echo "fuzz.sh: no fuzz target in $*" >&2; exit 2; }
echo "$((${#targets[@]} / 2)) fuzz targets, $time each, $(nproc) at once"
printf '%s\n' "${targets[@]}" | xargs -n 2 -P "$(nproc)" sh -c '"$0" --one "$2" "$3" "$1"' "testbed/fuzz.sh" "$time"
