package partition

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
)

func withMetadata(md map[string][]string) context.Context {
	return client.NewContext(context.Background(), client.Info{Metadata: client.NewMetadata(md)})
}

func TestRules(t *testing.T) {
	rules := Rules{
		From:    []Rule{{ResourceAttribute: "tenant.id"}, {Metadata: "x-scope-orgid"}, {ResourceAttribute: "team"}},
		Default: "nobody",
	}
	for name, c := range map[string]struct {
		attributes map[string]any
		metadata   map[string][]string
		want       string
	}{
		"nothing":                     {nil, nil, "nobody"},
		"first rule":                  {map[string]any{"tenant.id": "a", "team": "c"}, map[string][]string{"x-scope-orgid": {"b"}}, "a"},
		"second rule":                 {map[string]any{"team": "c"}, map[string][]string{"x-scope-orgid": {"b"}}, "b"},
		"third rule":                  {map[string]any{"team": "c"}, nil, "c"},
		"empty is no value":           {map[string]any{"tenant.id": "", "team": ""}, map[string][]string{"x-scope-orgid": {""}}, "nobody"},
		"nil is no value":             {map[string]any{"tenant.id": nil}, nil, "nobody"},
		"metadata in any case":        {nil, map[string][]string{"X-Scope-OrgID": {"b"}}, "b"},
		"first non-empty of several":  {nil, map[string][]string{"x-scope-orgid": {"", "b", "c"}}, "b"},
		"attributes are case exact":   {map[string]any{"Tenant.ID": "a"}, nil, "nobody"},
		"integer":                     {map[string]any{"tenant.id": 42}, nil, "42"},
		"zero":                        {map[string]any{"tenant.id": 0}, nil, "0"},
		"bool":                        {map[string]any{"tenant.id": false}, nil, "false"},
		"double":                      {map[string]any{"tenant.id": 1.5}, nil, "1.5"},
		"bytes":                       {map[string]any{"tenant.id": []byte{1, 2, 3}}, nil, "AQID"},
		"list":                        {map[string]any{"tenant.id": []any{"a", 1}}, nil, `["a",1]`},
		"map":                         {map[string]any{"tenant.id": map[string]any{"b": 1, "a": "x"}}, nil, `{"a":"x","b":1}`},
		"hostile":                     {map[string]any{"tenant.id": "../x"}, nil, "../x"},
		"canonical":                   {map[string]any{"tenant.id": "\xff"}, nil, Tenant("\xff")},
		"canonical from the metadata": {nil, map[string][]string{"x-scope-orgid": {"\xff"}}, Tenant("\xff")},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSplitter(rules, Bounds{})
			for range 2 { // the second time the tenant is known
				parts, err := s.Logs(withMetadata(c.metadata), request(t, resource{c.attributes, []string{"x"}}))
				require.NoError(t, err)
				require.Len(t, parts, 1)
				assert.Equal(t, c.want, parts[0].Tenant)
			}
		})
	}
}

// authData is what an authenticator says of a client.
type authData map[string]any

func (a authData) GetAttribute(name string) any { return a[name] }

func (a authData) GetAttributeNames() []string { return slices.Sorted(maps.Keys(a)) }

func TestRulesOfAuth(t *testing.T) {
	rules := Rules{From: []Rule{{Auth: "subject"}, {Metadata: "x-tenant"}}, Default: "nobody"}
	for name, c := range map[string]struct {
		auth client.AuthData
		want string
	}{
		"no authenticator":     {nil, "header"},
		"another attribute":    {authData{"username": "a"}, "header"},
		"text":                 {authData{"subject": "a"}, "a"},
		"empty":                {authData{"subject": ""}, "header"},
		"texts":                {authData{"subject": []string{"", "b", "c"}}, "b"},
		"list":                 {authData{"subject": []any{nil, "", 7}}, "7"},
		"number":               {authData{"subject": int64(42)}, "42"},
		"truth value":          {authData{"subject": false}, "false"},
		"names are case exact": {authData{"Subject": "a"}, "header"},
		"neither":              {authData{"subject": struct{ secret string }{"x"}}, "header"},
		"hostile":              {authData{"subject": "\xff"}, Tenant("\xff")},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := client.NewContext(context.Background(), client.Info{
				Auth: c.auth, Metadata: client.NewMetadata(map[string][]string{"x-tenant": {"header"}}),
			})
			parts, err := NewSplitter(rules, Bounds{}).Logs(ctx, request(t, resource{nil, []string{"x"}}))
			require.NoError(t, err)
			require.Len(t, parts, 1)
			assert.Equal(t, c.want, parts[0].Tenant)
		})
	}
}

// A request of which nothing says whose a part of it is is refused whole; a
// resource without a record is nobody's.
func TestMissingTenants(t *testing.T) {
	rules := byAttribute()
	rules.Refuse = true
	s := NewSplitter(rules, Bounds{})
	none, empty := resource{bodies: []string{"x"}}, resource{}
	for _, in := range [][]resource{{none}, {tenant("a", "1"), none}, {none, tenant("a", "1")}, {tenant("", "1")}} {
		_, err := s.Logs(context.Background(), request(t, in...))
		var refusal *Refusal
		require.ErrorAs(t, err, &refusal)
		assert.Equal(t, Refusal{Cause: Missing}, *refusal)
	}
	parts, err := s.Logs(context.Background(), request(t, tenant("a", "1"), empty))
	require.NoError(t, err)
	assert.Len(t, parts, 1)
}

// Records that the default tenant has for want of a better one are counted,
// beside those that name it.
func TestMissingTenantsAreCounted(t *testing.T) {
	in := request(t, tenant("default", "1", "2"), resource{bodies: []string{"3"}}, tenant("a", "4"), tenant("", "5"))
	parts, err := NewSplitter(byAttribute(), Bounds{}).Logs(context.Background(), in)
	require.NoError(t, err)
	require.Len(t, parts, 2)
	assert.Equal(t, []int{4, 2}, []int{parts[0].Items, parts[0].Missing})
	assert.Equal(t, []int{1, 0}, []int{parts[1].Items, parts[1].Missing})
	parts, err = NewSplitter(Rules{Default: "all"}, Bounds{}).Logs(context.Background(), in)
	require.NoError(t, err)
	assert.Equal(t, []int{5, 0}, []int{parts[0].Items, parts[0].Missing}, "without a rule nothing is missing")
}
