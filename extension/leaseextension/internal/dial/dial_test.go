package dial

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOneConnectionForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened, closed := 0, 0
		l := NewLazy(func(context.Context) (int, error) {
			time.Sleep(time.Second)
			opened++
			return opened, nil
		}, func(int) error { closed++; return errors.New("close") })

		impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := l.Get(impatient)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		for range 3 {
			conn, err := l.Get(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, conn, "the attempt that nobody waited for went on")
		}
		require.EqualError(t, l.Close(), "close")
		require.NoError(t, l.Close())
		require.Equal(t, 1, closed)
		_, err = l.Get(t.Context())
		require.ErrorIs(t, err, ErrClosed)
	})
}

func TestFailedAttemptIsNotTheLast(t *testing.T) {
	attempts := 0
	down := errors.New("down")
	l := NewLazy(func(context.Context) (int, error) {
		if attempts++; attempts < 3 {
			return 0, down
		}
		return attempts, nil
	}, func(int) error { return nil })
	for _, want := range []error{down, down, nil} {
		_, err := l.Get(t.Context())
		require.ErrorIs(t, err, want)
	}
	require.NoError(t, l.Close())
}

func TestCloseEndsAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLazy(func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}, func(int) error { t.Error("closed what was never open"); return nil })
		waiting := make(chan error)
		go func() {
			_, err := l.Get(context.Background())
			waiting <- err
		}()
		synctest.Wait()
		require.NoError(t, l.Close())
		require.ErrorIs(t, <-waiting, context.Canceled)
	})
	require.NoError(t, NewLazy[int](nil, nil).Close(), "nothing was opened")
}

func TestCheckURLs(t *testing.T) {
	for want, urls := range map[string][]string{
		"":                           {"http://127.0.0.1:2379", "http://[::1]:2379"},
		"`endpoints` is empty: ":     {},
		"`endpoints` (\"a:1\") must": {"http://a:1", "a:1"},
		"`endpoints` (\"ftp://a:1\") must be http://host:port or https://host:port": {"ftp://a:1"},
		"`endpoints` (\"http://a\") must":                                           {"http://a"},
		"`endpoints` (\"http://:1\") must":                                          {"http://:1"},
		"`endpoints` (\"http://a:1/path\") must":                                    {"http://a:1/path"},
		"`endpoints` (\"http://a:%zz\") must":                                       {"http://a:%zz"},
		"`endpoints` (\"https://b:1\") must all be http":                            {"http://a:1", "https://b:1"},
	} {
		_, err := CheckURLs("endpoints", urls, "http", "https")
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
	_, err := CheckURLs("endpoints", []string{"http://user:secret@a:1"}, "http")
	require.EqualError(t, err, "`endpoints` (\"http://user:xxxxx@a:1\") must be http://host:port: credentials have keys of their own")
	scheme, err := CheckURLs("endpoints", []string{"https://a:1"}, "http", "https")
	require.NoError(t, err)
	require.Equal(t, "https", scheme)
}

func TestCheckAddress(t *testing.T) {
	require.NoError(t, CheckAddress("endpoint", "127.0.0.1:5432"))
	require.NoError(t, CheckAddress("endpoint", "[::1]:5432"))
	for address, want := range map[string]string{
		"":           "`endpoint` is empty: it must be host:port",
		"a":          "`endpoint` (\"a\") must be host:port: there is no default port",
		":1":         "`endpoint` (\":1\") must be host:port: there is no default port",
		"a:":         "`endpoint` (\"a:\") must be host:port: there is no default port",
		"http://a:1": "`endpoint` (\"http://a:1\") must be host:port: there is no default port",
	} {
		require.EqualError(t, CheckAddress("endpoint", address), want)
	}
}
