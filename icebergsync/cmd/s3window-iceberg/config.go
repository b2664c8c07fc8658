package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"

	"github.com/s3window/s3window/icebergsync/internal/run"
)

// newFlags makes the flags of a command, with the one that all have.
func newFlags(name string, out output) (flags *flag.FlagSet, file *string) {
	flags = flag.NewFlagSet("s3window-iceberg "+name, flag.ContinueOnError)
	flags.SetOutput(out.stderr)
	return flags, flags.String("config", "", "file with the extension's settings, or a collector's configuration")
}

// parse reads the flags, and the settings that they name.
func parse(ctx context.Context, flags *flag.FlagSet, file *string, args []string) (*run.Config, error) {
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	if *file == "" {
		return nil, errors.New("name the settings: -config file.yaml")
	}
	return load(ctx, *file)
}

// load reads settings as the collector does, ${env:NAME} included.
func load(ctx context.Context, file string) (*run.Config, error) {
	resolver, err := confmap.NewResolver(confmap.ResolverSettings{
		URIs:              []string{"file:" + file},
		ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory(), envprovider.NewFactory()},
		DefaultScheme:     "env",
	})
	if err != nil {
		return nil, err
	}
	all, err := resolver.Resolve(ctx)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if all, err = block(all); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	c := run.Default()
	if err := all.Unmarshal(c); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if err := confmap.Validate(c); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return c, nil
}

// block finds the extension's settings in a collector's configuration. What is
// none is the settings themselves.
func block(all *confmap.Conf) (*confmap.Conf, error) {
	if !all.IsSet("extensions") {
		return all, nil
	}
	extensions, err := all.Sub("extensions")
	if err != nil {
		return nil, err
	}
	var found []string
	for name := range extensions.ToStringMap() {
		if kind, _, _ := strings.Cut(name, "/"); kind == "s3window_iceberg" {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	if len(found) != 1 {
		return nil, fmt.Errorf("it has %d extensions s3window_iceberg (%s): there must be one", len(found), strings.Join(found, ", "))
	}
	return extensions.Sub(found[0])
}
