#!/usr/bin/env bash
# The Java project's REST catalog for tests, in .build/iceberg-rest: its class
# path and one small main. Needs Java 17 and Maven, which are installed if root
# may do so.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../../../.build/iceberg-rest}
sum=$(cat "$here/pom.xml" "$here/Loopback.java" | sha256sum | cut -d' ' -f1)
[ "$(cat "$out/sum" 2>/dev/null || true)" = "$sum" ] && exit 0
if ! { command -v javac && command -v mvn; } >/dev/null; then
  echo "==> install Java and Maven"
  [ "$(id -u)" = 0 ] || { echo "javac and mvn are missing: install them (apt-get install openjdk-17-jdk-headless maven)"; exit 1; }
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openjdk-17-jdk-headless maven >/dev/null
fi
echo "==> install the Iceberg REST catalog (once, takes minutes)"
rm -rf "$out" && mkdir -p "$out/classes"
cp "$here/pom.xml" "$out/"
(cd "$out" && mvn -q -B dependency:build-classpath -Dmdep.outputFile=classpath)
javac -cp "$(cat "$out/classpath")" -d "$out/classes" "$here/Loopback.java"
echo "$sum" >"$out/sum"
