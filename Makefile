# Targets are listed by `make help`. Everything a target needs is built or
# installed by it: a machine with Go and Debian is enough.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

ROOT  := $(CURDIR)
BUILD := $(ROOT)/.build
BIN   := $(BUILD)/bin

VERSITYGW_VERSION := v1.8.0
SOURCES := $(shell find . -name '*.go' -not -path './.build/*' -not -path '*/node_modules/*' -not -name '*_test.go' -not -path './testbed/*') go.mod go.sum

# What only the modules beside the main one reach.
REACHED := leaseextension/standalone.go|leaseextension/internal/dial/address.go

# Lease backends and catalogs with heavy clients are modules of their own.
MODULES := $(shell git ls-files 'extension/*/go.mod' 'icebergsync/go.mod' | xargs -n1 dirname)

export S3WINDOW_BIN := $(BIN)
export CGO_ENABLED ?= 1

##@ Build

.PHONY: help
help: ## show this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z][a-z0-9-]*:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

.PHONY: build
build: $(BUILD)/otelcol-s3window $(BIN)/s3window ## the collector (.build/otelcol-s3window) and the tool (.build/bin/s3window)

$(BUILD)/otelcol-s3window: builder-config.yaml $(SOURCES) | $(BIN)/builder
	@echo "==> build the collector (the first time takes minutes)"
	$(BIN)/builder --config builder-config.yaml
	@mv -f $(BUILD)/otelcol/otelcol-s3window $@

$(BIN)/s3window: $(SOURCES)
	@echo "==> build the tool"
	CGO_ENABLED=0 go build -trimpath -o $@ ./cmd/s3window

##@ Check

.PHONY: test
test: test-tools servers ## all tests, with the race detector
	@for m in $(MODULES); do echo "==> $$m"; (cd $$m && go test -race -timeout 15m ./...) || exit 1; done
	go test -race -timeout 25m ./...

.PHONY: lint
lint: $(BIN)/golangci-lint $(BIN)/deadcode ## gofmt, go vet, golangci-lint (its depguard holds the import table), code that nothing reaches
	@bad=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$bad" ]; then echo "not formatted (run gofmt -w):"; echo "$$bad"; exit 1; fi
	go vet -tags e2e ./...
	$(BIN)/golangci-lint run --allow-parallel-runners ./...
	@dead=$$($(BIN)/deadcode ./cmd/... ./testbed/reach ./internal/encode/schema/gen | grep -vE '$(REACHED)' || true); if [ -n "$$dead" ]; then echo "nothing reaches this:"; echo "$$dead"; exit 1; fi
	@for m in $(MODULES); do echo "==> $$m"; (cd $$m && go vet -tags kubernetes,iceberg ./... && $(BIN)/golangci-lint run --allow-parallel-runners -c $(ROOT)/.golangci.yml ./...) || exit 1; done

.PHONY: tidy
tidy: ## go.mod and go.sum of the modules beside the main one, which follow its versions
	@for m in $(MODULES); do echo "==> $$m"; (cd $$m && go mod tidy) || exit 1; done

.PHONY: e2e
e2e: build test-tools servers ## real processes: SIGKILL at every step, fleets of three, every fault
	go test -tags e2e -count=1 -p 1 -timeout 60m $(E2EFLAGS) ./testbed/e2e/... ./testbed/fleet/ ./testbed/faults/

.PHONY: e2e-short
e2e-short: ## the part of e2e that CI runs
	@$(MAKE) --no-print-directory e2e E2EFLAGS="-short"

.PHONY: examples
examples: build ## the collector takes every example, and Kubernetes' types its manifests
	cd examples/check && go test -count=1 ./...

.PHONY: soak
soak: build test-tools ## SOAK=10m of a fleet under load that is killed, frozen and restarted at random, judged at the end
	S3WINDOW_SOAK=$${SOAK:-10m} go test -tags e2e -count=1 -v -timeout 0 -run '^TestSoak$$' ./testbed/fleet/

.PHONY: mutate
mutate: test-tools servers ## break one rule at a time and see a test notice, for an hour or two; MUTANTS=regexp runs some
	go run ./testbed/mutate -run '$(MUTANTS)'

.PHONY: fuzz
fuzz: ## every fuzz target of what guards records, each for FUZZTIME=60s
	testbed/fuzz.sh $${FUZZTIME:-60s} ./internal/commit ./internal/wal ./internal/window/... ./internal/encode/... ./internal/partition

.PHONY: faults
faults: build test-tools servers ## every fault of docs/reliability.md, one after the other, with a table at the end; OUTAGE=1m of a bucket that is gone, OUTAGE_RATE records/s meanwhile
	S3WINDOW_OUTAGE=$${OUTAGE:-1m} S3WINDOW_OUTAGE_RATE=$${OUTAGE_RATE:-} go test -tags e2e -count=1 -v -timeout 0 $(FAULTSFLAGS) ./testbed/faults/

.PHONY: kubernetes
kubernetes: servers $(BIN)/kube-apiserver ## leases in a real Kubernetes API server, which is built once (ten minutes of two cores)
	cd extension/leaseextension/kuberneteslease && go test -tags kubernetes -count=1 -v -timeout 20m -run '^TestReal' ./...

