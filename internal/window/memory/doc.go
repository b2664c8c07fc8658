// Package memory bounds what is held in memory for data.
//
// There is one Budget, and everything that is held is a Share of it. A Share is
// a value with one owner, who releases it once or passes it on.
//
// Memory is a cache of the queue. Data (payloads, encoded rows) can be dropped
// at any time and read from the queue again. References (which entries a window
// has) stay until their window is committed or given up. They take a quarter of
// the budget at most, together with the windows that have them, before nothing
// new is let in: so there is always room to read windows back, one after the
// other, and with them references go.
package memory
