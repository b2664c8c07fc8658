package wal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"
	pdatareq "go.opentelemetry.io/collector/pdata/xpdata/request"
)

// stockProto writes the metadata as the stock queue does.
func stockProto(read, write uint64, dispatched ...uint64) []byte {
	le, b := binary.LittleEndian, []byte(nil)
	for tag, v := range map[byte]uint64{1<<3 | 1: 7, 2<<3 | 1: 8, 3<<3 | 1: read, 4<<3 | 1: write} {
		b = le.AppendUint64(append(b, tag), v)
	}
	if len(dispatched) > 0 {
		b = binary.AppendUvarint(append(b, 5<<3|2), uint64(8*len(dispatched)))
		for _, d := range dispatched {
			b = le.AppendUint64(b, d)
		}
	}
	return b
}

func decodeTest(value []byte) ([]Record, error) {
	if strings.HasPrefix(string(value), "poison") {
		return nil, errors.New("not a request")
	}
	return []Record{rec("a", string(value)), rec("b", string(value))}, nil
}

func twice(ps ...string) []string {
	all := []string{}
	for _, p := range ps {
		all = append(all, p, p)
	}
	return all
}

func legacy(n ...uint64) []byte {
	b := []byte(nil)
	for _, v := range n {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func TestTakeOverReadsWhatTheStockQueueLeft(t *testing.T) {
	three := map[string][]byte{"7": []byte("seven"), "9": []byte("nine"), "10": []byte("ten")}
	for name, c := range map[string]struct {
		values map[string][]byte
		noWalk bool
		want   []string
		done   TakenOver
		err    string
	}{
		"nothing":               {map[string][]byte{}, false, []string{}, TakenOver{}, ""},
		"nothing, no walker":    {map[string][]byte{}, true, []string{}, TakenOver{}, ""},
		"waiting":               {map[string][]byte{"qmv0": stockProto(9, 11)}, false, twice("nine", "ten"), TakenOver{Requests: 2, Items: 4}, ""},
		"dispatched, permuted":  {map[string][]byte{"qmv0": stockProto(10, 11, 9, 7)}, false, twice("seven", "nine", "ten"), TakenOver{Requests: 3, Items: 6}, ""},
		"named, not there":      {map[string][]byte{"qmv0": stockProto(8, 11, 7)}, true, twice("seven", "nine", "ten"), TakenOver{Requests: 3, Items: 6, Forgotten: 1}, ""},
		"older format":          {map[string][]byte{"ri": legacy(9), "wi": legacy(11), "di": append([]byte{1, 0, 0, 0}, legacy(7)...)}, true, twice("seven", "nine", "ten"), TakenOver{Requests: 3, Items: 6}, ""},
		"metadata gone":         {map[string][]byte{}, false, twice("seven", "nine", "ten"), TakenOver{Requests: 3, Items: 6}, ""},
		"metadata damaged":      {map[string][]byte{"qmv0": []byte("rubbish")}, false, twice("seven", "nine", "ten"), TakenOver{Requests: 3, Items: 6}, ""},
		"damaged, no walker":    {map[string][]byte{"qmv0": []byte("rubbish")}, true, nil, TakenOver{}, "metadata of the stock queue is damaged"},
		"write before read":     {map[string][]byte{"qmv0": stockProto(11, 9)}, true, nil, TakenOver{}, "metadata of the stock queue is damaged"},
		"one cannot be decoded": {map[string][]byte{"qmv0": stockProto(8, 11, 7), "8": []byte("poison")}, true, twice("seven", "nine", "ten"), TakenOver{Requests: 3, Items: 6, SetAside: 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			stock := newFake()
			stock.noWalk = c.noWalk
			if !strings.HasPrefix(name, "nothing") {
				for k, v := range three {
					stock.values[k] = v
				}
			}
			for k, v := range c.values {
				stock.values[k] = v
			}
			s := newFake()
			w := open(t, Options{Client: s, Limit: 1})
			done, err := w.TakeOver(t.Context(), "logs", stock.client(t), decodeTest)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				require.Len(t, stock.values, 4, "nothing was touched")
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.done, done)
			require.Equal(t, c.want, payloads(drain(t, w)))
			require.Empty(t, s.keys(handoverPrefix))
			require.Equal(t, c.done.SetAside, w.Stats().AsideKept)
			if strings.HasPrefix(name, "waiting") {
				require.Len(t, stock.values, 1, "what it did not name stays")
			} else {
				require.Empty(t, stock.values)
			}
			done, err = w.TakeOver(t.Context(), "logs", stock.client(t), decodeTest)
			require.NoError(t, err)
			require.LessOrEqual(t, done.Requests, 1)
		})
	}
}

func TestTakeOverStopsWhenNothingDecodes(t *testing.T) {
	stock := newFake()
	for i := range 100 {
		stock.values[fmt.Sprint(i)] = []byte("poison")
	}
	w := open(t, Options{Client: newFake()})
	_, err := w.TakeOver(t.Context(), "logs", stock, decodeTest)
	require.ErrorContains(t, err, "cannot be decoded, the last one: stock queue: not a request")
	require.Greater(t, len(stock.values), 30)
}

// interrupted runs a take-over whose n-th storage call gives an error, then,
// in the same process or after a crash, a second one. It says whether there was
// an n-th call.
func interrupted(t *testing.T, n int, after, dies bool) bool {
	s, stock := newFake(), newFake()
	stock.values["qmv0"] = stockProto(3, 9, 1, 2)
	for i := 1; i < 9; i++ {
		stock.values[fmt.Sprint(i)] = fmt.Append(nil, i)
	}
	w := open(t, Options{Client: s})
	calls := 0
	fault := func(*call) error {
		if calls++; calls == n {
			return errInjected
		}
		return nil
	}
	for _, f := range []*fake{s, stock} {
		if after {
			f.fail(nil, fault)
		} else {
			f.fail(fault, nil)
		}
	}
	_, err := w.TakeOver(t.Context(), "logs", stock, decodeTest)
	if calls < n {
		require.NoError(t, err)
		return false
	}
	s.fail(nil, nil)
	stock.fail(nil, nil)
	if dies {
		s = s.clone()
		w = open(t, Options{Client: s})
	}
	_, err = w.TakeOver(t.Context(), "logs", stock, decodeTest)
	require.NoError(t, err)
	want := twice(names(1, 9)...)
	require.Equal(t, want, payloads(drain(t, w)))
	require.Empty(t, stock.values)
	add(t, w, rec("t", "x"))
	require.Empty(t, s.keys(handoverPrefix))
	require.Len(t, s.keys(entryPrefix), len(want)+1)
	return true
}

// Every call of both storages gives an error, before or after it took effect;
// the process dies, or only tries again. Nothing is lost and nothing is twice.
func TestTakeOverIsExactlyOnce(t *testing.T) {
	for _, after := range []bool{false, true} {
		for _, dies := range []bool{false, true} {
			n := 1
			for t.Run(fmt.Sprintf("call %d, after %v, dies %v", n, after, dies), func(t *testing.T) {
				if !interrupted(t, n, after, dies) {
					n = -1
				}
			}) && n > 0 {
				n++
			}
		}
	}
}

type hostWith map[component.ID]component.Component

func (h hostWith) GetExtensions() map[component.ID]component.Component { return h }

// TestTakeOverOfARealQueue lets exporterhelper's own queue fill and stop.
func TestTakeOverOfARealQueue(t *testing.T) {
	factory := filestorage.NewFactory()
	cfg := factory.CreateDefaultConfig().(*filestorage.Config)
	cfg.Directory = t.TempDir()
	ext, err := factory.Create(t.Context(), extensiontest.NewNopSettings(factory.Type()), cfg)
	require.NoError(t, err)
	id := component.MustNewID("file_storage")
	host := hostWith{id: ext}

	queue := exporterhelper.NewDefaultQueueConfig()
	queue.StorageID, queue.NumConsumers = &id, 2
	retry := configretry.NewDefaultBackOffConfig()
	retry.MaxElapsedTime = 0
	set := exportertest.NewNopSettings(component.MustNewType("s3window"))
	stockExporter, err := exporterhelper.NewLogs(t.Context(), set, &struct{}{},
		func(context.Context, plog.Logs) error { return errors.New("bucket is down") },
		exporterhelper.WithQueue(configoptional.Some(queue)), exporterhelper.WithRetry(retry),
		exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{}))
	require.NoError(t, err)
	require.NoError(t, stockExporter.Start(t.Context(), host))
	for i := range 20 {
		ld := plog.NewLogs()
		ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr(fmt.Sprint(i))
		require.NoError(t, stockExporter.ConsumeLogs(t.Context(), ld))
	}
	require.NoError(t, stockExporter.Shutdown(t.Context()))

	get := func(name string) storage.Client {
		c, err := ext.(storage.Extension).GetClient(t.Context(), component.KindExporter, set.ID, name)
		require.NoError(t, err)
		return c
	}
	stock := get("logs")
	w := open(t, Options{Client: get("")})
	done, err := w.TakeOver(t.Context(), "logs", stock, func(value []byte) ([]Record, error) {
		_, ld, err := pdatareq.UnmarshalLogs(value)
		if err != nil {
			return nil, err
		}
		body := ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().Str()
		return []Record{rec("t", body)}, nil
	})
	require.NoError(t, err)
	require.Equal(t, TakenOver{Requests: 20, Items: 20}, done)
	require.ElementsMatch(t, names(0, 20), payloads(drain(t, w)))
	require.NoError(t, stock.(storage.Walker).Walk(t.Context(), func(key string, _ []byte) ([]*storage.Operation, error) {
		return nil, fmt.Errorf("%q is left", key)
	}))
	require.NoError(t, stock.Close(t.Context()))
	require.NoError(t, ext.Shutdown(context.Background()))
}
