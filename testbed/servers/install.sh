#!/bin/sh
# Installs the servers that tests run against: etcd and nats-server into
# .build/bin, dynalite into .build/dynalite, Redis and PostgreSQL from Debian
# where they are missing. Running it again is cheap.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$here/../.." && pwd)/.build
bin=${S3WINDOW_BIN:-$build/bin}
mkdir -p "$bin"

say() { echo "==> $*"; }

# The version of etcd is pinned in etcd/go.mod.
if [ ! -x "$bin/etcd" ] || [ "$here/etcd/go.mod" -nt "$bin/etcd" ]; then
	say "build etcd (once)"
	(cd "$here/etcd" && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$bin/etcd" .)
	touch "$bin/etcd"
fi
nats=v2.15.2
if [ ! -x "$bin/nats-server" ] || ! "$bin/nats-server" --version | grep -qF "$nats"; then
	say "build nats-server (once)"
	GOBIN=$bin CGO_ENABLED=0 go install -trimpath -ldflags '-s -w' "github.com/nats-io/nats-server/v2@$nats"
fi

dir=$build/dynalite
if [ ! -d "$dir/node_modules" ] || ! cmp -s "$here/dynalite/package-lock.json" "$dir/package-lock.json"; then
	say "install dynalite"
	mkdir -p "$dir"
	cp "$here/dynalite/package.json" "$here/dynalite/package-lock.json" "$here/dynalite/.npmrc" "$dir/"
	trap 'rm -f "$dir/package-lock.json"' EXIT # an install that fails is not taken for one that is done
	(cd "$dir" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
	trap - EXIT
fi

need=
command -v redis-server >/dev/null || need="$need redis-server"
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || need="$need postgresql"
if [ -n "$need" ]; then
	say "install$need"
	if [ "$(id -u)" != 0 ]; then
		echo "missing:$need: install them (apt-get install$need)" >&2
		exit 1
	fi
	apt-get update -qq
	# shellcheck disable=SC2086 # a list of packages
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $need >/dev/null
fi
