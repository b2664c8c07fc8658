package encode

import (
	"github.com/s3window/s3window/internal/encode/idle"
	"github.com/s3window/s3window/internal/encode/jsonl"
)

// linesVersion is what manifests say an object of JSON lines was encoded with.
const linesVersion = "s3window/0.1.0 klauspost-compress/1.20.4"

// lineFormat makes JSON lines.
type lineFormat struct{ *jsonl.Encoder }

func newLineFormat(s Spec, keeper *idle.Keeper) (format, error) {
	e, err := jsonl.New(s.lines(), keeper, ScratchBytes)
	if err != nil {
		return nil, err
	}
	return lineFormat{e}, nil
}

// lines returns what JSON lines need of the Spec.
func (s Spec) lines() jsonl.Config {
	c := jsonl.Config{Signal: s.Signal, Codec: s.Codec, Level: s.Level}
	for _, col := range s.Columns {
		to := jsonl.Column{Place: jsonl.Record, Key: col.Attribute, As: col.As, Kind: col.kind()}
		switch {
		case col.ResourceAttribute != "":
			to.Place, to.Key = jsonl.Resource, col.ResourceAttribute
		case col.ScopeAttribute != "":
			to.Place, to.Key = jsonl.Scope, col.ScopeAttribute
		}
		c.Columns = append(c.Columns, to)
	}
	return c
}

// Version implements format.
func (lineFormat) Version() string { return linesVersion }

// Stage implements format.
func (f lineFormat) Stage(entries []Entry) (Staged, error) {
	s, err := f.Encoder.Stage(entries)
	if err != nil {
		return Staged{}, err
	}
	return Staged{
		content: content{lines: s.Segments}, Rows: s.Rows, Bytes: s.Bytes, Size: s.Bytes,
		MinTime: s.MinTime, MaxTime: s.MaxTime, Replaced: s.Replaced,
	}, nil
}

// Join implements format.
func (f lineFormat) Join(_ owner, content content) ([][]byte, error) {
	if len(content.lines) == 0 {
		return f.Empty()
	}
	return content.lines, nil
}
