// Package load sends OTLP logs to collectors and writes down what they
// acknowledged.
//
// Every record carries an id of its own in the attribute IDAttribute:
//
//	<request>/<tenant>/<number>      gen1-3-000017/acme/41
//
// A request that was not acknowledged is never sent again: its records may
// have arrived, so the next try carries new ids. What the journal calls acked
// must therefore be in the lake once; what it calls unknown, or does not finish,
// may be there once, and whole or not at all.
//
// The journal has one JSON object per line and is only ever appended to:
//
//	{"request":"gen1-3-000017","state":"sent","records":{"acme":42,"globex":8}}
//	{"request":"gen1-3-000017","state":"acked"}
//
// States: sent (before the first byte leaves), acked, unknown.
package load
