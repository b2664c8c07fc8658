package s3client

import (
	"context"
	"crypto/tls"
	"fmt"

	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configtls"
)

// TLS says how the store's certificate is checked, and which one is shown to
// it. Its keys are those of the collector's own tls blocks.
type TLS struct {
	CAFile             string              `mapstructure:"ca_file"`
	CAPem              configopaque.String `mapstructure:"ca_pem"`
	CertFile           string              `mapstructure:"cert_file"`
	KeyFile            string              `mapstructure:"key_file"`
	ServerName         string              `mapstructure:"server_name_override"`
	MinVersion         string              `mapstructure:"min_version"`
	InsecureSkipVerify bool                `mapstructure:"insecure_skip_verify"`
}

// client is the collector's own form of the settings.
func (t TLS) client() configtls.ClientConfig {
	return configtls.ClientConfig{
		Config: configtls.Config{
			CAFile: t.CAFile, CAPem: t.CAPem, CertFile: t.CertFile, KeyFile: t.KeyFile, MinVersion: t.MinVersion,
			IncludeSystemCACertsPool: false,
		},
		ServerName: t.ServerName, InsecureSkipVerify: t.InsecureSkipVerify,
	}
}

// load reads the files that the settings name; nil where nothing is set, so
// that the SDK's own settings hold.
func (t TLS) load(ctx context.Context) (*tls.Config, error) {
	if t == (TLS{}) {
		return nil, nil
	}
	client := t.client()
	c, err := client.LoadTLSConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load `tls`: %w", err)
	}
	return c, nil
}

func (c *Config) validateTLS() error {
	if c.TLS == (TLS{}) {
		return nil
	}
	client := c.TLS.client()
	if err := client.Validate(); err != nil {
		return fmt.Errorf("`tls`: %w", err)
	}
	return nil
}
