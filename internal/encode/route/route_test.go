package route

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/partition"
)

const received = int64(1791009458377856) // 2026-10-03T06:37:38Z

// placeOf is the oracle: the place of a record as the documentation has it.
func placeOf(rule Rule, o one, received int64) Place {
	p := Place{Period: Own}
	if rule.EventTime {
		at := received
		if o.time != 0 {
			at = int64(o.time / 1000)
		}
		if at >= received-rule.MaxSkew && at <= received+time.Hour.Microseconds() {
			p.Period = at / rule.length()
		}
	}
	for i, l := range rule.By {
		from, key := o.record, l.Attribute
		switch {
		case l.ResourceAttribute != "":
			from, key = o.resource, l.ResourceAttribute
		case l.ScopeAttribute != "":
			from, key = o.scope, l.ScopeAttribute
		}
		text := ""
		if v, ok := from.Get(key); ok {
			switch v.Type() {
			case pcommon.ValueTypeStr, pcommon.ValueTypeInt, pcommon.ValueTypeDouble, pcommon.ValueTypeBool:
				text = v.AsString()
			}
		}
		if i > 0 {
			p.Levels += "/"
		}
		p.Levels += partition.Level(l.As, text)
	}
	return p
}

func (r Rule) length() int64 {
	if r.Align == partition.AlignDay {
		return 24 * time.Hour.Microseconds()
	}
	return time.Hour.Microseconds()
}

func rules() map[string]Rule {
	event := Rule{EventTime: true, MaxSkew: (6 * time.Hour).Microseconds(), Align: partition.AlignHour, MaxPlaces: 1000}
	day, none, services, scopes, deep := event, event, event, event, event
	day.Align, none.Align = partition.AlignDay, partition.AlignNone
	services.EventTime, services.By = false, []Level{{ResourceAttribute: "service.name", As: "service"}}
	scopes.EventTime, scopes.By = false, []Level{{ScopeAttribute: "x", As: "x"}}
	deep.By = []Level{{Attribute: "x", As: "x"}, {ResourceAttribute: "service.name", As: "service"}, {ScopeAttribute: "x", As: "of_scope"}}
	return map[string]Rule{"hours": event, "days": day, "no alignment": none, "resource": services, "scope": scopes, "all": deep}
}

// Every record goes to its place, once, in order, with all that is around it.
func TestSplit(t *testing.T) {
	for _, signal := range []partition.Signal{partition.Logs, partition.Traces, partition.Metrics} {
		for name, rule := range rules() {
			t.Run(string(signal)+"/"+name, func(t *testing.T) {
				f := filler{rand.New(rand.NewPCG(1, 2))}
				r, err := New(rule, signal)
				require.NoError(t, err)
				mixed := 0
				for range 300 {
					entries := []Entry{{f.request(t, signal), received}, {f.request(t, signal), received + 3}}
					got := r.Split(entries)
					require.Empty(t, got.Rejected)
					check(t, signal, rule, entries, got)
					if len(got.Pieces) > 1 {
						mixed++
					}
				}
				require.Greater(t, mixed, 100, "requests with records of several places")
			})
		}
	}
}

func check(t *testing.T, signal partition.Signal, rule Rule, entries []Entry, got Dealt) {
	t.Helper()
	want := map[Place][]string{}
	for _, e := range entries {
		for _, o := range flatten(t, signal, e.Payload) {
			at := placeOf(rule, o, e.ReceivedAt)
			want[at] = append(want[at], o.bytes)
		}
	}
	have := map[Place][]string{}
	for _, p := range got.Pieces {
		require.NotContains(t, have, p.Place)
		items, size := 0, int64(0)
		require.Equal(t, slices.Compact(slices.Sorted(slices.Values(p.From))), p.From, "an entry has one part in a piece")
		for i, e := range p.Entries {
			require.Equal(t, entries[p.From[i]].ReceivedAt, e.ReceivedAt)
			for _, o := range flatten(t, signal, e.Payload) {
				have[p.Place] = append(have[p.Place], o.bytes)
				items++
			}
			size += int64(len(e.Payload))
		}
		require.Equal(t, items, p.Items)
		require.Equal(t, size, p.Bytes)
	}
	require.Equal(t, want, have)
}

