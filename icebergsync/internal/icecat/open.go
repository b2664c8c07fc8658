package icecat

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/glue"
	"github.com/apache/iceberg-go/catalog/rest"
	icesql "github.com/apache/iceberg-go/catalog/sql"
	"github.com/aws/aws-sdk-go-v2/aws"
	_ "modernc.org/sqlite" // the driver of type sql

	"github.com/s3window/s3window/internal/s3client"
)

const catalogName = "s3window"

// Open connects to the catalog. Its requests to AWS are signed as those to s3
// are. The caller closes what it returns.
func Open(ctx context.Context, c Config, s3 s3client.Config, o Options) (*Catalog, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	o.Timeout = c.Timeout
	var below catalog.Catalog
	var err error
	switch c.Type {
	case Glue:
		below, err = openGlue(ctx, c, s3)
		o.RemovesMetadata = true
	case SQL:
		below, err = openSQL(c)
		o.RemovesMetadata = true
	default:
		below, err = openREST(ctx, c, s3)
	}
	if err != nil {
		return nil, fmt.Errorf("open catalog: %w", err)
	}
	return New(below, o), nil
}

func openREST(ctx context.Context, c Config, s3 s3client.Config) (catalog.Catalog, error) {
	var opts []rest.Option
	if c.Warehouse != "" {
		opts = append(opts, rest.WithWarehouseLocation(c.Warehouse))
	}
	if c.OAuth2.HasValue() {
		login, err := c.OAuth2.Get().options()
		if err != nil {
			return nil, err
		}
		opts = append(opts, login...)
	}
	if c.SigV4.HasValue() {
		sign := c.SigV4.Get()
		cfg, err := s3client.Load(ctx, s3)
		if err != nil {
			return nil, err
		}
		region := sign.Region
		if region == "" {
			region = s3.Region
		}
		opts = append(opts, rest.WithAwsConfig(cfg), rest.WithSigV4RegionSvc(region, sign.Service))
	}
	if c.TLS.HasValue() {
		secure, err := c.TLS.Get().LoadTLSConfig(ctx)
		if err != nil {
			return nil, fmt.Errorf("load `tls`: %w", err)
		}
		opts = append(opts, rest.WithTLSConfig(secure))
	}
	headers := map[string]string{}
	for name, value := range c.Headers {
		headers[name] = string(value)
	}
	return rest.NewCatalog(ctx, catalogName, c.URI, append(opts, rest.WithHeaders(headers))...)
}

func (o *OAuth2) options() ([]rest.Option, error) {
	if o.Token != "" {
		return []rest.Option{rest.WithOAuthToken(string(o.Token))}, nil
	}
	opts := []rest.Option{rest.WithCredential(string(o.Credential)), rest.WithScope(o.Scope)}
	if o.Audience != "" {
		opts = append(opts, rest.WithAudience(o.Audience))
	}
	if o.ServerURI != "" {
		u, err := url.Parse(o.ServerURI)
		if err != nil {
			return nil, err
		}
		opts = append(opts, rest.WithAuthURI(u))
	}
	return opts, nil
}

func openGlue(ctx context.Context, c Config, s3 s3client.Config) (catalog.Catalog, error) {
	cfg, err := s3client.Load(ctx, s3)
	if err != nil {
		return nil, err
	}
	if c.URI != "" {
		cfg.BaseEndpoint = aws.String(c.URI)
	}
	props := glue.AwsProperties{"warehouse": strings.TrimRight(c.Warehouse, "/")}
	if c.CatalogID != "" {
		props[glue.CatalogIdKey] = c.CatalogID
	}
	return glue.NewCatalog(glue.WithAwsConfig(cfg), glue.WithAwsProperties(props))
}

// openSQL opens a catalog in SQLite. Several processes may use one file.
func openSQL(c Config) (catalog.Catalog, error) {
	uri := c.URI
	for _, pragma := range []string{"busy_timeout(10000)", "journal_mode(WAL)"} {
		join := "?"
		if strings.Contains(uri, "?") {
			join = "&"
		}
		uri += join + "_pragma=" + pragma
	}
	db, err := sql.Open("sqlite", uri)
	if err != nil {
		return nil, err
	}
	is, err := icesql.NewCatalog(catalogName, db, icesql.SQLite, iceberg.Properties{"warehouse": strings.TrimRight(c.Warehouse, "/")})
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return &sqlite{Catalog: is, db: db}, nil
}

// sqlite is a catalog with a database of its own.
type sqlite struct {
	*icesql.Catalog
	db *sql.DB
}

// Close implements iceberg-go's catalog.Closer.
func (s *sqlite) Close() error {
	err := s.Catalog.Close()
	if e := s.db.Close(); err == nil {
		err = e
	}
	return err
}
