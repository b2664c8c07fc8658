package s3windowexporter

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/confmap"
)

// unknownKey is a key of a configuration that no setting has.
type unknownKey struct {
	root     reflect.Type // of the block that path begins in
	path     []string     // to the key, with it; elements of lists are numbers
	siblings []string     // the settings that stand beside it
}

func (u unknownKey) name() string { return u.path[len(u.path)-1] }

func (u unknownKey) String() string { return strings.Join(u.path, confmap.KeyDelimiter) }

// takeUnknown takes the keys out of conf that a configuration of type t does not
// have, and returns them in order. Those in lists stay; they are returned too.
func takeUnknown(conf *confmap.Conf, t reflect.Type) (found []unknownKey) {
	walkKeys(conf.ToStringMap(), t, nil, func(path, siblings []string) {
		found = append(found, unknownKey{t, path, siblings})
	})
	for _, u := range found {
		conf.Delete(u.String())
	}
	return found
}

// knownOnly has keys passed over that were found already and could not be taken
// out, because they stand in lists.
func knownOnly(found []unknownKey) []confmap.UnmarshalOption {
	if len(found) == 0 {
		return nil
	}
	return []confmap.UnmarshalOption{confmap.WithIgnoreUnused()}
}

// walkKeys visits the keys below raw, which is read into a t, that t does not
// have. Keys are visited in order.
func walkKeys(raw any, t reflect.Type, at []string, visit func(path, siblings []string)) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch raw := raw.(type) {
	case []any:
		if t.Kind() != reflect.Slice {
			return
		}
		for i, one := range raw {
			walkKeys(one, t.Elem(), append(slices.Clone(at), strconv.Itoa(i)), visit)
		}
	case map[string]any:
		settings := settingsOf(t)
		if settings == nil {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(raw)) {
			path := append(slices.Clone(at), key)
			if of, ok := settings[key]; ok {
				walkKeys(raw[key], of, path, visit)
				continue
			}
			visit(path, slices.Sorted(maps.Keys(settings)))
		}
	}
}

// settingsOf returns the keys that a block has which is read into a t, and what
// they are read into; nil if t is not read from a block of known keys.
func settingsOf(t reflect.Type) map[string]reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return nil
	}
	if get, ok := reflect.PointerTo(t).MethodByName("GetOrInsertDefault"); ok { // a configoptional.Optional
		settings := settingsOf(get.Type.Out(0))
		settings["enabled"] = reflect.TypeFor[bool]()
		return settings
	}
	settings := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("mapstructure"), ",")
		switch {
		case options == "squash":
			maps.Copy(settings, settingsOf(f.Type))
		case f.IsExported() && key != "-":
			settings[cmp.Or(key, strings.ToLower(f.Name))] = f.Type
		}
	}
	return settings
}

// explain says on one line that the key, which stands below at, is no setting,
// and which one may be meant.
func (u unknownKey) explain(at string) error {
	return fmt.Errorf("`%s%s` is no setting of this exporter: %s", at, u, u.advice(at))
}

func explainAll(at string, found []unknownKey) error {
	var errs []error
	for _, u := range found {
		errs = append(errs, u.explain(at))
	}
	return errors.Join(errs...)
}

func (u unknownKey) advice(at string) string {
	if hint, ok := foreignKeys()[u.name()]; ok {
		return hint
	}
	if near := nearest(u.name(), u.siblings); near != "" {
		return fmt.Sprintf("did you mean `%s%s`?", at, strings.TrimSuffix(u.String(), u.name())+near)
	}
	if elsewhere := pathsOf(u.name(), u.root, nil); len(elsewhere) > 0 {
		return fmt.Sprintf("did you mean `%s%s`?", at, strings.Join(elsewhere, "` or `"+at))
	}
	return "there are `" + strings.Join(u.siblings, "`, `") + "`"
}

// pathsOf returns where settings of this name stand below a t, but in lists.
func pathsOf(name string, t reflect.Type, at []string) (paths []string) {
	settings := settingsOf(t)
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		path := append(slices.Clone(at), key)
		if key == name {
			paths = append(paths, strings.Join(path, confmap.KeyDelimiter))
		}
		paths = append(paths, pathsOf(name, settings[key], path)...)
	}
	return paths
}

// nearest returns the name that differs least from word, if that is so little
// that it may be a slip, else one that word is a part of; empty if there is none.
func nearest(word string, names []string) (best string) {
	least := max(1, len(word)/3) + 1
	for _, name := range names {
		if d := distance(word, name); d < least {
			best, least = name, d
		}
	}
	if i := slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, "_"+word) }); best == "" && i >= 0 {
		return names[i]
	}
	return best
}

// distance is how many bytes must be inserted, removed, replaced or swapped
// with the next one to make b of a.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// foreignKeys are keys of awss3exporter, and of exporters in general, that this
// exporter has under other names or has no use for.
func foreignKeys() map[string]string {
	const (
		format  = "here `format` (parquet or jsonl) says what objects are written in"
		objects = "here objects are named after their window, so that one that is written again has the same name"
		again   = "here what failed is tried again for ever, and `retry` (`initial_interval`, `max_interval`) bounds the wait in between"
	)
	return map[string]string{
		"s3uploader":              "here `s3` says where the lake is, with `bucket`, `prefix`, `region`, `endpoint` and `path_style`",
		"marshaler":               format,
		"encoding":                format,
		"encoding_file_extension": "here an object's name ends in what `format` and `jsonl::compression` make of it",
		"resource_attrs_to_s3":    "here `tenant::from` says whose a record is, and `partition::by` adds directories",
		"retry_on_failure":        again,
		"retry_mode":              again,
		"retry_max_attempts":      again,
		"retry_max_backoff":       again,
		"timeout":                 "here a request is answered when it is in the queue, and `s3::timeout` is for the store",
		"batch":                   "here requests are gathered into windows, and `flush::target_size_mib` and `flush::max_age` say for how long",
		"s3_bucket":               "here it is `s3::bucket`",
		"s3_prefix":               "here it is `s3::prefix`",
		"s3_base_prefix":          "here it is `s3::prefix`",
		"s3_partition_format":     "here `partition` says in which directories objects are filed",
		"s3_partition_timezone":   "here directories are in UTC",
		"s3_force_path_style":     "here it is `s3::path_style`",
		"file_prefix":             objects,
		"unique_key_func_name":    objects,
		"compression":             "here it is `parquet::codec` or `jsonl::compression`",
		"disable_ssl":             "here an `s3::endpoint` that begins with http:// does without TLS",
		"acl":                     "here objects have the access rules of their bucket",
	}
}
