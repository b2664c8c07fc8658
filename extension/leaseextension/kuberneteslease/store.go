package kuberneteslease

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	v1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// page is how many objects List reads at once.
const page = 200

// Store is a lease.Store of Lease objects in one namespace.
//
// A revision is the object's UID and its resource version, which the API server
// takes from etcd's number of the write. The resource version alone would not do:
// a PUT of a Lease that does not exist creates it, whatever resource version it
// carries, and is refused only for its UID.
//
// An answer counts only if it is about the object that was asked for: a written
// one must come back as it was sent, a missing one be named. The client library
// takes a proxy's page with status 404 for a missing object, and {} for an empty
// one.
type Store struct {
	leases    coordination.LeaseInterface
	transport *http.Client
	group     string
}

// Get implements lease.Store. Without a resource version the API server
// reads through etcd's quorum, not from its cache.
func (s *Store) Get(ctx context.Context, key string) (lease.Record, error) {
	object, err := s.leases.Get(ctx, s.objectName(key), meta.GetOptions{})
	if s.missing(err, key) {
		return lease.Record{}, lease.ErrNotFound
	}
	if err != nil {
		return lease.Record{}, s.failed("get", key, err)
	}
	rec, err := decode(object)
	if err != nil {
		return lease.Record{}, s.failed("get", key, err)
	}
	if rec.Key != key {
		return lease.Record{}, s.failed("get", key, fmt.Errorf("it is the lease of %q", rec.Key))
	}
	return rec, nil
}

// missing tells whether the API server says that the register's object does not
// exist. That its namespace or the whole API does not is another thing, and what
// is not in the API's own form may be a proxy's.
func (s *Store) missing(err error, key string) bool {
	var answer apierrors.APIStatus
	if !apierrors.IsNotFound(err) || apierrors.IsUnexpectedServerError(err) || !errors.As(err, &answer) {
		return false
	}
	about := answer.Status().Details
	return about != nil && about.Kind == "leases" && about.Name == s.objectName(key)
}

// Put implements lease.Store.
//
// Crash before this: the old version. Crash after it: the new one, on the disks
// of a majority of etcd.
func (s *Store) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	object := s.encode(key, value)
	var written *v1.Lease
	var err error
	if ifRevision == "" {
		written, err = s.leases.Create(ctx, object, meta.CreateOptions{})
	} else {
		if object.UID, object.ResourceVersion, err = parts(ifRevision); err != nil {
			return "", err
		}
		written, err = s.leases.Update(ctx, object, meta.UpdateOptions{})
	}
	if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) || ifRevision != "" && s.missing(err, key) {
		return "", lease.ErrConflict
	}
	if err != nil {
		return "", s.failed("put", key, err)
	}
	if rec, err := decode(written); err != nil || rec.Key != key || !bytes.Equal(rec.Value, value) {
		return "", s.failed("put", key, errors.New("the answer does not have what was written: it may not be the API server's"))
	}
	return revision(written), nil
}

// Delete implements lease.Store.
func (s *Store) Delete(ctx context.Context, key, ifRevision string) error {
	uid, version, err := parts(ifRevision)
	if err != nil { // no version has it
		if _, lookErr := s.Get(ctx, key); lookErr != nil {
			return lookErr
		}
		return err
	}
	err = s.leases.Delete(ctx, s.objectName(key), meta.DeleteOptions{Preconditions: &meta.Preconditions{UID: &uid, ResourceVersion: &version}})
	switch {
	case s.missing(err, key):
		return lease.ErrNotFound
	case apierrors.IsConflict(err):
		return lease.ErrConflict
	case err != nil:
		return s.failed("delete", key, err)
	}
	// The client library does not look at the answer.
	switch _, err = s.Get(ctx, key); {
	case errors.Is(err, lease.ErrNotFound):
		return nil
	case err == nil:
		err = errors.New("the server says that it is deleted, and it is there")
	}
	return s.failed("look after deletion of", key, err)
}

// List implements lease.Store. It reads all leases of the group.
func (s *Store) List(ctx context.Context, prefix string) ([]lease.Record, error) {
	options := meta.ListOptions{LabelSelector: groupLabel + "=" + s.group, Limit: page}
	var records []lease.Record
	for {
		found, err := s.leases.List(ctx, options)
		if err == nil && found.ResourceVersion == "" {
			err = errors.New("the answer has no resource version: it may not be the API server's")
		}
		if err != nil {
			return nil, s.failed("list", prefix, err)
		}
		for i := range found.Items {
			rec, err := decode(&found.Items[i])
			if err != nil {
				return nil, s.failed("list", prefix, err)
			}
			if strings.HasPrefix(rec.Key, prefix) {
				records = append(records, rec)
			}
		}
		if options.Continue = found.Continue; options.Continue == "" {
			break
		}
	}
	slices.SortFunc(records, func(a, b lease.Record) int { return cmp.Compare(a.Key, b.Key) })
	return records, nil
}

func (s *Store) failed(verb, key string, err error) error {
	return fmt.Errorf("%s lease %q of %q: %w", verb, s.objectName(key), key, err)
}
