package encode

import "github.com/s3window/s3window/internal/encode/jsonl"

// linesVersion is what manifests say an object of JSON lines was encoded with.
const linesVersion = "s3window/0.1.0 klauspost-compress/1.20.4"

// newLines returns the encoder of format jsonl.
func newLines(s Spec) (*jsonl.Encoder, error) {
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
	return jsonl.New(c, ScratchBytes)
}

func (e *Encoder) stageLines(entries []Entry) (Staged, error) {
	s, err := e.lines.Stage(entries)
	if err != nil {
		return Staged{}, err
	}
	return Staged{
		lines: s.Segments, Rows: s.Rows, Bytes: s.Bytes, MinTime: s.MinTime, MaxTime: s.MaxTime, Replaced: s.Replaced,
	}, nil
}
