package dial

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// CheckURLs names what is wrong with the URLs of servers under a key of the
// configuration: scheme, host and port, all with the same scheme, which is
// returned.
func CheckURLs(key string, urls []string, schemes ...string) (scheme string, err error) {
	form := strings.Join(schemes, "://host:port or ") + "://host:port"
	if len(urls) == 0 {
		return "", fmt.Errorf("`%s` is empty: it must name servers as %s", key, form)
	}
	for _, raw := range urls {
		u, err := url.Parse(raw)
		if err == nil && u.User != nil {
			return "", fmt.Errorf("`%s` (%q) must be %s: credentials have keys of their own", key, u.Redacted(), form)
		}
		if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" || u.Port() == "" || u.Scheme+"://"+u.Host != raw {
			return "", fmt.Errorf("`%s` (%q) must be %s: that is all there is to an address", key, raw, form)
		}
		if scheme != "" && u.Scheme != scheme {
			return "", fmt.Errorf("`%s` (%q) must all be %s, like the first: one setting of TLS is for all", key, raw, scheme)
		}
		scheme = u.Scheme
	}
	return scheme, nil
}

// CheckAddress names what is wrong with the address of a server.
func CheckAddress(key, address string) error {
	if address == "" {
		return fmt.Errorf("`%s` is empty: it must be host:port", key)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || port == "" || strings.Contains(address, "/") {
		return fmt.Errorf("`%s` (%q) must be host:port: there is no default port", key, address)
	}
	return nil
}
