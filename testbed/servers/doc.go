// Package servers starts the servers that lease backends are tested against:
// real ones, installed by install.sh, on the loopback interface, ended with the
// test. One that is missing fails the test.
package servers
