package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"

	"github.com/s3window/s3window/cmd/s3window/internal/verify"
	"github.com/s3window/s3window/extension/leaseextension"
	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake"
)

// leaseFlags say where the heads are, if not in the bucket. They are only read.
type leaseFlags struct {
	exported string
	config   string
	etcd     string
	bucket   string
}

const leaseHelp = `
Heads that are in the bucket are found there. Heads elsewhere are read with
-lease-etcd or -lease-config, or exported to -heads FILE by whatever reaches the
store: one {"name": "bucket=…/prefix=…/sink=…/tenant=…/signal=…", "record": …}
after another, where record is the value as it is or as a string. For example
  etcd        etcdctl get --prefix s3window/leases/ -w json | jq -c '.kvs[] | {name: (.key|@base64d), record: (.value|@base64d)}'
  Redis       redis-cli --scan --pattern '*bucket=*' | while read -r k; do redis-cli hget "$k" value | jq -c --arg n "$k" '{name: $n, record: .}'; done
  PostgreSQL  psql -Atc "SELECT json_build_object('name', convert_from(name, 'UTF8'), 'record', convert_from(value, 'UTF8')) FROM TABLE"
An export also finds partitions of which nothing is left in the bucket; a store
is only asked about partitions that have left something.
`

func (l *leaseFlags) register(f *flag.FlagSet) {
	f.StringVar(&l.exported, "heads", "", "`file` with heads exported from the lease store; - = standard input")
	f.StringVar(&l.config, "lease-config", "", "`file` with the block of the collector's lease extension (YAML): read heads from etcd, nats, dynamodb, s3")
	f.StringVar(&l.etcd, "lease-etcd", "", "`urls` of an etcd cluster that keeps the heads, separated by commas, then the prefix of its keys if it is not the default")
	f.StringVar(&l.bucket, "head-bucket", "", "the bucket's `name` in the names of heads, where the lake is a directory")
}

// open gives verify its heads. done ends the connections.
func (l *leaseFlags) open(ctx context.Context, ref lake.Ref, directory bool, o *verify.Options) (done func(), err error) {
	if o.HeadBucket = l.bucket; !directory && l.bucket == "" {
		o.HeadBucket = ref.Bucket
	}
	if l.exported != "" {
		if o.Heads, err = exportedHeads(l.exported); err != nil {
			return nil, err
		}
	}
	settings, err := l.settings()
	if settings == nil || err != nil {
		return func() {}, err
	}
	if o.HeadBucket == "" {
		return nil, errors.New("name the bucket with -head-bucket: heads are named by it, and a directory does not tell")
	}
	leases, done, err := openLeases(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("open lease store: %w", err)
	}
	o.ReadHead = func(ctx context.Context, name string) ([]byte, error) {
		state, err := leases.Read(ctx, name)
		switch {
		case errors.Is(err, lease.ErrNotFound):
			return nil, nil
		case errors.Is(err, lease.ErrUnreadable):
			return nil, fmt.Errorf("%w: %w", verify.ErrBadHead, err)
		}
		return state, err
	}
	return done, nil
}

func exportedHeads(name string) ([]verify.Head, error) {
	in := os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return verify.ReadHeads(in)
}

// settings are the lease extension's, nil if no store was named.
func (l *leaseFlags) settings() (*confmap.Conf, error) {
	switch {
	case l.etcd != "" && l.config != "":
		return nil, errors.New("-lease-etcd and -lease-config name two stores: name one")
	case l.config != "":
		content, err := os.ReadFile(l.config)
		if err != nil {
			return nil, err
		}
		block, err := confmap.NewRetrievedFromYAML(content)
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", l.config, err)
		}
		return block.AsConf()
	case l.etcd != "":
		etcd := map[string]any{}
		var urls []any
		for _, part := range strings.Split(l.etcd, ",") {
			if strings.Contains(part, "://") {
				urls = append(urls, part)
			} else {
				etcd["prefix"] = part
			}
		}
		etcd["endpoints"] = urls
		return confmap.NewFromStringMap(map[string]any{"backend": "etcd", "etcd": etcd}), nil
	}
	return nil, nil
}

// openLeases starts the collector's own lease extension outside a collector.
func openLeases(ctx context.Context, settings *confmap.Conf) (lease.Leases, func(), error) {
	factory := leaseextension.NewFactory()
	config := factory.CreateDefaultConfig()
	if err := settings.Unmarshal(config); err != nil {
		return nil, nil, err
	}
	if err := confmap.Validate(config); err != nil {
		return nil, nil, err
	}
	e, err := factory.Create(ctx, extension.Settings{
		ID: component.NewID(factory.Type()),
		TelemetrySettings: component.TelemetrySettings{
			Logger: zap.NewNop(), MeterProvider: metricnoop.NewMeterProvider(), TracerProvider: tracenoop.NewTracerProvider(),
		},
	}, config)
	if err != nil {
		return nil, nil, err
	}
	leases, ok := e.(lease.Leases)
	if !ok {
		return nil, nil, errors.New("the extension gives no leases")
	}
	if err := e.Start(ctx, noHost{}); err != nil {
		return nil, nil, err
	}
	return leases, func() { _ = e.Shutdown(context.WithoutCancel(ctx)) }, nil
}

// noHost is a collector without other extensions.
type noHost struct{}

func (noHost) GetExtensions() map[component.ID]component.Component { return nil }
