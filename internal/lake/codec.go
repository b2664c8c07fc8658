package lake

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/s3window/s3window/internal/partition"
)

// Encode returns the manifest's canonical bytes: one line of JSON, the fields
// in their order, times in UTC to the microsecond. It refuses a manifest that
// DecodeManifest would refuse.
func (m Manifest) Encode() ([]byte, error) {
	m.CommittedAt = m.CommittedAt.UTC().Truncate(time.Microsecond)
	if m.Objects == nil {
		m.Objects = []Object{}
	}
	if m.Lost == nil {
		m.Lost = []Lost{}
	}
	if m.Columns == nil && m.Version > 1 {
		m.Columns = []Column{}
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return b.Bytes(), nil
}

// DecodeManifest reads what Encode wrote, and nothing else: another version,
// an unknown or missing field, a value out of its range, sums that do not hold
// or bytes in another form are errors that name what is wrong. So a manifest
// has one reading only, and equal manifests are equal bytes.
func DecodeManifest(b []byte) (Manifest, error) {
	var v struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return Manifest{}, fmt.Errorf("decode manifest: %w", err)
	}
	switch {
	case v.Version == nil:
		return Manifest{}, errors.New("decode manifest: there is no version")
	case *v.Version > ManifestVersion:
		return Manifest{}, fmt.Errorf("decode manifest: version %d is above %d: a newer release wrote it", *v.Version, ManifestVersion)
	}
	var m Manifest
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("decode manifest: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Manifest{}, errors.New("decode manifest: something stands behind it")
	}
	if err := m.check(); err != nil {
		return Manifest{}, fmt.Errorf("decode manifest: %w", err)
	}
	if canonical, err := m.Encode(); err != nil || !bytes.Equal(canonical, b) {
		return Manifest{}, errors.New("decode manifest: a field is missing, doubled or not in its canonical form")
	}
	return m, nil
}

// check says the first thing that is wrong with the manifest.
func (m Manifest) check() error {
	for _, f := range []struct {
		wrong bool
		why   string
	}{
		{m.Version < 1 || m.Version > ManifestVersion, fmt.Sprintf("version %d is not 1 to %d", m.Version, ManifestVersion)},
		{m.Sink == "", "sink is empty"},
		{!utf8.ValidString(m.Sink), "sink is not UTF-8"},
		{!utf8.ValidString(m.Tenant), "tenant is not UTF-8"},
		{m.K == 0, "k is 0: the first manifest is 1"},
		{!isWriter(m.Writer), fmt.Sprintf("writer %q is not 13 of a-z 2-7", m.Writer)},
		{m.After > m.Start, fmt.Sprintf("after %d is behind start %d", m.After, m.Start)},
		{m.Start >= m.End, fmt.Sprintf("start %d is not before end %d", m.Start, m.End)},
		{m.Reason == "", "reason is empty"},
		{m.Format == "", "format is empty"},
		{m.Schema < 1, fmt.Sprintf("schema %d is below 1", m.Schema)},
		{m.RawBytes < 0, fmt.Sprintf("raw_bytes %d is negative", m.RawBytes)},
		{m.MinTime > m.MaxTime, fmt.Sprintf("min_time %d is behind max_time %d", m.MinTime, m.MaxTime)},
		{m.CommittedAt.IsZero(), "committed_at is missing"},
		{m.CommittedAt.Year() > 9999, "committed_at is out of range"},
	} {
		if f.wrong {
			return errors.New(f.why)
		}
	}
	if _, err := partition.ParseSignal(string(m.Signal)); err != nil {
		return err
	}
	if err := m.checkWriters(); err != nil {
		return err
	}
	if err := m.checkColumns(); err != nil {
		return err
	}
	if err := m.checkPrev(); err != nil {
		return err
	}
	return m.checkObjects()
}

