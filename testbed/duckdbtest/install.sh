#!/bin/sh
# Installs DuckDB for Go tests into .build/duckdb. Running it again is cheap.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$here/../../.build/duckdb
mkdir -p "$dir"
if [ -d "$dir/node_modules" ] && cmp -s "$here/package-lock.json" "$dir/package-lock.json"; then
	exit 0
fi
cp "$here/package.json" "$here/.npmrc" "$dir/"
rm -f "$dir/package-lock.json"
cp "$here/package-lock.json" "$dir/lock.tmp"
mv "$dir/lock.tmp" "$dir/package-lock.json"
trap 'rm -f "$dir/package-lock.json"' EXIT # an install that fails is not taken for one that is done
(cd "$dir" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
trap - EXIT
