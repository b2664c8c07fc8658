package verify

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/s3window/s3window/internal/encode/jsonl"
	"github.com/s3window/s3window/internal/lake"
)

// facts is what an object's own content says.
type facts struct {
	bad  string // why it is not a file of its kind, or nothing
	rows int64

	// From a Parquet footer; the zero value where it does not say.
	tenant, signal, writer string

	// From a Parquet footer, or the lines of JSON; microseconds.
	bounded     bool
	minReceived int64
	maxReceived int64
}

// check compares the facts with what manifest m says of object o.
func (f facts) check(key string, m lake.Manifest, o lake.Object) []Finding {
	if f.bad != "" {
		return []Finding{found(Unreadable, o.Key, "is not a whole file of its kind: %s", f.bad)}
	}
	var out []Finding
	if f.rows != o.Records {
		out = append(out, found(WrongRows, o.Key, "has %d rows, but %s says %d", f.rows, key, o.Records))
	}
	for _, own := range []struct{ what, says, want string }{
		{"tenant", f.tenant, m.Tenant},
		{"signal", f.signal, string(m.Signal)},
		{"writer", f.writer, m.Writer},
	} {
		if own.says != "" && own.says != own.want {
			out = append(out, found(ForeignContent, o.Key, "says in its footer that it is of %s %q, but %s is of %q", own.what, own.says, key, own.want))
		}
	}
	if f.bounded && (f.minReceived < m.Start || f.maxReceived >= m.End) {
		out = append(out, found(OutOfBounds, o.Key, "holds records received in [%d, %d], but %s is the window [%d, %d)",
			f.minReceived, f.maxReceived, key, m.Start, m.End))
	}
	return out
}

// readFacts reads an object to its end. An error means that reading broke off;
// content that is wrong is in facts.bad. reopen gives the object from an
// offset on.
func readFacts(key string, r io.Reader, reopen func(off int64) (io.ReadCloser, error)) (facts, error) {
	_, ext, _ := strings.Cut(key[strings.LastIndexByte(key, '/')+1:], ".")
	source := &source{r: r}
	var f facts
	if ext == "parquet" {
		return readParquet(source, reopen)
	}
	lines, ok, err := jsonl.Open(ext, source)
	switch {
	case !ok:
		f.bad = fmt.Sprintf("suffix %q is none that is known", ext)
	case err == nil:
		err = f.lines(lines)
		lines.Close()
	}
	if err != nil && source.err == nil {
		f.bad = err.Error()
	}
	// What a decoder has left behind belongs to the hash too.
	if _, rest := io.Copy(io.Discard, source); rest != nil {
		return facts{}, rest
	}
	return f, nil
}

// source remembers whether reading itself failed, to tell that from content
// that does not decode.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
