package kuberneteslease

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	v1 "k8s.io/api/coordination/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

const (
	domain = "leases.s3window.io/"

	groupLabel = domain + "group"

	nameAnnotation   = domain + "name"
	recordAnnotation = domain + "record"
	// base64Annotation takes the place of recordAnnotation for what is no valid
	// UTF-8 or has NUL bytes. A register's name, too, is then encoded.
	base64Annotation     = domain + "record-base64"
	nameBase64Annotation = domain + "name-base64"
)

// objectName is that of a register's Lease: the group and a hash of the whole
// name, for objects have lower-case names of few characters.
func (s *Store) objectName(key string) string {
	sum := sha256.Sum256([]byte(key))
	return s.group + "-" + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))
}

// encode makes the object. Its size is bounded by the 256 KiB that Kubernetes
// allows for annotations.
func (s *Store) encode(key string, value []byte) *v1.Lease {
	object := &v1.Lease{ObjectMeta: meta.ObjectMeta{
		Name: s.objectName(key), Labels: map[string]string{groupLabel: s.group}, Annotations: map[string]string{},
	}}
	annotate(object.Annotations, nameAnnotation, nameBase64Annotation, []byte(key))
	annotate(object.Annotations, recordAnnotation, base64Annotation, value)
	show(object, value)
	return object
}

func annotate(annotations map[string]string, plain, encoded string, value []byte) {
	if utf8.Valid(value) && !strings.ContainsRune(string(value), 0) {
		annotations[plain] = string(value)
		return
	}
	annotations[encoded] = base64.StdEncoding.EncodeToString(value)
}

func annotated(annotations map[string]string, plain, encoded string) ([]byte, error) {
	if value, ok := annotations[plain]; ok {
		return []byte(value), nil
	}
	value, ok := annotations[encoded]
	if !ok {
		return nil, fmt.Errorf("it has no annotation %s: it is another program's", plain)
	}
	decoded, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return nil, fmt.Errorf("decode annotation %s: %w", encoded, err)
	}
	return decoded, nil
}

// show puts the holder into the spec, where kubectl finds it.
func show(object *v1.Lease, value []byte) {
	var record struct {
		Lease *struct {
			Holder string `json:"holder"`
			TTL    int64  `json:"ttl_ms"`
		} `json:"lease"`
	}
	if json.Unmarshal(value, &record) != nil || record.Lease == nil || record.Lease.Holder == "" {
		return
	}
	object.Spec.HolderIdentity = &record.Lease.Holder
	if seconds := int32((record.Lease.TTL + 999) / 1000); seconds > 0 {
		object.Spec.LeaseDurationSeconds = &seconds
	}
}

func decode(object *v1.Lease) (lease.Record, error) {
	key, err := annotated(object.Annotations, nameAnnotation, nameBase64Annotation)
	if err != nil {
		return lease.Record{}, err
	}
	value, err := annotated(object.Annotations, recordAnnotation, base64Annotation)
	if err != nil {
		return lease.Record{}, err
	}
	if object.UID == "" || object.ResourceVersion == "" {
		return lease.Record{}, errors.New("it has no UID or no resource version")
	}
	return lease.Record{Key: string(key), Value: value, Revision: revision(object)}, nil
}

func revision(object *v1.Lease) string { return string(object.UID) + "/" + object.ResourceVersion }

// parts is the inverse of revision; ErrConflict for what revision never returns.
func parts(revision string) (uid types.UID, version string, err error) {
	before, after, found := strings.Cut(revision, "/")
	if !found || before == "" || after == "" {
		return "", "", lease.ErrConflict
	}
	return types.UID(before), after, nil
}
