package kuberneteslease

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// namespaceFile names the namespace that a pod is in.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

var label = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Config are the backend's keys, beside ttl. Without any, the collector is in a
// pod, uses its service account, and keeps leases in its namespace.
type Config struct {
	// Namespace of the Lease objects.
	Namespace string `mapstructure:"namespace"`
	// Group is a label of the objects: leases of two groups never meet.
	Group string `mapstructure:"group"`
	// Kubeconfig is a file with the server's address, TLS and credentials, for
	// collectors outside the cluster.
	Kubeconfig string `mapstructure:"kubeconfig"`
	// Context is the one of the file; empty: its current one.
	Context string `mapstructure:"context"`
}

// DefaultConfig returns the settings that apply where nothing is configured.
func DefaultConfig() Config { return Config{Group: "s3window"} }

// Check names everything that is wrong with the settings, one line each.
func (c *Config) Check() error {
	var errs []error
	if c.Namespace != "" && !label.MatchString(c.Namespace) {
		errs = append(errs, fmt.Errorf("`namespace` (%q) must be 1 to 63 of a-z 0-9 -, with a letter or digit at both ends: Kubernetes has no other names", c.Namespace))
	}
	if !label.MatchString(c.Group) {
		errs = append(errs, fmt.Errorf("`group` (%q) must be 1 to 63 of a-z 0-9 -, with a letter or digit at both ends: it is a label and begins the objects' names", c.Group))
	}
	if c.Kubeconfig == "" && c.Context != "" {
		errs = append(errs, errors.New("`context` is set without `kubeconfig`: contexts are in that file"))
	}
	if c.Kubeconfig != "" && c.Namespace == "" {
		errs = append(errs, errors.New("`namespace` is empty while `kubeconfig` is set: outside a pod there is none to take"))
	}
	return errors.Join(errs...)
}

// Open returns a store on the configured API server. It connects to nothing.
func Open(_ context.Context, cfg Config) (*Store, error) {
	settings, err := cfg.server()
	if err != nil {
		return nil, err
	}
	// Every request has its caller's deadline; a limit of the client's own would
	// only make leases wait for each other.
	settings.QPS = -1
	settings.UserAgent = "lease"
	settings.ContentType = "application/json"
	namespace := cfg.Namespace
	if namespace == "" {
		content, err := os.ReadFile(namespaceFile)
		if err != nil {
			return nil, fmt.Errorf("find the pod's namespace: %w", err)
		}
		namespace = strings.TrimSpace(string(content))
	}
	transport, err := rest.HTTPClientFor(settings)
	if err != nil {
		return nil, fmt.Errorf("make Kubernetes client: %w", err)
	}
	client, err := coordination.NewForConfigAndClient(settings, transport)
	if err != nil {
		return nil, fmt.Errorf("make Kubernetes client: %w", err)
	}
	return &Store{leases: client.Leases(namespace), transport: transport, group: cfg.Group}, nil
}

func (c *Config) server() (*rest.Config, error) {
	if c.Kubeconfig == "" {
		settings, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("use the pod's service account: %w", err)
		}
		return settings, nil
	}
	settings, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: c.Kubeconfig}, &clientcmd.ConfigOverrides{CurrentContext: c.Context},
	).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read `kubeconfig`: %w", err)
	}
	return settings, nil
}

// Close ends the connections that the store keeps open.
func (s *Store) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}
