package lease

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// recordVersion is the version of the record's format. A record of another
// version is neither used nor replaced.
const recordVersion = 1

// record is the content of a lease's register: one flat JSON object
//
//	{"version":1,"epoch":…,"write":"…","lease":{"holder":"…","ttl_ms":…}, fields of the state …}
//
// "lease" is absent while the lease is free. The random write id makes every
// version distinct and lets a writer recognise its own.
type record struct {
	epoch uint64
	write string
	lease *grant // nil: free
	state []byte // JSON object, nil if it has no field
}

type grant struct {
	holder string
	ttl    time.Duration
}

type grantJSON struct {
	Holder string `json:"holder"`
	TTL    int64  `json:"ttl_ms"`
}

// newWriteID returns 128 random bits in lower-case base32.
func newWriteID() string { return strings.ToLower(rand.Text()) }

// encode returns the record's bytes. Equal records encode equally.
func (r record) encode() []byte {
	var b bytes.Buffer
	b.Grow(192 + len(r.state))
	fmt.Fprintf(&b, `{"version":%d,"epoch":%d,"write":%s`, recordVersion, r.epoch, quote(r.write))
	if r.lease != nil {
		fmt.Fprintf(&b, `,"lease":{"holder":%s,"ttl_ms":%d}`, quote(r.lease.holder), r.lease.ttl.Milliseconds())
	}
	if len(r.state) > 2 {
		b.WriteByte(',')
		b.Write(r.state[1 : len(r.state)-1])
	}
	b.WriteByte('}')
	return b.Bytes()
}

// decodeRecord reads what encode wrote. It refuses other versions, missing or
// repeated keys and values out of range.
func decodeRecord(value []byte) (record, error) {
	fields, err := splitObject(value)
	if err != nil {
		return record{}, err
	}
	version, fields := take(fields, "version")
	if n, err := strconv.ParseInt(string(version), 10, 64); err != nil || n != recordVersion {
		return record{}, fmt.Errorf("version is %q, not %d: the record belongs to another release or is no lease", clip(version), recordVersion)
	}
	var r record
	epoch, fields := take(fields, "epoch")
	if r.epoch, err = strconv.ParseUint(string(epoch), 10, 62); err != nil {
		return record{}, fmt.Errorf("epoch is %q, not a number from 0 to 2^62-1", clip(epoch))
	}
	write, fields := take(fields, "write")
	if r.write, err = unquote(write); err != nil || r.write == "" {
		return record{}, fmt.Errorf("write is %q, not a non-empty string", clip(write))
	}
	lease, fields := take(fields, "lease")
	if r.lease, err = decodeGrant(lease); err != nil {
		return record{}, err
	}
	r.state = joinObject(fields)
	return r, nil
}

func decodeGrant(value []byte) (*grant, error) {
	if value == nil {
		return nil, nil
	}
	var g *grantJSON
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&g); err != nil || g == nil {
		return nil, fmt.Errorf("lease is %q, not {holder, ttl_ms}", clip(value))
	}
	if g.TTL <= 0 || g.TTL > math.MaxInt64/int64(time.Millisecond) {
		return nil, fmt.Errorf("lease.ttl_ms is %d, not a positive duration", g.TTL)
	}
	return &grant{holder: g.Holder, ttl: time.Duration(g.TTL) * time.Millisecond}, nil
}

// canonicalState checks a caller's state and returns it compact, nil if it has
// no field.
func canonicalState(state []byte) ([]byte, error) {
	if len(state) > MaxState {
		return nil, fmt.Errorf("state has %d bytes, the limit is %d", len(state), MaxState)
	}
	fields, err := splitObject(state)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	for _, f := range fields {
		switch f.key {
		case "version", "epoch", "write", "lease":
			return nil, fmt.Errorf("state: the key %q is reserved", f.key)
		}
	}
	return joinObject(fields), nil
}

type field struct {
	key   string
	value []byte // compact JSON
}

// splitObject returns the fields of a JSON object in order. It refuses repeated
// keys and anything behind the object.
func splitObject(value []byte) ([]field, error) {
	errShape := errors.New("not a JSON object")
	if !json.Valid(value) || bytes.TrimLeft(value, " \t\r\n")[0] != '{' {
		return nil, errShape
	}
	dec := json.NewDecoder(bytes.NewReader(value))
	if _, err := dec.Token(); err != nil {
		return nil, errShape
	}
	var fields []field
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return nil, errShape
		}
		if seen[key] {
			return nil, fmt.Errorf("the key %q is there twice", key)
		}
		seen[key] = true
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, errShape
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, raw); err != nil {
			return nil, errShape
		}
		fields = append(fields, field{key: key, value: compact.Bytes()})
	}
	return fields, nil
}

// joinObject is the inverse of splitObject. It returns nil for no field.
func joinObject(fields []field) []byte {
	if len(fields) == 0 {
		return nil
	}
	var b bytes.Buffer
	for i, f := range fields {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(quote(f.key))
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// take returns the value of key, nil if it is missing, and the other fields.
func take(fields []field, key string) ([]byte, []field) {
	i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
	if i < 0 {
		return nil, fields
	}
	return fields[i].value, slices.Delete(slices.Clone(fields), i, i+1)
}

// quote returns s as a JSON string, without escaping for HTML.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func unquote(value []byte) (string, error) {
	var s string
	err := json.Unmarshal(value, &s)
	return s, err
}

// clip shortens foreign bytes for an error.
func clip(value []byte) []byte { return value[:min(len(value), 40)] }
