package load

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// entry is one line of the journal.
type entry struct {
	Request string         `json:"request"`
	State   string         `json:"state"`
	Records map[string]int `json:"records,omitempty"` // tenant -> how many; in "sent" only
}

// Journal appends to a journal. Its methods are safe for concurrent use, and a
// line is handed to the writer in one call before they return. It is not
// synced: the generator is not what gets killed.
type Journal struct {
	mu sync.Mutex // guards w: one line at a time
	w  io.Writer
}

// NewJournal makes a journal that appends to w.
func NewJournal(w io.Writer) *Journal { return &Journal{w: w} }

func (j *Journal) write(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("journal request %q: %w", e.Request, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("journal request %q: %w", e.Request, err)
	}
	return nil
}
