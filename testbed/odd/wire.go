package odd

import (
	"bytes"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/s3window/s3window/internal/partition"
)

// message is a field of a message, which has the parts in it.
func message(field protowire.Number, parts ...[]byte) []byte {
	b := protowire.AppendTag(nil, field, protowire.BytesType)
	return protowire.AppendBytes(b, bytes.Join(parts, nil))
}

func text(field protowire.Number, s string) []byte { return message(field, []byte(s)) }

func varint(field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), n)
}

func fixed32(field protowire.Number, n uint32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(nil, field, protowire.Fixed32Type), n)
}

func fixed64(field protowire.Number, n uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, field, protowire.Fixed64Type), n)
}

// attribute is a KeyValue in a field.
func attribute(field protowire.Number, key string, value ...[]byte) []byte {
	return message(field, text(1, key), message(2, value...))
}

// shape is where the records of a signal stand.
type shape struct {
	attributes protowire.Number // field of a record's attributes
	time       protowire.Number // a fixed64 field of a record
	record     func(parts ...[]byte) []byte
}

// shapes of requests with one record, which has the parts in it. A record of
// metrics is a point of a gauge.
func shapeOf(s partition.Signal) shape {
	request := func(parts ...[]byte) []byte { return message(1, message(2, message(2, parts...))) }
	switch s {
	case partition.Traces:
		return shape{attributes: 9, time: 7, record: request}
	case partition.Metrics:
		return shape{attributes: 7, time: 3, record: func(parts ...[]byte) []byte {
			return request(text(1, "m"), message(5, message(1, parts...)))
		}}
	}
	return shape{attributes: 6, time: 1, record: request}
}

// wire are valid requests that pdata reads and does not write: what other
// programs send.
func wire(s partition.Signal) []Case {
	x := shapeOf(s)
	one := x.record(fixed64(x.time, 7))
	cases := map[string][]byte{
		"nothing at all":                      nil,
		"an empty resource":                   message(1),
		"a resource without scopes":           message(1, message(1, attribute(1, "a", text(1, "b")))),
		"a scope without records":             message(1, message(2, message(1, text(1, "scope")))),
		"an empty record":                     x.record(),
		"unknown fields everywhere":           bytes.Join([][]byte{varint(99, 1), one, text(1000, "x"), x.record(fixed64(x.time, 1), fixed32(777, 1), fixed64(778, 1), text(779, "y"))}, nil),
		"a field given twice":                 x.record(fixed64(x.time, 1), fixed64(x.time, 2)),
		"a resource in two pieces":            message(1, message(1, attribute(1, "a", text(1, "1"))), message(1, attribute(1, "b", text(1, "2"))), message(2, message(2))),
		"the scope behind its records":        message(1, message(2, message(2), message(1, text(1, "late")))),
		"the resource behind its scopes":      message(1, message(2, message(2)), message(1, attribute(1, "service.name", text(1, "late")))),
		"an attribute without a value":        x.record(message(x.attributes, text(1, "key"))),
		"an attribute with an empty value":    x.record(attribute(x.attributes, "key")),
		"an attribute without a key":          x.record(message(x.attributes, message(2, text(1, "value")))),
		"an attribute with nothing":           x.record(message(x.attributes)),
		"a value of two kinds":                x.record(attribute(x.attributes, "key", text(1, "text"), varint(3, 7))),
		"a key that is no UTF-8":              x.record(attribute(x.attributes, "\xff\xfe\x00", text(1, "\xc3"))),
		"a varint that is longer than needed": append(x.record(), 0x80|1<<3|2, 0x00, 0x00),
		"ten thousand attributes":             x.record(bytes.Repeat(attribute(x.attributes, "same", text(1, "v")), 10_000)),
		"a deep value":                        x.record(attribute(x.attributes, "deep", nested(30))),
		"a long name":                         x.record(attribute(x.attributes, strings.Repeat("k", 70_000), text(1, "v"))),
		"a megabyte of text":                  x.record(attribute(x.attributes, "big", text(1, strings.Repeat("\u20ac", 350_000)))),
		"many resources with one record":      bytes.Repeat(one, 3000),
	}
	return list(s, cases, true)
}

// nested is a value of lists in lists.
func nested(depth int) []byte {
	value := text(1, "end")
	for range depth {
		value = message(5, message(1, value))
	}
	return value
}

// malformed are requests that are not OTLP.
func malformed(s partition.Signal) []Case {
	x := shapeOf(s)
	one := x.record(fixed64(x.time, 7), attribute(x.attributes, "a", text(1, "b")))
	cases := map[string][]byte{
		"it ends in a tag":               append(bytes.Clone(one), 0x80),
		"it ends in a length":            append(bytes.Clone(one), 0x0a, 0xff),
		"a length beyond the end":        append(bytes.Clone(one), 0x0a, 0x05, 0x00),
		"a length of nearly 2^63":        append(bytes.Clone(one), 0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
		"a varint of eleven bytes":       append(bytes.Clone(one), 0x98, 0x06, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
		"it is cut in its record":        one[:len(one)-3],
		"field number 0":                 append(bytes.Clone(one), 0x02, 0x00),
		"a wire type that is none":       append(bytes.Clone(one), 0x0f),
		"resources as a number":          varint(1, 5),
		"a scope as a number":            message(1, varint(2, 5)),
		"a record as a number":           message(1, message(2, varint(2, 5))),
		"attributes as a number":         x.record(varint(x.attributes, 5)),
		"a time as a text":               x.record(text(x.time, "now")),
		"a time that is cut":             message(1, message(2, message(2, fixed64(1, 7)[:5]))),
		"a value that is cut":            x.record(attribute(x.attributes, "k", []byte{0x0a, 9, 'x'})),
		"a double of two bytes":          x.record(attribute(x.attributes, "k", []byte{0x21, 1, 2})),
		"text where a request should be": []byte("POST /v1/logs HTTP/1.1\r\n\r\n{}"),
		"a value nested too deep":        x.record(attribute(x.attributes, "deep", nested(400))),
		"JSON":                           []byte(`{"resourceLogs":[]}`),
		"zeros":                          make([]byte, 64),
		"gzip":                           {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff},
	}
	return list(s, cases, false)
}
