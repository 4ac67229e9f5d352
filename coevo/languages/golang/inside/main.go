// Command inside is what coevo runs of its own in a sandbox, of which it is the first program. It reads orders, each a
// line of JSON, and lays out the trees that they name. `compile` lets the Go toolchain read one tree after the other, and
// runs nothing of them: each answer is an archive on standard output. `run` starts a test binary, and says what it
// heard of it; `session` does so for one order after the other. `list` lets the go command say which modules a tree needs.
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
//	Mode      of `compile`: what is asked of the toolchain
//	Tree      the archive that is laid out
//	Size      that of an archive which follows the order instead
//	Root      where; its last elements are those of the module's path
//	Folder    the folder of a package, or of a module, below the root
//	Caches    folders of compiled packages that are read, the first that has one counts; of a run, for the go command
//	Overlay   what replaces files of the standard library, as `go build -overlay` has it
//	Packages  folders of packages below Folder, `.` for itself
//	Flags     of `go list` and `go test -c` alike
//	Edited    files of the code that are other than their revision's
//	Variants  sources of the file Path, each to be compiled in its place
//	Tests     that are run, each as `file#name`, the file without its folder
//	Profile   whether it is to be told what of Files, and of all others, a test executes
//	Sources   of Files, as they were compiled, where the tree shows others or none
//	Key       under which a session says that a run is over, and an observer what it has seen
//	Watch     tests and lines that an observer watches; nil for none
//	Mark      a line that stands on standard error around what the run writes there
type Order struct {
	Nonce     string
	Key       string
	Mark      string
	Mode      string
	Tree      string
	Size      int64
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
	Tests     []string
	Profile   bool
	Files     []string
	Sources   map[string][]byte
	Watch     *Watch
	Variables map[string]string
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	if os.Args[1] == "list" {
		listModules(lines)
		return
	}
	order := nextOrder(lines)
	switch os.Args[1] {
	case "compile":
		serve(order, lines)
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
