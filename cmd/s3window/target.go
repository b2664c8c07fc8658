package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/s3client"
)

// target is which lake a command is about, from its flags and its argument.
type target struct {
	endpoint  string
	region    string
	pathStyle bool
	prefix    string
}

// register adds the flags of a target to a command's own.
func (t *target) register(f *flag.FlagSet) { t.registerAs(f, "endpoint") }

// registerAs is register for commands that have another use for -endpoint.
func (t *target) registerAs(f *flag.FlagSet, endpoint string) {
	f.StringVar(&t.endpoint, endpoint, os.Getenv("AWS_ENDPOINT_URL"), "URL of the object store; empty = AWS")
	f.StringVar(&t.region, "region", firstOf(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), s3client.Default().Region), "region of the bucket")
	f.BoolVar(&t.pathStyle, "path-style", false, "put the bucket into the path instead of the host name (always with -"+endpoint+")")
	f.StringVar(&t.prefix, "prefix", "", "prefix of the lake in a directory that is a whole bucket")
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// parse reads flags and the one argument, in any order.
func parse(f *flag.FlagSet, args []string) (where string, err error) {
	var rest []string
	for {
		if err := f.Parse(args); err != nil {
			return "", err
		}
		if f.NArg() == 0 {
			break
		}
		rest, args = append(rest, f.Arg(0)), f.Args()[1:]
	}
	if len(rest) != 1 {
		return "", fmt.Errorf("name one lake: s3://bucket/prefix or a directory (got %d)", len(rest))
	}
	return rest[0], nil
}

// open opens the lake that where names. The credentials are those of the AWS
// default chain: environment, profile, role.
func (t *target) open(ctx context.Context, where string) (*lake.Lake, func(), error) {
	rest, ok := strings.CutPrefix(where, "s3://")
	if !ok {
		return t.openDir(where)
	}
	bucket, prefix, _ := strings.Cut(rest, "/")
	prefix = strings.Trim(prefix, "/")
	switch {
	case bucket == "":
		return nil, nil, fmt.Errorf("%q names no bucket", where)
	case t.prefix != "":
		return nil, nil, errors.New("-prefix is for directories: write s3://bucket/prefix")
	}
	c := s3client.Default()
	c.Bucket, c.Endpoint, c.Region, c.PathStyle = bucket, t.endpoint, t.region, t.pathStyle || t.endpoint != ""
	if err := c.Validate(); err != nil {
		return nil, nil, err
	}
	client, err := s3client.New(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	b := lake.NewS3(client, lake.S3Options{Settings: c})
	ref := lake.Ref{Endpoint: c.Endpoint, Region: c.Region, Bucket: bucket, Prefix: prefix, PathStyle: c.PathStyle}
	return lake.New(b, ref), func() { s3client.CloseIdle(client) }, nil
}

// openDir opens a directory that holds a bucket, such as a posix gateway's or
// a copy. A prefix may be named by -prefix or as part of the path.
func (t *target) openDir(where string) (*lake.Lake, func(), error) {
	root, err := filepath.Abs(where)
	if err != nil {
		return nil, nil, err
	}
	if info, err := os.Stat(root); err != nil {
		return nil, nil, err
	} else if !info.IsDir() {
		return nil, nil, fmt.Errorf("%q is neither s3://bucket/prefix nor a directory", where)
	}
	prefix := strings.Trim(t.prefix, "/")
	if prefix == "" {
		root, prefix = splitPrefix(root)
	}
	b, err := lake.NewDir(root)
	if err != nil {
		return nil, nil, err
	}
	return lake.New(b, lake.Ref{Bucket: root, Prefix: prefix}), func() {}, nil
}

// splitPrefix finds out how much of a lake's path is its prefix in the bucket:
// manifests name keys from the bucket's root on.
func splitPrefix(path string) (root, prefix string) {
	b, err := lake.NewDir(path)
	if err != nil {
		return path, ""
	}
	root = path
	found := errors.New("found")
	_ = b.List(context.Background(), partition.SystemPrefix("")+"sink=", "", func(i lake.Info) error {
		content, err := os.ReadFile(filepath.Join(path, filepath.FromSlash(i.Key)))
		if err != nil {
			return nil
		}
		m, err := lake.DecodeManifest(content)
		if err != nil || len(m.Objects) == 0 {
			return nil
		}
		of, _, ok := strings.Cut(m.Objects[0].Key, "/tenant=")
		if above, below := strings.CutSuffix(filepath.ToSlash(path), "/"+of); ok && below {
			root, prefix = filepath.FromSlash(above), of
		}
		return found
	})
	return root, prefix
}
