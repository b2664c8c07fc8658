package kuberneteslease

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var resource = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

// apiServer answers requests for the Leases of one namespace as an API server
// does: resource versions come from one counter, a wrong one is a conflict, an update
// must carry one, and an update of a Lease that does not exist creates it unless
// it carries a UID. Metadata is checked with Kubernetes' own validation.
type apiServer struct {
	token string // wanted of clients

	// mu guards everything declared below.
	mu      sync.Mutex
	version int
	leases  map[string]*v1.Lease
}

// serve starts a server and returns it with a kubeconfig for it. It speaks TLS,
// without which clients send no token.
func serve(t testing.TB) (*apiServer, string) {
	s := &apiServer{token: "secret-token", leases: map[string]*v1.Lease{}}
	server := httptest.NewTLSServer(s)
	t.Cleanup(server.Close)
	return s, kubeconfig(t, server, s.token)
}

// kubeconfig writes a file for clients of server.
func kubeconfig(t testing.TB, server *httptest.Server, token string) string {
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	cluster := map[string]any{"server": server.URL, "certificate-authority-data": authority}
	content, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "c",
		"clusters": []any{map[string]any{"name": "k", "cluster": cluster}},
		"users":    []any{map[string]any{"name": "u", "user": map[string]any{"token": token}}},
		"contexts": []any{map[string]any{"name": "c", "context": map[string]any{"cluster": "k", "user": "u"}}},
	})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := s.handle(r)
	if err != nil {
		status := err.Status()
		status.TypeMeta = meta.TypeMeta{Kind: "Status", APIVersion: "v1"}
		write(w, int(status.Code), status)
		return
	}
	write(w, http.StatusOK, answer)
}

func write(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

func (s *apiServer) handle(r *http.Request) (any, *apierrors.StatusError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+s.token {
		return nil, apierrors.NewUnauthorized("no token of mine")
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/apis/coordination.k8s.io/v1/namespaces/default/leases")
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "other")
	}
	name := strings.TrimPrefix(path, "/")
	var sent v1.Lease
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	switch {
	case r.Method == http.MethodPost:
		return s.create(&sent)
	case r.Method == http.MethodPut:
		return s.update(name, &sent)
	case r.Method == http.MethodDelete:
		return s.remove(name, r)
	case name == "":
		return s.list(r)
	}
	if found, ok := s.leases[name]; ok {
		return found, nil
	}
	return nil, apierrors.NewNotFound(resource, name)
}

func (s *apiServer) create(sent *v1.Lease) (any, *apierrors.StatusError) {
	if sent.ResourceVersion != "" {
		return nil, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	if _, ok := s.leases[sent.Name]; ok {
		return nil, apierrors.NewAlreadyExists(resource, sent.Name)
	}
	return s.store(sent, types.UID(fmt.Sprint("uid-", s.version)))
}

func (s *apiServer) update(name string, sent *v1.Lease) (any, *apierrors.StatusError) {
	found, ok := s.leases[name]
	switch {
	case sent.UID != "" && (!ok || found.UID != sent.UID):
		return nil, apierrors.NewConflict(resource, name, fmt.Errorf("precondition failed: UID in precondition: %s", sent.UID))
	case !ok:
		return s.store(sent, types.UID(fmt.Sprint("uid-", s.version)))
	case sent.ResourceVersion == "":
		return nil, apierrors.NewInvalid(v1.SchemeGroupVersion.WithKind("Lease").GroupKind(), name,
			field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), "", "must be specified for an update")})
	case sent.ResourceVersion != found.ResourceVersion:
		return nil, apierrors.NewConflict(resource, name, fmt.Errorf("the object has been modified"))
	}
	return s.store(sent, found.UID)
}

func (s *apiServer) store(sent *v1.Lease, uid types.UID) (any, *apierrors.StatusError) {
	sent.Namespace = "default"
	errs := validation.ValidateObjectMeta(&sent.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(v1.SchemeGroupVersion.WithKind("Lease").GroupKind(), sent.Name, errs)
	}
	s.version++
	sent.TypeMeta = meta.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1"}
	sent.UID, sent.ResourceVersion = uid, strconv.Itoa(s.version)
	s.leases[sent.Name] = sent
	return sent, nil
}

func (s *apiServer) remove(name string, r *http.Request) (any, *apierrors.StatusError) {
	var options meta.DeleteOptions
	if err := json.NewDecoder(r.Body).Decode(&options); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	found, ok := s.leases[name]
	if !ok {
		return nil, apierrors.NewNotFound(resource, name)
	}
	if want := options.Preconditions; want != nil &&
		(want.UID != nil && *want.UID != found.UID || want.ResourceVersion != nil && *want.ResourceVersion != found.ResourceVersion) {
		return nil, apierrors.NewConflict(resource, name, fmt.Errorf("precondition failed"))
	}
	delete(s.leases, name)
	return meta.Status{TypeMeta: meta.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: meta.StatusSuccess}, nil
}

// list answers in pages of at most limit; continue is the first name of the next.
func (s *apiServer) list(r *http.Request) (any, *apierrors.StatusError) {
	query := r.URL.Query()
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	key, value, _ := strings.Cut(query.Get("labelSelector"), "=")
	var names []string
	for name, lease := range s.leases {
		if lease.Labels[key] == value && name >= query.Get("continue") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	found := v1.LeaseList{TypeMeta: meta.TypeMeta{Kind: "LeaseList", APIVersion: "coordination.k8s.io/v1"}}
	found.ResourceVersion = strconv.Itoa(s.version)
	if limit = min(limit, 20); len(names) > limit {
		found.Continue, names = names[limit], names[:limit]
	}
	for _, name := range names {
		found.Items = append(found.Items, *s.leases[name])
	}
	return found, nil
}
