package judge

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Journal is what a load generator wrote down, and how often each of its
// records was seen.
type Journal struct {
	requests map[string]*request
}

type request struct {
	acked bool
	seen  map[string][]uint8 // tenant -> count per record, saturating
}

// ReadJournal reads the journals in rs, one after the other. A last line that
// is cut short is the trace of a killed generator and is skipped; any other
// line that is no entry is an error.
func ReadJournal(rs ...io.Reader) (*Journal, error) {
	j := &Journal{requests: map[string]*request{}}
	for _, r := range rs {
		if err := j.read(r); err != nil {
			return nil, err
		}
	}
	return j, nil
}

func (j *Journal) read(r io.Reader) error {
	br := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := br.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read journal: %w", err)
		}
		if err := j.add(line); err != nil {
			return fmt.Errorf("journal line %d: %w", n, err)
		}
	}
}

func (j *Journal) add(line []byte) error {
	var e struct {
		Request, State string
		Records        map[string]int
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	known := j.requests[e.Request]
	switch {
	case e.State == "sent" && known == nil:
		known = &request{seen: map[string][]uint8{}}
		for tenant, n := range e.Records {
			known.seen[tenant] = make([]uint8, n)
		}
		j.requests[e.Request] = known
	case e.State == "sent":
		return fmt.Errorf("request %q was sent twice", e.Request)
	case known == nil:
		return fmt.Errorf("request %q is %s but was never sent", e.Request, e.State)
	case e.State == "acked":
		known.acked = true
	case e.State != "unknown":
		return fmt.Errorf("unknown state %q", e.State)
	}
	return nil
}

// Acked returns how many records were acknowledged.
func (j *Journal) Acked() int64 {
	var n int64
	for _, r := range j.requests {
		if r.acked {
			n += r.records()
		}
	}
	return n
}

func (r *request) records() int64 {
	var n int64
	for _, seen := range r.seen {
		n += int64(len(seen))
	}
	return n
}

// find returns the counter of the record with an id, and its tenant.
func (j *Journal) find(id string) (seen *uint8, tenant string, ok bool) {
	name, rest, ok := strings.Cut(id, "/")
	if !ok {
		return nil, "", false
	}
	cut := strings.LastIndexByte(rest, '/')
	if cut < 0 {
		return nil, "", false
	}
	tenant = rest[:cut]
	r := j.requests[name]
	n, err := strconv.Atoi(rest[cut+1:])
	if r == nil || err != nil || n < 0 || n >= len(r.seen[tenant]) {
		return nil, "", false
	}
	return &r.seen[tenant][n], tenant, true
}
