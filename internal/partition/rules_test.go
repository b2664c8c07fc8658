package partition

import (
	"context"
	"fmt"
	"sync"
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
			s := NewSplitter(rules)
			for range 2 { // the second time the tenant is known
				parts, err := s.Logs(withMetadata(c.metadata), request(t, resource{c.attributes, []string{"x"}}))
				require.NoError(t, err)
				require.Len(t, parts, 1)
				assert.Equal(t, c.want, parts[0].Tenant)
			}
		})
	}
}

func TestMaxTenants(t *testing.T) {
	rules := byAttribute()
	rules.MaxTenants = 2
	s := NewSplitter(rules)
	ctx := context.Background()
	_, err := s.Logs(ctx, request(t, tenant("a", "1"), tenant("b", "1"), tenant("c", "1")))
	require.EqualError(t, err, "admit tenant \"c\": `tenant::max_tenants` (2) different tenants were seen since the start: "+
		"raise it, or check that the rules under `tenant::from` name a tenant and not a value without bounds")
	var limit *LimitError
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, LimitError{Tenant: "c", Limit: 2}, *limit)

	// The refused request left nothing behind: two others fit.
	_, err = s.Logs(ctx, request(t, tenant("x", "1"), tenant("y", "1")))
	require.NoError(t, err)
	// Known ones are taken for ever, also beside a group without a record.
	_, err = s.Logs(ctx, request(t, tenant("y", "1"), tenant("z"), tenant("x", "1")))
	require.NoError(t, err)
	_, err = s.Logs(ctx, request(t, tenant("x", "1"), tenant("a", "1")))
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, "a", limit.Tenant)
}

func TestMaxTenantsUnderConcurrency(t *testing.T) {
	rules := byAttribute()
	rules.MaxTenants = 10
	s := NewSplitter(rules)
	var mu sync.Mutex
	admitted := map[string]bool{}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 40 {
				name := fmt.Sprint((i + j) % 40)
				_, err := s.Logs(context.Background(), request(t, tenant(name, "x")))
				if err == nil {
					mu.Lock()
					admitted[name] = true
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	assert.Len(t, admitted, 10)
}
