// Command etcd is the etcd server, which go install refuses to build: its go.mod
// has replace directives.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