func TestRequestsOfOnePlaceAreNotCopied(t *testing.T) {
	f := filler{rand.New(rand.NewPCG(3, 4))}
	rule := rules()["resource"]
	rule.By[0].ResourceAttribute = "nobody has it"
	r, err := New(rule, partition.Logs)
	require.NoError(t, err)
	payload := f.request(t, partition.Logs)
	got := r.Split([]Entry{{payload, received}})
	require.Len(t, got.Pieces, 1)
	require.Same(t, &payload[0], &got.Pieces[0].Entries[0].Payload[0])
	require.Equal(t, Place{Own, "service=" + partition.NoValue}, got.Pieces[0].Place)
}

func TestTimesThatAreFarOffAreFiledUnderReceivedTime(t *testing.T) {
	rule := rules()["hours"]
	for name, c := range map[string]struct {
		off  time.Duration
		own  bool
		hour int64
	}{
		"now":                 {0, false, 0},
		"as old as it may be": {-6 * time.Hour, false, -6},
		"older":               {-6*time.Hour - time.Microsecond, true, 0},
		"an hour ahead":       {time.Hour, false, 1},
		"further ahead":       {time.Hour + time.Microsecond, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ld := plog.NewLogs()
			lr := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
			lr.SetTimestamp(pcommon.Timestamp((received + c.off.Microseconds()) * 1000))
			payload, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
			require.NoError(t, err)
			r, err := New(rule, partition.Logs)
			require.NoError(t, err)
			got := r.Split([]Entry{{payload, received}})
			want := Place{Period: rule.Period(received) + c.hour}
			if c.own {
				want.Period = Own
				require.EqualValues(t, 1, got.Skewed)
			}
			require.Equal(t, want, got.Pieces[0].Place)
		})
	}
}

// Where the queue's clock is ahead, ages are told by the wall clock.
func TestAgesAreToldByTheWallClock(t *testing.T) {
	const years = 3 * 365 * 24 * time.Hour
	rule := rules()["hours"]
	rule.Ahead = years.Microseconds()
	r, err := New(rule, partition.Logs)
	require.NoError(t, err)
	ld := plog.NewLogs()
	records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for _, off := range []time.Duration{-years, -years - 6*time.Hour, -years + time.Hour, // fit
		-years - 6*time.Hour - time.Microsecond, -years + time.Hour + time.Microsecond, 0} { // do not
		at := received + off.Microseconds()
		if off == 0 {
			at++
		}
		records.AppendEmpty().SetTimestamp(pcommon.Timestamp(at * 1000))
	}
	records.AppendEmpty() // has no time of its own, so it is not off
	payload, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	require.NoError(t, err)
	got := r.Split([]Entry{{payload, received}})
	require.EqualValues(t, 3, got.Skewed)
	items := map[int64]int{}
	for _, p := range got.Pieces {
		items[p.Place.Period] += p.Items
	}
	now := rule.Period(received - years.Microseconds())
	require.Equal(t, map[int64]int{now: 1, now - 6: 1, now + 1: 1, Own: 3, rule.Period(received): 1}, items)
}

// An attribute with a value per record must cost neither memory nor time
// without bound.
func TestTooManyPlacesAreFiledTogether(t *testing.T) {
	rule := rules()["all"]
	rule.MaxPlaces = 2
	rule.EventTime, rule.By = false, rule.By[:1]
	ld := plog.NewLogs()
	records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for i := range 20_000 {
		lr := records.AppendEmpty()
		lr.Attributes().PutStr("x", fmt.Sprint("value ", i))
		if i%3 == 0 {
			lr.Attributes().PutStr("x", "often")
		}
	}
	payload, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	require.NoError(t, err)
	r, err := New(rule, partition.Logs)
	require.NoError(t, err)
	got := r.Split([]Entry{{payload, received}})
	require.Len(t, got.Pieces, 4*2+1)
	often := slices.IndexFunc(got.Pieces, func(p Piece) bool { return p.Levels == "x=often" })
	require.Equal(t, 6667, got.Pieces[often].Items)
	items := 0
	for _, p := range got.Pieces {
		items += p.Items
	}
	require.Equal(t, 20_000, items)
	require.EqualValues(t, 20_000-6667-7, got.Refiled)
}

