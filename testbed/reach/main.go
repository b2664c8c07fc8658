// Command reach links the exporter and the lease extension as a collector does.
// Linters look from it for code that nothing reaches; nobody runs it.
package main

import (
	"fmt"

	"github.com/s3window/s3window/exporter/s3windowexporter"
	"github.com/s3window/s3window/extension/leaseextension"
)

func main() {
	fmt.Println(s3windowexporter.NewFactory().Type(), leaseextension.NewFactory().Type())
}
