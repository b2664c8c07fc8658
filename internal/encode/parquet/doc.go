// Package parquet writes Parquet files from columns.
//
// A Table has the columns of one schema and turns the values put into them
// into the bytes of one row group at a time. Columns are of two sorts. Those
// of the table itself take a value per row. Those of a RunSet take a value per
// entry, and the set is told which entry the next n rows have: a resource is
// decoded once, however many records follow it.
//
// A finished RowGroup is self-contained: its offsets count from its own start,
// and Assemble joins any number of them, in the order given, into a file.
//
// What is written: data pages V1 of about 1 MiB or 20,000 rows with a CRC;
// dictionaries that give way to PLAIN when they grow; offset indexes for all
// columns; statistics and column indexes for those that ask for them. The bytes
// depend on the values and the Config alone, with one exception: Snappy has
// other (equally valid) output on processors without its assembly code.
//
// The formats are those of the Apache Parquet specification; metadata goes
// through parquet-go's format and thrift packages.
package parquet
