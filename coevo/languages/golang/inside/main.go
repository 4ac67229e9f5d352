// Command inside is what coevo runs of its own in a sandbox, of which it is the first program. It reads one
// line of JSON, an order, and lays out the tree that the order names. `build`, `compile` and `check` let the Go
// toolchain read the tree, and run nothing of it: they answer by an archive on standard output. `run` starts a
// test binary, and says what it heard of it; `session` does so for one order after the other.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Order is what the host asks for.
//
//	Tree      the archive that is laid out
//	Root      where; its last elements are those of the module's path
//	Folder    the folder of a package, or of a module, below the root
//	Caches    folders of compiled packages that are read, the first that has one counts
//	Overlay   what replaces files of the standard library, as `go build -overlay` has it
//	Packages  folders of packages below Folder, `.` for itself
//	Flags     of `go list` and `go test -c` alike
//	Edited    files of the code that are other than their revision's
//	Variants  sources of the file Path, each to be compiled in its place
//	Profile   whether it is to be told what of Files, and of all others, a test executes
//	Key       under which a session says that a run is over
//	Mark      a line that stands on standard error around what the run writes there
type Order struct {
	Nonce     string
	Key       string
	Mark      string
	Tree      string
	Root      string
	Folder    string
	Caches    []string
	Overlay   string
	Packages  []string
	Flags     []string
	Stubs     bool
	Edited    []string
	Path      string
	Variants  [][]byte
	Binary    string
	Arguments []string
	Profile   bool
	Files     []string
	Variables map[string]string
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	order := nextOrder(lines)
	switch os.Args[1] {
	case "build":
		buildPackages(order)
	case "compile":
		compile(order)
	case "check":
		checkVariants(order)
	case "run":
		run(order)
	case "session":
		session(order, lines)
	}
}

// nextOrder is nil at the end.
func nextOrder(lines *bufio.Reader) *Order {
	line, err := lines.ReadBytes('\n')
	if err == io.EOF && len(line) == 0 {
		return nil
	}
	check(err)
	var order Order
	check(json.Unmarshal(line, &order))
	return &order
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "coevo:", err)
		os.Exit(70)
	}
}
