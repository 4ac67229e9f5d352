package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Asked is the order to list the modules of a tree.
//
//	Size       bytes of the archive of the tree, which follows the order
//	Root       the folder in which it is laid out
//	Modules    folders with a go.mod below the root
//	Borrowed   a module cache that can only be read
//	Variables  of the go command, among them the folder of its own module cache
//	Format     of `go list`
type Asked struct {
	Size      int64
	Root      string
	Modules   []string
	Borrowed  string
	Variables map[string]string
	Format    string
}

// ListedModule is the reply of the go command on a module, with the go.mod and go.sum that it has completed.
type ListedModule struct {
	Folder    string
	Status    int
	Output    string
	Complaint string
	GoMod     []byte
	GoSum     []byte
}

// mostComplaint is the number of bytes of the go command's standard error that are passed on.
const mostComplaint = 1 << 16

// listModules reads an order, lets the go command list what the packages of each module and their tests import, and
// writes a ListedModule for each to standard output. The go command reads the tree and runs nothing of it.
func listModules(lines *bufio.Reader) {
	line, err := lines.ReadBytes('\n')
	check(err)
	var asked Asked
	check(json.Unmarshal(line, &asked))
	archive := io.LimitReader(lines, asked.Size)
	unpack(archive, asked.Root, young)
	for name, value := range asked.Variables {
		check(os.Setenv(name, value))
	}
	borrowModules(asked.Borrowed, asked.Variables["GOMODCACHE"])
	answers := []ListedModule{}
	for _, module := range asked.Modules {
		answers = append(answers, listModule(filepath.Join(asked.Root, module), module, asked.Format))
	}
	text, err := json.Marshal(answers)
	check(err)
	_, err = fmt.Println(len(text))
	check(err)
	_, err = os.Stdout.Write(text)
	check(err)
}

func listModule(folder, module, format string) ListedModule {
	said, complained, status := goTool(folder, "list", "-e", "-deps", "-test", "-f", format, "./...")
	if len(complained) > mostComplaint {
		complained = complained[:mostComplaint]
	}
	answer := ListedModule{Folder: module, Status: status, Output: unique(said), Complaint: string(complained)}
	answer.GoMod, _ = os.ReadFile(filepath.Join(folder, "go.mod"))
	answer.GoSum, _ = os.ReadFile(filepath.Join(folder, "go.sum"))
	return answer
}

// unique returns the lines of a text that are not empty, each once, in order.
func unique(text []byte) string {
	seen := map[string]bool{}
	var lines []string
	for _, line := range strings.Split(string(text), "\n") {
		if line != "" && !seen[line] {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// borrowModules makes a writable module cache with links to the content of another one: to the folder of each unpacked
// module, and to the downloaded files that never change.
func borrowModules(source, target string) {
	downloads := filepath.Join(source, "cache", "download")
	check(os.MkdirAll(target, 0o755))
	check(filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(source, path)
		check(err)
		place := filepath.Join(target, below)
		switch {
		case path == source || !entry.IsDir():
			return borrowFile(path, place, strings.HasPrefix(path, downloads+"/"))
		case strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case strings.Contains(entry.Name(), "@v") && entry.Name() != "@v":
			check(os.MkdirAll(filepath.Dir(place), 0o755))
			check(os.Symlink(path, place))
			return fs.SkipDir
		}
		return nil
	}))
}

func borrowFile(path, place string, isDownloaded bool) error {
	switch filepath.Ext(path) {
	case ".info", ".mod", ".zip", ".ziphash":
		if isDownloaded {
			check(os.MkdirAll(filepath.Dir(place), 0o755))
			return os.Symlink(path, place)
		}
	}
	return nil
}
