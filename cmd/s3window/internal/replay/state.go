package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/s3window/s3window/internal/partition"
)

// State is how far a replay has come: a JSON file that it can be resumed from.
// A State without a path remembers nothing beyond the run.
type State struct {
	path string
	file stateFile
}

type stateFile struct {
	Version   int               `json:"version"`
	Lake      string            `json:"lake"`
	To        string            `json:"to"`
	Selection string            `json:"selection"`
	Sent      map[string]uint64 `json:"sent"` // partition -> k of its last window sent
}

const stateVersion = 1

// OpenState reads the state at path, or starts one if there is none. It refuses
// that of another replay: of another lake, to another receiver, of another
// selection of windows.
func OpenState(path, lake, to string, s Selection) (*State, error) {
	fresh := stateFile{Version: stateVersion, Lake: lake, To: to, Selection: s.String(), Sent: map[string]uint64{}}
	state := &State{path: path, file: fresh}
	if path == "" {
		return state, nil
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	state.file = stateFile{}
	if err := json.Unmarshal(b, &state.file); err != nil {
		return nil, fmt.Errorf("read state %q: %w", path, err)
	}
	if state.file.Version != stateVersion {
		return nil, fmt.Errorf("read state %q: it has version %d, this tool knows %d", path, state.file.Version, stateVersion)
	}
	for _, c := range []struct{ what, is, want string }{
		{"lake", state.file.Lake, fresh.Lake}, {"receiver", state.file.To, fresh.To}, {"selection", state.file.Selection, fresh.Selection},
	} {
		if c.is != c.want {
			return nil, fmt.Errorf("state %q is of another replay, with the %s %q instead of %q: name another file", path, c.what, c.is, c.want)
		}
	}
	if state.file.Sent == nil {
		state.file.Sent = map[string]uint64{}
	}
	return state, nil
}

// Sent returns the last window of a partition that was sent; 0 = none.
func (s *State) Sent(id partition.ID) uint64 { return s.file.Sent[id.String()] }

// Save remembers that window k and those before it were sent. It returns only
// after that is durable.
//
// Crash before this: the window is sent again. Crash after it: it is not.
func (s *State) Save(id partition.ID, k uint64) error {
	s.file.Sent[id.String()] = k
	return s.write()
}

func (s *State) write() error {
	if s.path == "" {
		return nil
	}
	b, err := json.MarshalIndent(s.file, "", "  ")
	if err != nil {
		return err
	}
	if err := replaceFile(s.path, append(b, '\n')); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

// replaceFile writes a file so that after a crash it is the old or the new one.
func replaceFile(path string, content []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		f.Close()
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
