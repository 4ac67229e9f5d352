// Command inside is coevo's own program in a sandbox, the first one that runs there. It reads orders, each a line of
// JSON, and lays out the trees that they name. `compile` lets the Go toolchain read one tree after the other, and runs
// nothing of them; each answer is an archive on standard output. `run` starts a test binary and reports its events;
// `session` does so for one order after the other. `list` lets the go command find the modules that a tree needs.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Order is an order of the host.
//
//	Mode      for `compile`: `build`, `compile` or `check`
//	Tree      the archive that is laid out
//	Size      bytes of an archive that follows the order, if Tree is not given
//	Root      the folder in which the tree is laid out; it ends in the path of the module
//	Folder    the folder of a package, or of a module, below the root
//	StandIns  paths below the root of files of which the clone lacks the content
//	Caches    read-only folders of compiled packages, of which the first with a package counts; in a run, only for tests
//	          that run the go command
//	Overlay   the file with replacements for files of the standard library, as for `go build -overlay`
//	Packages  folders of packages below Folder, `.` for itself
//	Flags     for both `go list` and `go test -c`
//	Stubs     whether declarations that do not compile are replaced, so that the others can be run
//	Edited    files of the code that differ from their revision
//	Path      the file of which Variants are checked
//	Variants  contents of that file, each to be compiled in its place
//	Binary    the program that runs the tests, with Arguments
//	Tests     the tests to run, each as `file#name`, the file without its folder
//	Profile   whether to report the functions that the tests execute, and the lines in Files
//	Sources   the contents of Files as they were compiled, if the tree has others or none
//	Key       authenticates the event that a run is over and the report of the observer
//	Nonce     precedes each event of the run
//	Watch     tests and lines that an observer watches; nil for none
//	Mark      a line that is written to standard error before and after the run
type Order struct {
	Nonce     string
	Key       string
	Mark      string
	Mode      string
	Tree      string
	Size      int64
	Root      string
	Folder    string
	StandIns  []string
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

// nextOrder reads the next order; nil at the end of the input.
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

// check ends this program with status 70 if there is an error.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "coevo:", err)
		os.Exit(70)
	}
}
