package encode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/encode/decode"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/testbed/odd"
)

// oddSpecs are the formats that the corpus goes through, filed in one place and
// in many.
func oddSpecs(s partition.Signal) map[string]encode.Spec {
	filing := &encode.Filing{
		EventTime: true, MaxSkew: 1 << 60, Align: partition.AlignHour, By: []encode.Level{{Attribute: "key", As: "key"}}, MaxPlaces: 50,
	}
	columns := []encode.Column{{Attribute: "key", As: "promoted", Type: "string"}}
	out := map[string]encode.Spec{}
	for format, codec := range map[string]string{"parquet": "zstd", "jsonl": "none"} {
		spec := encode.Spec{Signal: s, Format: format, Codec: codec, Columns: columns}
		out[format] = spec
		spec.Filing = filing
		out[format+" filed"] = spec
	}
	return out
}

// oddObjects encodes entries and returns what Stage said and the objects.
func oddObjects(t testing.TB, e *encode.Encoder, s partition.Signal, payloads ...[]byte) (encode.Staged, []encode.Object) {
	var entries []encode.Entry
	for i, p := range payloads {
		entries = append(entries, encode.Entry{Payload: p, ReceivedAt: 1789990000123456 + int64(i)})
	}
	staged, err := e.Stage(entries)
	require.NoError(t, err)
	if staged.Rows == 0 {
		return staged, nil
	}
	plan := e.Plan(partition.Place{Time: 1789990000123456, Align: partition.AlignHour}, []encode.Staged{staged})
	var objects []encode.Object
	for i := range plan.Len() {
		of, err := plan.Objects(i, partition.ID{Sink: "s", Tenant: "t", Signal: s}, "aaaaaaaaaaaaa")
		require.NoError(t, err)
		objects = append(objects, of...)
	}
	return staged, objects
}

// oddRequests reads objects back as OTLP, and counts their records.
func oddRequests(t testing.TB, s partition.Signal, objects []encode.Object) (requests [][]byte, records int) {
	for _, o := range objects {
		content := bytes.Join(o.Segments, nil)
		if o.Ext == "jsonl" {
			lines := bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
			require.Len(t, lines, int(o.Records))
			for _, line := range lines {
				require.True(t, json.Valid(line), "%.200q", line)
			}
		}
		in := decode.Object{Content: bytes.NewReader(content), Size: int64(len(content)), Ext: o.Ext, Schema: encode.SchemaVersion()}
		require.NoError(t, decode.EachRequest(in, s, 1<<20, func(request []byte, n int) error {
			requests = append(requests, bytes.Clone(request))
			records += n
			return nil
		}))
	}
	return requests, records
}

// Whatever comes, between two good requests, the good ones are kept; of what is
// OTLP each record becomes a row, and comes back as a record, which makes the
// same row again.
func TestOddRequests(t *testing.T) {
	const plain = 3
	for _, s := range odd.Signals() {
		for name, spec := range oddSpecs(s) {
			t.Run(fmt.Sprint(s, " ", name), func(t *testing.T) {
				e, err := encode.New(spec)
				require.NoError(t, err)
				before, behind := odd.Plain(s, plain), odd.Plain(s, plain)
				for _, c := range odd.Cases(s) {
					staged, objects := oddObjects(t, e, s, before.Payload, c.Payload, behind.Payload)
					requests, records := oddRequests(t, s, objects)
					require.Equal(t, staged.Rows, records, c.Name)
					if !c.Valid {
						assert.GreaterOrEqual(t, staged.Rows, 2*plain, c.Name)
						continue
					}
					n, err := c.Records()
					require.NoError(t, err)
					assert.Equal(t, 2*plain+n, staged.Rows, c.Name)
					assert.Empty(t, staged.Rejected, c.Name)
					again, _ := oddObjects(t, e, s, requests...)
					assert.Equal(t, staged.Rows, again.Rows, "%s, again", c.Name)
					assert.Empty(t, again.Rejected, "%s, again", c.Name)
				}
			})
		}
	}
}

// FuzzOdd begins with the corpus and changes it: no format may lose a good
// neighbour, and all must agree on how many records there are.
func FuzzOdd(f *testing.F) {
	signals := odd.Signals()
	encoders := make([]map[string]*encode.Encoder, len(signals))
	for i, s := range signals {
		encoders[i] = map[string]*encode.Encoder{}
		for name, spec := range oddSpecs(s) {
			e, err := encode.New(spec)
			require.NoError(f, err)
			encoders[i][name] = e
		}
		for _, c := range odd.Cases(s) {
			if len(c.Payload) < 2000 {
				f.Add(uint8(i), c.Payload)
			}
		}
	}
	f.Fuzz(func(t *testing.T, signal uint8, payload []byte) {
		s := signals[int(signal)%len(signals)]
		plain := odd.Plain(s, 1).Payload
		c := odd.Case{Signal: s, Payload: payload}
		n, err := c.Records()
		for name, e := range encoders[int(signal)%len(signals)] {
			staged, objects := oddObjects(t, e, s, plain, payload, plain)
			_, records := oddRequests(t, s, objects)
			require.Equal(t, staged.Rows, records, name)
			require.GreaterOrEqual(t, staged.Rows, 2, name)
			if err == nil && len(staged.Rejected) == 0 {
				require.Equal(t, n+2, staged.Rows, name)
			}
		}
	})
}
