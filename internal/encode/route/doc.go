// Package route deals the records of OTLP requests out to the places in which
// they are filed: the hour of their own time, and the values of attributes.
//
// It works on the requests' bytes. A request whose records all belong to one
// place passes as it is, without a copy. Of any other each place gets a request
// of its own: the same messages around the same records, with those left out
// that belong elsewhere. What is around the records (resource, scope, metric)
// is copied to every place that has some of them.
//
// Places are named relative to a window, which is not known yet when its first
// records are dealt out: Own stands for its own hour. Everything depends on the
// records and the Rule alone, so that a window which is built anew deals them
// out in the same way.
//
// A record that cannot have a place of its own is never lost, it is filed in
// the window's own hour:
//
//   - one whose time is further off than MaxSkew in the past, or than an hour in
//     the future: its clock is wrong, or it is so late that it would make an
//     object of its own for every such hour;
//   - those of the places with the fewest records, where there are too many
//     places in one call, or where what is around their records (a resource may
//     be large) would be copied too often;
//   - those of the places that are met last, where there are far too many.
package route
