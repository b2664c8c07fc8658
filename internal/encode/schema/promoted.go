package schema

import "strings"

// Promoted is a promoted column: an attribute of resources or of records that
// has a column of its own.
type Promoted struct {
	Resource bool
	Key      string
	Type     Type
}

// Name returns the column's name.
func (p Promoted) Name() string { return strings.ReplaceAll(p.Key, ".", "_") }

// Defaults returns the columns that are promoted where nothing else is
// configured: the attributes that most queries ask for. One that no record has
// costs next to nothing.
func Defaults() (out []Promoted) {
	for _, key := range []string{
		"service.namespace", "service.instance.id", "service.version", "deployment.environment.name", "host.name",
		"k8s.namespace.name", "k8s.pod.name", "k8s.container.name", "k8s.node.name", "cloud.region",
	} {
		out = append(out, Promoted{Resource: true, Key: key, Type: TypeString})
	}
	for _, key := range []string{
		"http.request.method", "http.response.status_code", "http.route", "url.path", "error.type", "exception.type",
		"db.system.name", "messaging.system", "rpc.system",
	} {
		p := Promoted{Key: key, Type: TypeString}
		if key == "http.response.status_code" {
			p.Type = TypeInt64
		}
		out = append(out, p)
	}
	return out
}