func TestMalformedEntriesAreLeftOutWhole(t *testing.T) {
	f := filler{rand.New(rand.NewPCG(5, 6))}
	for name, rule := range rules() {
		t.Run(name, func(t *testing.T) {
			r, err := New(rule, partition.Metrics)
			require.NoError(t, err)
			good := f.request(t, partition.Metrics)
			for n := 0; ; n++ { // one with records of several places, and some that are too old for their own
				require.Less(t, n, 1000)
				if d := r.Split([]Entry{{good, received}}); len(d.Pieces) > 1 && (d.Skewed > 0 || !rule.EventTime) {
					break
				}
				good = f.request(t, partition.Metrics)
			}
			bad := append(slices.Clone(good), 0x0a, 0x7f, 1)
			entries := []Entry{{bad, received}, {good, received}, {bad, received}}
			got := r.Split(entries)
			require.Len(t, got.Rejected, 2)
			require.Equal(t, 0, got.Rejected[0].Index)
			require.Equal(t, 2, got.Rejected[1].Index)
			for _, p := range got.Pieces {
				for _, from := range p.From {
					require.Equal(t, 1, from)
				}
			}
			alone := r.Split(entries[1:2])
			require.Equal(t, alone.Skewed, got.Skewed)
			require.Equal(t, alone.Refiled, got.Refiled)
			got.Rejected = nil
			check(t, partition.Metrics, rule, []Entry{{}, entries[1]}, got)
		})
	}
}

// Of several kinds of data in a metric the last counts, wherever it stands.
func TestMetricWithSeveralKindsOfData(t *testing.T) {
	point := func(tag byte) []byte { return append([]byte{tag, 0x0b, 0x0a, 0x09, 0x19}, 1, 2, 3, 4, 5, 6, 7, 8) }
	metric := slices.Concat(point(0x2a), []byte{0x0a, 1, 'm'}, point(0x3a), point(0x3a))
	scope := append([]byte{0x12, byte(len(metric))}, metric...)
	group := append([]byte{0x12, byte(len(scope))}, scope...)
	payload := append([]byte{0x0a, byte(len(group))}, group...)
	for name, rule := range rules() {
		r, err := New(rule, partition.Metrics)
		require.NoError(t, err)
		got := r.Split([]Entry{{payload, received}})
		require.Len(t, got.Pieces, 1, name)
		require.Equal(t, 1, got.Pieces[0].Items, name)
	}
}

func TestRuleIsChecked(t *testing.T) {
	good := rules()["all"]
	for want, change := range map[string]func(*Rule){
		"must be positive":      func(r *Rule) { r.MaxSkew = 0 },
		"4 levels are more":     func(r *Rule) { r.By = append(r.By, Level{Attribute: "y", As: "y"}) },
		"0 places are not":      func(r *Rule) { r.MaxPlaces = 0 },
		"1001 places are not":   func(r *Rule) { r.MaxPlaces = 1001 },
		"another level":         func(r *Rule) { r.By[1].As = r.By[0].As },
		"names 2 attributes":    func(r *Rule) { r.By[0].ScopeAttribute = "y" },
		"names 0 attributes":    func(r *Rule) { r.By[0] = Level{As: "y"} },
		`its name "dt" every`:   func(r *Rule) { r.By[0].As = "dt" },
		`its name "A" must be`:  func(r *Rule) { r.By[0].As = "A" },
		`its name "" must be`:   func(r *Rule) { r.By[0].As = "" },
		`its name "1a" must be`: func(r *Rule) { r.By[0].As = "1a" },
	} {
		r := good
		r.By = slices.Clone(good.By)
		change(&r)
		_, err := New(r, partition.Logs)
		require.ErrorContains(t, err, want)
	}
	_, err := New(good, "profiles")
	require.Error(t, err)
}
