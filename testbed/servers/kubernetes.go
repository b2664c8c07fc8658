package servers

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// The users of a Kubernetes by their tokens: one may do everything, the other what
// a test's Roles say.
const (
	KubernetesAdmin = "admin"
	KubernetesUser  = "collector"
)

// Kubernetes is an API server on an etcd of its own: a Kubernetes without nodes,
// controllers and schedulers.
type Kubernetes struct {
	*Server
	Etcd *Server
	cert *Certificate
}

// StartKubernetes starts etcd and kube-apiserver, which make kubernetes builds.
func StartKubernetes(t testing.TB) *Kubernetes {
	t.Helper()
	path, dir := binary(t, "kube-apiserver"), t.TempDir()
	k := &Kubernetes{Etcd: Etcd(t, Options{}), cert: NewCertificate(t)}
	tokens := filepath.Join(dir, "tokens.csv")
	content := fmt.Sprintf("%[1]s,%[1]s,1,\"system:masters\"\n%[2]s,%[2]s,2\n", KubernetesAdmin, KubernetesUser)
	if err := os.WriteFile(tokens, []byte(content), 0o600); err != nil {
		t.Fatalf("write tokens: %v", err)
	}
	k.Server = start(t, "kube-apiserver", func(address string) spec {
		host, port, _ := net.SplitHostPort(address)
		return spec{
			argv: []string{
				path, "--etcd-servers", "http://" + k.Etcd.Address, "--bind-address", host, "--secure-port", port, "--cert-dir", dir,
				"--tls-cert-file", k.cert.CertFile, "--tls-private-key-file", k.cert.KeyFile,
				"--token-auth-file", tokens, "--authorization-mode", "RBAC", "--disable-admission-plugins", "ServiceAccount",
				"--service-account-issuer", "https://" + address, "--service-account-key-file", k.cert.CertFile,
				"--service-account-signing-key-file", k.cert.KeyFile, "--service-cluster-ip-range", "10.0.0.0/24",
			},
			ready: readyz,
		}
	})
	return k
}

// readyz succeeds when the API server says that it is ready.
func readyz(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/readyz", nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("it says %s", resp.Status)
	}
	_ = resp.Body.Close()
	return err
}

// Kubeconfig writes a file for the clients of one of the users.
func (k *Kubernetes) Kubeconfig(t testing.TB, user string) string {
	t.Helper()
	content, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "c",
		"clusters": []any{map[string]any{"name": "k", "cluster": map[string]any{"server": "https://" + k.Address, "certificate-authority-data": k.cert.Cert}}},
		"users":    []any{map[string]any{"name": "u", "user": map[string]any{"token": user}}},
		"contexts": []any{map[string]any{"name": "c", "context": map[string]any{"cluster": "k", "user": "u"}}},
	})
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		t.Fatalf("write kubeconfig: %v", err)
	}
	return path
}
