package icecat

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
)

// The kinds of catalogs.
const (
	REST = "rest"
	Glue = "glue"
	SQL  = "sql"
)

// Config says which catalog, where and as whom.
type Config struct {
	// Type is rest, glue or sql.
	Type string `mapstructure:"type"`
	// URI is where a REST catalog answers, or file:path of a SQLite database.
	// For glue it is empty, or another endpoint than AWS's.
	URI string `mapstructure:"uri"`
	// Warehouse names the warehouse to a REST catalog; for glue and sql it is
	// where tables lie, as s3://bucket/prefix.
	Warehouse string `mapstructure:"warehouse"`
	// Timeout bounds one call to the catalog, with the files it writes.
	Timeout time.Duration `mapstructure:"timeout"`

	// OAuth2 logs in to a REST catalog.
	OAuth2 configoptional.Optional[OAuth2] `mapstructure:"oauth2"`
	// SigV4 signs the requests to a REST catalog of AWS.
	SigV4 configoptional.Optional[SigV4] `mapstructure:"sigv4"`
	// TLS is for REST catalogs whose certificate no system knows.
	TLS configoptional.Optional[configtls.ClientConfig] `mapstructure:"tls"`
	// Headers are sent with every request to a REST catalog.
	Headers map[string]configopaque.String `mapstructure:"headers"`
	// CatalogID is the account whose Glue catalog it is; empty = one's own.
	CatalogID string `mapstructure:"catalog_id"`
}

// OAuth2 is a login with a credential, or a token that somebody else got.
type OAuth2 struct {
	ServerURI  string              `mapstructure:"server_uri"`
	Credential configopaque.String `mapstructure:"credential"` // client_id:client_secret
	Token      configopaque.String `mapstructure:"token"`
	Scope      string              `mapstructure:"scope"`
	Audience   string              `mapstructure:"audience"`
}

// SigV4 signs for a service of AWS.
type SigV4 struct {
	Region  string `mapstructure:"region"`  // empty = the s3 block's
	Service string `mapstructure:"service"` // glue, s3tables, execute-api
}

// DefaultConfig returns the settings that apply where nothing is configured.
func DefaultConfig() Config {
	return Config{
		Type: REST, Timeout: time.Minute,
		OAuth2: configoptional.Default(OAuth2{Scope: "catalog"}), SigV4: configoptional.Default(SigV4{Service: "glue"}),
		TLS: configoptional.Default(configtls.NewDefaultClientConfig()),
	}
}

var accountID = regexp.MustCompile(`^[0-9]{12}$`)

// Check names everything that is wrong with the settings, one line each.
func (c *Config) Check() error {
	errs := []error{c.checkType()}
	if c.Timeout < time.Second || c.Timeout > 30*time.Minute {
		errs = append(errs, fmt.Errorf("`timeout` (%v) must be 1s to 30m: a commit of a large table takes seconds, and one that hangs holds up its table", c.Timeout))
	}
	if c.OAuth2.HasValue() {
		errs = append(errs, c.OAuth2.Get().check())
	}
	if c.SigV4.HasValue() && c.SigV4.Get().Service == "" {
		errs = append(errs, errors.New("`sigv4::service` is empty: it must be glue, s3tables or execute-api"))
	}
	if c.SigV4.HasValue() && c.OAuth2.HasValue() {
		errs = append(errs, errors.New("of `oauth2` and `sigv4` only one must be set: a request is signed once"))
	}
	return errors.Join(errs...)
}

func (c *Config) checkType() error {
	var errs []error
	rest := c.OAuth2.HasValue() || c.SigV4.HasValue() || c.TLS.HasValue() || len(c.Headers) > 0
	if rest && c.Type != REST {
		errs = append(errs, fmt.Errorf("`oauth2`, `sigv4`, `tls` and `headers` are for `type: rest`, not for %q", c.Type))
	}
	if c.CatalogID != "" && (c.Type != Glue || !accountID.MatchString(c.CatalogID)) {
		errs = append(errs, fmt.Errorf("`catalog_id` (%q) must be 12 digits, and is for `type: glue`", c.CatalogID))
	}
	switch c.Type {
	case REST:
		errs = append(errs, checkURL("uri", c.URI))
	case Glue:
		if c.URI != "" {
			errs = append(errs, checkURL("uri", c.URI))
		}
		errs = append(errs, checkWarehouse(c.Warehouse))
	case SQL:
		if !strings.HasPrefix(c.URI, "file:") {
			errs = append(errs, fmt.Errorf("`uri` (%q) must be file:path of a SQLite database: there is no other yet", c.URI))
		}
		errs = append(errs, checkWarehouse(c.Warehouse))
	default:
		errs = append(errs, fmt.Errorf("`type` (%q) must be rest, glue or sql: there is no other", c.Type))
	}
	return errors.Join(errs...)
}

func checkWarehouse(warehouse string) error {
	if rest, ok := strings.CutPrefix(warehouse, "s3://"); ok && rest != "" && !strings.HasPrefix(rest, "/") {
		return nil
	}
	return fmt.Errorf("`warehouse` (%q) must be s3://bucket or s3://bucket/prefix: tables lie below it", warehouse)
}

func checkURL(key, value string) error {
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("`%s` must be a URL that begins with http:// or https:// and names a host", key)
	case u.User != nil:
		return fmt.Errorf("`%s` (%q) must not hold a user: logins go into `oauth2`", key, u.Redacted())
	}
	return nil
}

func (o *OAuth2) check() error {
	var errs []error
	if (o.Credential == "") == (o.Token == "") {
		errs = append(errs, errors.New("of `oauth2::credential` and `oauth2::token` one must be set"))
	}
	if o.ServerURI != "" {
		errs = append(errs, checkURL("oauth2::server_uri", o.ServerURI))
	}
	return errors.Join(errs...)
}
