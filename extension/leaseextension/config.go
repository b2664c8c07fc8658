package leaseextension

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"

	"github.com/s3window/s3window/extension/leaseextension/internal/dynamodb"
	"github.com/s3window/s3window/extension/leaseextension/internal/etcd"
	"github.com/s3window/s3window/extension/leaseextension/internal/nats"
	"github.com/s3window/s3window/extension/leaseextension/internal/storage"
	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
	"github.com/s3window/s3window/extension/leaseextension/lease/s3"
)

const (
	minTTL = 2 * time.Second
	maxTTL = 10 * time.Minute
)

// Config is the extension's configuration: one block per backend, of which
// Backend names the one in use.
type Config struct {
	// Backend keeps the leases. It has no default: the wrong one for a fleet
	// would go unnoticed.
	Backend string `mapstructure:"backend"`
	// TTL is for how long a lease must be seen unchanged before it is taken over.
	TTL time.Duration `mapstructure:"ttl"`

	DynamoDB configoptional.Optional[dynamodb.Config] `mapstructure:"dynamodb"`
	Etcd     configoptional.Optional[etcd.Config]     `mapstructure:"etcd"`
	Memory   configoptional.Optional[memory.Config]   `mapstructure:"memory"`
	NATS     configoptional.Optional[nats.Config]     `mapstructure:"nats"`
	S3       configoptional.Optional[s3.Config]       `mapstructure:"s3"`
	Storage  configoptional.Optional[storage.Config]  `mapstructure:"storage"`

	// prevent unkeyed literal initialization
	_ struct{}
}

func createDefaultConfig() component.Config {
	return &Config{
		TTL:      lease.DefaultTTL,
		DynamoDB: configoptional.Default(dynamodb.DefaultConfig()),
		Etcd:     configoptional.Default(etcd.DefaultConfig()),
		Memory:   configoptional.Default(memory.Config{}),
		NATS:     configoptional.Default(nats.DefaultConfig()),
		S3:       configoptional.Default(s3.DefaultConfig()),
		Storage:  configoptional.Default(storage.Config{}),
	}
}

// Validate implements confmap.Validator.
func (c *Config) Validate() error {
	errs := []error{c.validateBackend(), validateTTL(c.TTL)}
	for _, b := range backends() {
		if check := b.block(c); check != nil {
			errs = append(errs, inBlock(b.name, check()))
		}
	}
	return errors.Join(errs...)
}

// inBlock puts the block's name in front of each line of err.
func inBlock(block string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(block + ": " + strings.ReplaceAll(err.Error(), "\n", "\n"+block+": "))
}

func (c *Config) validateBackend() error {
	b, ok := backendNamed(c.Backend)
	switch {
	case c.Backend == "":
		return fmt.Errorf("`backend` is empty: it must be one of %s", backendNames())
	case !ok:
		return fmt.Errorf("`backend` (%q) must be one of %s: there is no other", c.Backend, backendNames())
	case b.block(c) == nil:
		return fmt.Errorf("`%s` is missing: `backend` (%q) needs its block of that name", b.name, c.Backend)
	}
	return nil
}

func validateTTL(ttl time.Duration) error {
	switch {
	case ttl < minTTL || ttl > maxTTL:
		return fmt.Errorf("`ttl` (%v) must be %v to %v: below, one slow request loses the lease; above, a dead holder blocks too long", ttl, minTTL, maxTTL)
	case ttl%time.Millisecond != 0:
		return fmt.Errorf("`ttl` (%v) must be whole milliseconds: records carry no finer time", ttl)
	}
	return nil
}