.PHONY: iceberg
iceberg: test-tools iceberg-rest iceberg-readers ## tables in a real Iceberg REST catalog, behind a proxy that lies, and the walk-through of docs/iceberg.md with its readers
	cd icebergsync && go test -tags iceberg -count=1 -v -timeout 30m -run '^Test(REST|Docs)' ./...

.PHONY: compat
compat: $(BIN)/versitygw ## every reader over every format, and the documentation's queries; installs the readers from PyPI; ENGINES="duckdb polars" runs some
	@testbed/compat/run.sh

.PHONY: bench
bench: build $(BIN)/versitygw ## what a collector costs, the queue beside exporterhelper's, the encoder beside zstd alone, then all Go benchmarks
	go run ./testbed/bench/costbench
	go run ./testbed/bench/walbench
	GOMAXPROCS=1 go test -run '^$$' -bench Floor -benchtime 3x -benchmem ./internal/encode/...
	go test -run '^$$' -bench . -benchtime 200ms -benchmem ./internal/...

.PHONY: generate
generate: $(BIN)/mdatagen ## the code and documents made from metadata.yaml and from the table of columns
	go generate ./internal/encode/schema
	@ln -sfn $(ROOT) $(BUILD)/s3window && cd $(BUILD)/s3window && $(BIN)/mdatagen metadata.yaml # it takes the name from the directory
	@for f in $$(git ls-files 'exporter/*metadata.yaml' 'extension/*metadata.yaml' 'icebergsync/metadata.yaml'); do echo "==> $$f"; (cd $$(dirname $$f) && $(BIN)/mdatagen metadata.yaml); done

##@ Demo

.PHONY: demo
demo: build $(BIN)/versitygw duckdb ## collector, local S3 and three tenants; a SIGKILL in the middle; a query over the result
	@go build -o $(BIN)/demo ./testbed/demo
	@exec $(BIN)/demo -dir .demo

.PHONY: demo-clean
demo-clean: ## remove what the demo left
	rm -rf .demo

##@ Tools

.PHONY: tools
tools: $(BIN)/versitygw $(BIN)/builder $(BIN)/mdatagen $(BIN)/golangci-lint $(BIN)/deadcode ## every tool, from its pin

.PHONY: test-tools
test-tools: $(BIN)/versitygw duckdb

# The versions of these are pinned in tools/go.mod.
tool = @echo "==> build $(notdir $@) (once)"; mkdir -p $(BIN); cd tools && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o $@ $(1)

$(BIN)/builder: tools/go.mod
	$(call tool,go.opentelemetry.io/collector/cmd/builder)

$(BIN)/mdatagen: tools/go.mod
	$(call tool,go.opentelemetry.io/collector/cmd/mdatagen)

$(BIN)/deadcode: tools/go.mod
	$(call tool,golang.org/x/tools/cmd/deadcode)

$(BIN)/golangci-lint: tools/go.mod
	$(call tool,github.com/golangci/golangci-lint/v2/cmd/golangci-lint)

# A module of its own: Kubernetes pins hundreds of versions.
$(BIN)/kube-apiserver: testbed/servers/kubeapiserver/go.mod
	@echo "==> build kube-apiserver (once, takes minutes)"; mkdir -p $(BIN)
	cd testbed/servers/kubeapiserver && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o $@ k8s.io/kubernetes/cmd/kube-apiserver
	@touch $@

# Not in tools/go.mod: it is a server for tests, with versions of its own.
$(BIN)/versitygw:
	@echo "==> build versitygw (once)"; mkdir -p $(BIN)
	GOBIN=$(BIN) CGO_ENABLED=0 go install -trimpath -ldflags '-s -w' github.com/versity/versitygw/cmd/versitygw@$(VERSITYGW_VERSION)

# DuckDB runs under node. Debian's node is enough.
.PHONY: node
node:
	@if ! { command -v node && command -v npm; } >/dev/null; then \
	  echo "==> install node and npm"; \
	  [ "$$(id -u)" = 0 ] || { echo "node and npm are missing: install them (apt-get install nodejs npm)"; exit 1; }; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null; fi

.PHONY: duckdb
duckdb: node
	@testbed/duckdbtest/install.sh

# The Java project's REST catalog. Needs Java 17 and Maven.
.PHONY: iceberg-rest
iceberg-rest:
	@icebergsync/internal/synctest/rest/install.sh $(BUILD)/iceberg-rest

.PHONY: iceberg-readers
iceberg-readers:
	@[ -x $(BUILD)/iceberg-readers/bin/python ] || python3 -m venv $(BUILD)/iceberg-readers
	@$(BUILD)/iceberg-readers/bin/pip install --quiet --disable-pip-version-check -r testbed/compat/iceberg/requirements.txt

.PHONY: servers
servers: node ## what lease backends are tested against: etcd, NATS, Redis, PostgreSQL, dynalite
	@testbed/servers/install.sh

.PHONY: clean
clean: demo-clean ## remove what was built (tools too)
	rm -rf $(BUILD)
