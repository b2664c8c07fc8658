"""Prints the matrix, and puts it into a page where all engines were run:
  python report.py RESULTS PAGE ENGINE...
"""

import json
import os
import re
import sys

GROUPS = [
    ("Parquet zstd", "parquet-zstd .* rows"),
    ("zstd 3", "parquet-zstd3 .* rows"),
    ("snappy", "parquet-snappy .* rows"),
    ("filters", ".* filters"),
    ("levels", "levels .*"),
    ("mixed levels", "mixed .*"),
    ("JSONL zstd", "jsonl-zstd .*"),
    ("gzip", "jsonl-gzip .*"),
    ("plain", "jsonl-none .*"),
]


def main():
    results, page, *engines = sys.argv[1:]
    limits, bad, lines = [], 0, []
    for e in engines:
        try:
            with open(os.path.join(results, e + ".json")) as f:
                r = json.load(f)
        except ValueError:
            print(f"{e}: did not finish")
            bad += 1
            continue
        cells = []
        for _, pattern in GROUPS:
            found = [c for c in r["checks"] if re.fullmatch(pattern, c["check"])]
            marks = {c["status"] for c in found}
            bad += sum(c["status"] == "wrong" for c in found)
            cell = "–" if not found else "**wrong**" if "wrong" in marks else "ok"
            for c in found:
                if c["status"] == "limit":
                    if c["say"][0] not in limits:
                        limits.append(c["say"][0])
                    mark = f"{limits.index(c['say'][0]) + 1}"
                    cell = f"no ({mark})" if marks == {"limit"} else f"ok but ({mark})"
            cells.append(cell)
        lines.append(f"| {r['engine']} {r['version']} | " + " | ".join(cells) + " |")
    table = ["| | " + " | ".join(g for g, _ in GROUPS) + " |", "|---" * (len(GROUPS) + 1) + "|", *lines, ""]
    table += [f"{i + 1}. {say[0].upper() + say[1:]}." for i, say in enumerate(limits)]
    print("\n".join(table))
    all_of_them = {"duckdb", "polars", "pyarrow", "pandas", "datafusion", "clickhouse", "spark"} <= set(engines)
    if bad == 0 and all_of_them:
        with open(page) as f:
            text = f.read()
        text = re.sub(r"(<!-- matrix -->\n).*?(<!-- /matrix -->)", lambda m: m[1] + "\n" + "\n".join(table) + "\n\n" + m[2], text, flags=re.S)
        with open(page, "w") as f:
            f.write(text)
    print(f"\n{bad} checks are wrong" if bad else "\nevery reader read what it must")
    sys.exit(1 if bad else 0)


main()
