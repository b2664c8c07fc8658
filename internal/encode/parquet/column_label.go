package parquet

import "github.com/parquet-go/parquet-go/format"

// Label is a required column of strings that repeat: dictionary-encoded.
type Label struct{ values }

// Label adds a column of strings that repeat.
func (t *Table) Label(name string, indexed bool) *Label {
	t.schema.fields++
	t.schema.text(name, false)
	c := &Label{t.newValues(t.newChunk(chunk{path: []string{name}, typ: format.ByteArray, indexed: indexed}))}
	t.add(c)
	return c
}

// Add puts the row's value, with invalid UTF-8 replaced.
func (c *Label) Add(v []byte) { c.putRepeated(v) }

func (c *Label) flush(t *Table, rows int) {
	c.write(t, t.body[:0], content{rows: rows, values: c.len()})
}

// OptionalLabel is a column of strings that repeat or are absent.
type OptionalLabel struct {
	values
	def   optionalLevels
	inMap otherNumbers
}

// OptionalLabel adds a column of strings that repeat or are absent, with
// statistics.
func (t *Table) OptionalLabel(name string) *OptionalLabel {
	t.schema.fields++
	t.schema.text(name, true)
	c := &OptionalLabel{values: t.newValues(t.newChunk(
		chunk{path: []string{name}, typ: format.ByteArray, optional: true, indexed: true}))}
	t.add(c)
	return c
}

// Set puts the value of the row under construction, with invalid UTF-8
// replaced. It returns false, and does nothing, if the row has one already.
func (c *OptionalLabel) Set(v []byte) bool {
	if !c.def.set(c.t.rows) {
		return false
	}
	c.put(v)
	return true
}

func (c *OptionalLabel) held() int { return c.values.held() + 4*cap(c.inMap) }

func (c *OptionalLabel) reset() {
	c.values.reset()
	c.inMap.reset()
	c.def.reset()
}

func (c *OptionalLabel) flush(t *Table, rows int) {
	body := c.def.end(t.body[:0], t.rows)
	c.write(t, body, content{rows: rows, values: rows, nulls: rows - c.len()})
}

// optionalLevels are definition levels, filled in only where a value is set.
type optionalLevels struct {
	levels
	from int // row of the first level
}

// set notes that a row, not before the last, has a value.
func (l *optionalLevels) set(row int) bool {
	gap := row - l.from - l.len
	if gap < 0 {
		return false
	}
	l.zeros(gap)
	l.push(1, 1, 1)
	return true
}

// end appends the levels up to a row and starts over with that row.
func (l *optionalLevels) end(dst []byte, row int) []byte {
	l.zeros(row - l.from - l.len)
	dst = l.appendTo(dst)
	l.levels.reset()
	l.from = row
	return dst
}

func (l *optionalLevels) reset() {
	l.levels.reset()
	l.from = 0
}
