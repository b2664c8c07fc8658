package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

const maxRequestMiB = 1024

// validate says what is wrong with the flags, all at once.
func (r *replayFlags) validate() error {
	var errs []error
	if !(r.requestMB > 0 && r.requestMB <= maxRequestMiB) { // which NaN is not
		errs = append(errs, fmt.Errorf("-max-request-mib (%v) must be more than 0 and at most %d", r.requestMB, maxRequestMiB))
	}
	if r.receiver.Timeout <= 0 {
		errs = append(errs, fmt.Errorf("-timeout (%s) must be more than 0: how long one try of a request may take", r.receiver.Timeout))
	}
	if r.receiver.RetryFor < 0 {
		errs = append(errs, fmt.Errorf("-retry-for (%s) must not be negative; 0 = one try", r.receiver.RetryFor))
	}
	if r.From > 0 && r.To > 0 && r.From >= r.To {
		errs = append(errs, fmt.Errorf("-from (%s) must be before -to (%s): nothing lies between", stampText(r.From), stampText(r.To)))
	}
	return errors.Join(append(errs, r.validateEndpoint(), r.validateTLS())...)
}

func stampText(micros int64) string { return time.UnixMicro(micros).UTC().Format(time.RFC3339Nano) }

func (r *replayFlags) validateEndpoint() error {
	at := r.receiver.Endpoint
	if at == "" {
		if r.DryRun {
			return nil
		}
		return errors.New("name the receiver: -endpoint host:4317, or say -dry-run")
	}
	for _, scheme := range []string{"http://", "https://"} {
		if strings.HasPrefix(at, scheme) {
			return fmt.Errorf("-endpoint %q must be host:port of a gRPC receiver, without %s; its port is 4317 where nobody changed it", at, scheme)
		}
	}
	if strings.Contains(at, ":///") { // a resolver of gRPC's: dns:///host:port
		return nil
	}
	if _, port, err := net.SplitHostPort(at); err != nil || port == "" {
		return fmt.Errorf("-endpoint %q must be host:port of a gRPC receiver, such as %s:4317", at, strings.TrimSuffix(at, ":"))
	}
	return nil
}

func (r *replayFlags) validateTLS() error {
	if (r.tls.CertFile == "") != (r.tls.KeyFile == "") {
		return errors.New("-cert-file and -key-file belong together: give both")
	}
	if !r.tls.Insecure {
		return nil
	}
	var moot []string
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"-ca-file", r.tls.CAFile != ""}, {"-cert-file", r.tls.CertFile != ""}, {"-key-file", r.tls.KeyFile != ""},
		{"-server-name", r.tls.ServerName != ""}, {"-insecure-skip-verify", r.tls.InsecureSkipVerify},
	} {
		if f.set {
			moot = append(moot, f.name)
		}
	}
	if len(moot) > 0 {
		return fmt.Errorf("-insecure means no TLS: leave out %s, or -insecure", strings.Join(moot, ", "))
	}
	return nil
}

// numbers reads first:last, first:, :last or one number. 0 = open.
func numbers(s string) (first, last uint64, err error) {
	from, to, ranged := strings.Cut(s, ":")
	if !ranged {
		to = from
	}
	if from == "" && to == "" {
		return 0, 0, errors.New("names no number: write first:last, first:, :last or one number")
	}
	var errs [2]error
	first, errs[0] = number(from)
	last, errs[1] = number(to)
	if err := errors.Join(errs[:]...); err != nil {
		return 0, 0, err
	}
	if last > 0 && first > last {
		return 0, 0, fmt.Errorf("selects nothing: write the smaller number first, %d:%d", last, first)
	}
	return first, last, nil
}

func number(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is no number of a window", s)
	}
	return n, nil
}

// instant reads a time into microseconds.
func instant(to *int64) func(string) error {
	return func(s string) error {
		t, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return errors.New("not like 2006-01-02T15:04:05Z")
		}
		*to = t.UnixMicro()
		return nil
	}
}
