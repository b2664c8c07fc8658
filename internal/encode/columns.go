package encode

import "strings"

// DefaultColumns returns the columns that are promoted where nothing else is
// configured: the attributes that most queries ask for. One that no record has
// costs next to nothing. Each has its key as name, with _ for the dots.
func DefaultColumns() []Column {
	var out []Column
	for _, key := range []string{
		"service.namespace", "service.instance.id", "service.version", "deployment.environment.name", "host.name",
		"k8s.namespace.name", "k8s.pod.name", "k8s.container.name", "k8s.node.name", "cloud.region",
	} {
		out = append(out, Column{ResourceAttribute: key, As: columnName(key), Type: "string"})
	}
	for _, key := range []string{
		"http.request.method", "http.response.status_code", "http.route", "url.path", "error.type", "exception.type",
		"db.system.name", "messaging.system", "rpc.system",
	} {
		c := Column{Attribute: key, As: columnName(key), Type: "string"}
		if key == "http.response.status_code" {
			c.Type = "int64"
		}
		out = append(out, c)
	}
	return out
}

func columnName(key string) string { return strings.ReplaceAll(key, ".", "_") }
