package lake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/s3window/s3window/internal/s3client"
)

const maxReason = 240

// Reason gives an error in the store's own words, short and on one line, for a
// status or a log: "403 AccessDenied: Access Denied.". It is empty for nil.
func Reason(err error) string {
	if err == nil {
		return ""
	}
	s := strings.Join(strings.Fields(reason(err)), " ")
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "") + "…"
	}
	return s + hint(err)
}

// hint says which setting may help, where the store's own words do not.
func hint(err error) string {
	switch status, code := statusOf(err); {
	case status == http.StatusNotImplemented:
		return " (if the store does not know checksums, set `s3::checksum: none`)"
	case code == "NoSuchBucket":
		return " (check `s3::bucket`)"
	case code == "PermanentRedirect", code == "AuthorizationHeaderMalformed", code == "IllegalLocationConstraintException":
		return " (check `s3::region`)"
	}
	return ""
}

func reason(err error) string {
	for _, known := range []error{ErrUnconditional, ErrNoParts, ErrIrreplaceable, ErrNoMetadata, ErrNotListed} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		s := api.ErrorCode()
		var status interface{ HTTPStatusCode() int }
		if errors.As(err, &status) && status.HTTPStatusCode() != 0 {
			s = fmt.Sprintf("%d %s", status.HTTPStatusCode(), s)
		}
		if msg := api.ErrorMessage(); msg != "" {
			s += ": " + msg
		}
		return s
	}
	if errors.Is(err, s3client.ErrUnproven) {
		return s3client.ErrUnproven.Error() + ": something between here and the store may have made it up"
	}
	for _, known := range []error{ErrExists, ErrNotExist, ErrChanged} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	var op *net.OpError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.As(err, &op):
		return op.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		return "the store did not answer in time"
	}
	return innermost(err).Error()
}

// innermost follows the first of every wrapped error.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		var many interface{ Unwrap() []error }
		if next == nil && errors.As(err, &many) && len(many.Unwrap()) > 0 {
			next = many.Unwrap()[0]
		}
		if next == nil {
			return err
		}
		err = next
	}
}
