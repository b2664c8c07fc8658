#!/usr/bin/env bash
# The readers' matrix: writes the lakes, reads them with every engine, runs the
# documentation's snippets, and puts the table into docs/readers.md. ENGINES
# names the engines to run; by default all.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=$PWD/.build/compat
venv=${S3WINDOW_COMPAT_VENV:-$dir/venv}
engines=${ENGINES:-duckdb polars pyarrow pandas datafusion clickhouse spark}
here=testbed/compat

mkdir -p "$dir/results"
if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv" || { echo "python3 with venv is missing: install it (apt-get install python3-venv)"; exit 1; }
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check -r $here/requirements.txt
if [[ " $engines " == *" spark "* ]] && ! command -v java >/dev/null; then
  echo "Spark needs Java 17: install it (apt-get install openjdk-17-jre-headless), or leave it out of ENGINES"
  exit 1
fi

echo "==> write the lakes"
go run ./$here -dir "$dir/lakes"

# A local S3 server for what reads over S3: buckets lake and lines.
rm -rf "$dir/buckets" && mkdir -p "$dir/buckets"
cp -r "$dir/lakes/parquet-zstd" "$dir/buckets/lake"
cp -r "$dir/lakes/jsonl-gzip" "$dir/buckets/lines"
export AWS_ACCESS_KEY_ID=compat AWS_SECRET_ACCESS_KEY=compat-secret AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_ALLOW_HTTP=true
port=$("$venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export AWS_ENDPOINT_URL=http://127.0.0.1:$port
.build/bin/versitygw -p "127.0.0.1:$port" -a $AWS_ACCESS_KEY_ID -s $AWS_SECRET_ACCESS_KEY -q posix "$dir/buckets" >"$dir/versitygw.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT

failed=0
cd "$dir"
for e in $engines; do
  echo "==> $e"
  "$venv/bin/python" "$OLDPWD/$here/readers/matrix.py" lakes "$e" >"results/$e.json" 2>"results/$e.log" || { tail -5 "results/$e.log"; failed=1; }
  grep -E '(: wrong$|^    )' "results/$e.log" | head -40 || true
done
for e in duckdb polars pyarrow pandas clickhouse spark; do
  [[ " $engines " == *" $e "* ]] || continue
  "$venv/bin/python" "$OLDPWD/$here/readers/snippets.py" "$dir/lakes" "$AWS_ENDPOINT_URL" "$e" "$OLDPWD"/docs/queries.md "$OLDPWD"/docs/readers.md 2>"results/$e-snippets.log" || failed=1
done
cd "$OLDPWD"
"$venv/bin/python" $here/readers/report.py "$dir/results" docs/readers.md $engines || failed=1
exit $failed
