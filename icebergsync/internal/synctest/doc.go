// Package synctest makes what tests of the synchronisation need: lakes with the
// exporter's own encoder, catalogs in SQLite, and the Java project's REST catalog
// with a proxy before it that loses requests and answers.
package synctest
