// Command mutate breaks one rule of the code at a time and runs the tests that
// should notice. A mutant that lives is a rule that nothing tests.
//
// Mutants are kept in lists, one file per package: each is a name and a few
// replacements of text. They are applied with `go test -overlay`, so the tree
// is never edited and several can run at once. A mutant that lives is an error
// unless its list says why it may; a replacement that no longer fits the tree
// is an error too, and a test of this package finds that within a second.
package main
