"""Reads the lakes with one engine and prints what it found as JSON:
  python matrix.py LAKES ENGINE
"""

import importlib
import json
import sys

from common import lakes


def main():
    base, name = sys.argv[1:3]
    reader = importlib.import_module("read_" + name).Reader()
    out = {"engine": reader.name, "version": reader.version(), "checks": []}
    for check, status, say in reader.run(lakes(base)):
        print(f"{reader.name}: {check}: {status}", file=sys.stderr)
        for line in say[:8] if status == "wrong" else []:
            print("    " + line[:300], file=sys.stderr)
        out["checks"].append({"check": check, "status": status, "say": say})
    json.dump(out, sys.stdout, ensure_ascii=False, indent=1)


main()
