package sealed

import "fmt"

// Step is a step on the way of records to the bucket that can go wrong and is
// tried again. Its text stands in logs, status and metrics.
type Step string

// The steps, in the order in which a window meets them.
const (
	OpenLake   Step = "open lake"
	ReadHead   Step = "read head"
	ReadQueue  Step = "read"
	PutSeal    Step = "seal"
	Encode     Step = "encode"
	Upload     Step = "upload"
	Commit     Step = "commit"
	Trim       Step = "trim"
	DeleteSeal Step = "delete seal"
)

// Error says at which step a window stopped.
type Error struct {
	Step Step
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Step, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

func at(step Step, err error) error {
	if err == nil {
		return nil
	}
	return &Error{step, err}
}