func (m Manifest) checkColumns() error {
	if m.Version == 1 && m.Columns != nil {
		return errors.New("columns are not of version 1")
	}
	names := map[string]bool{}
	for _, c := range m.Columns {
		switch {
		case c.Name == "" || !utf8.ValidString(c.Name):
			return fmt.Errorf("columns: the name %q is empty or not UTF-8", c.Name)
		case names[c.Name]:
			return fmt.Errorf("columns: %q is there twice", c.Name)
		case !slices.Contains([]string{"string", "int64", "double", "bool"}, c.Type):
			return fmt.Errorf("columns: %q has the type %q", c.Name, c.Type)
		}
		names[c.Name] = true
	}
	return nil
}

// checkWriters says what is wrong with the writers as far as the manifest alone
// tells: the rest is for whoever knows the commit log before it.
func (m Manifest) checkWriters() error {
	if m.Version == 1 {
		if m.Writers != nil {
			return errors.New("writers are not of version 1")
		}
		return nil
	}
	if own := (Reach{m.End, m.K}); m.Writers[m.Writer] != own {
		return fmt.Errorf("writers says %v of the window's own writer, in place of %v", m.Writers[m.Writer], own)
	}
	newest := make(map[uint64]string, len(m.Writers))
	for name, r := range m.Writers {
		switch {
		case !isWriter(name):
			return fmt.Errorf("writers: %q is not 13 of a-z 2-7", name)
		case r.End <= 0:
			return fmt.Errorf("writers: %s ends at %d", name, r.End)
		case r.K == 0 || r.K > m.K || m.K-r.K >= Span:
			return fmt.Errorf("writers: window %d of %s is not one of the %d up to %d", r.K, name, Span, m.K)
		case newest[r.K] != "":
			return fmt.Errorf("writers: window %d is of %s and of %s", r.K, min(name, newest[r.K]), max(name, newest[r.K]))
		}
		newest[r.K] = name
	}
	return nil
}

func (m Manifest) checkPrev() error {
	switch {
	case m.K == 1 && m.Prev != nil:
		return errors.New("prev stands in the first manifest")
	case m.K > 1 && m.Prev == nil:
		return fmt.Errorf("prev is missing in manifest %d", m.K)
	case m.Prev == nil:
		return nil
	case m.Prev.K != m.K-1:
		return fmt.Errorf("prev.k %d is not %d", m.Prev.K, m.K-1)
	case m.Prev.Key == "":
		return errors.New("prev.key is empty")
	case !isSHA256(m.Prev.SHA256):
		return fmt.Errorf("prev.sha256 %q is not 64 hex digits", m.Prev.SHA256)
	}
	return nil
}

func (m Manifest) checkObjects() error {
	var records, size int64
	seen := make(map[string]bool, len(m.Objects))
	for i, o := range m.Objects {
		switch {
		case o.Key == "":
			return fmt.Errorf("objects[%d].key is empty", i)
		case seen[o.Key]:
			return fmt.Errorf("objects[%d].key %q is there twice", i, o.Key)
		case o.Bytes < 0 || o.Records < 0:
			return fmt.Errorf("objects[%d]: %d bytes, %d records: negative", i, o.Bytes, o.Records)
		case !isSHA256(o.SHA256):
			return fmt.Errorf("objects[%d].sha256 %q is not 64 hex digits", i, o.SHA256)
		case o.Encoder == "":
			return fmt.Errorf("objects[%d].encoder is empty", i)
		case o.MinTime > o.MaxTime:
			return fmt.Errorf("objects[%d].min_time %d is behind max_time %d", i, o.MinTime, o.MaxTime)
		}
		seen[o.Key] = true
		records += o.Records
		size += o.Bytes
	}
	if records != m.Records {
		return fmt.Errorf("records is %d, but the objects hold %d", m.Records, records)
	}
	if size != m.Bytes {
		return fmt.Errorf("bytes is %d, but the objects hold %d", m.Bytes, size)
	}
	return nil
}

func isWriter(s string) bool {
	return len(s) == 13 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

func isSHA256(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 32 && strings.ToLower(s) == s
}
