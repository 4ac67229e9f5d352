package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Listed is a package as `go list -json` describes it, with the fields that are used here.
type Listed struct {
	Dir          string
	ImportPath   string
	Name         string
	ForTest      string
	Export       string
	Standard     bool
	DepOnly      bool
	GoFiles      []string
	CgoFiles     []string
	TestGoFiles  []string
	XTestGoFiles []string
	EmbedFiles   []string
	Imports      []string
	ImportMap    map[string]string
	Deps         []string
	Error        *ListedError
	DepsErrors   []*ListedError
	Module       *struct {
		Path      string
		Version   string
		GoVersion string
	}
}

// ListedError is the reason of the go command why a package cannot be loaded or compiled.
type ListedError struct {
	ImportStack []string
	Pos         string
	Err         string
}

const fields = "-json=Dir,ImportPath,Name,ForTest,Export,Standard,DepOnly,GoFiles,CgoFiles,TestGoFiles," +
	"XTestGoFiles,Imports,ImportMap,Deps,Error,DepsErrors,Module"

func itoa(number int64) string { return strconv.FormatInt(number, 10) }

// goTool runs the go command in a folder, and returns what it writes to both streams and its exit status.
// If the command cannot be started, this program ends.
func goTool(folder string, arguments ...string) (stdout, stderr []byte, status int) {
	command := exec.Command(os.Getenv("GOROOT")+"/bin/go", arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GOCACHE="+cache, "PWD="+folder)
	var said, complained bytes.Buffer
	command.Stdout, command.Stderr = &said, &complained
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		check(err)
	}
	return said.Bytes(), complained.Bytes(), command.ProcessState.ExitCode()
}

func list(folder string, arguments ...string) ([]*Listed, string) {
	said, complained, _ := goTool(folder, append([]string{"list", "-e", fields}, arguments...)...)
	decoder := json.NewDecoder(bytes.NewReader(said))
	var found []*Listed
	for {
		one := &Listed{}
		err := decoder.Decode(one)
		if errors.Is(err, io.EOF) {
			return found, string(complained)
		}
		check(err)
		found = append(found, one)
	}
}

// Built has for each package folder, relative to the root, why its code cannot be built; "" if it can.
// Said is what the go command wrote to standard error.
type Built struct {
	Packages map[string]string
	Said     string
}

// buildPackages compiles packages of a module without their tests, and answers with a Built.
func buildPackages(order *Order) {
	folder := filepath.Join(order.Root, order.Folder)
	arguments := append([]string{"-export", "-deps"}, order.Flags...)
	if order.Overlay != "" {
		arguments = append(arguments, "-overlay="+order.Overlay)
	}
	found, said := list(folder, append(arguments, order.Packages...)...)
	failures := map[string]string{}
	for _, one := range found {
		if one.Error != nil && !hasNoFiles(one.Error.Err) {
			failures[one.ImportPath] = firstError(one.Error.Err)
			if isLacking(one.Error.Err) {
				failures[one.ImportPath] = unavailable + one.ImportPath
			}
		}
	}
	result := Built{Packages: map[string]string{}, Said: said}
	for _, one := range found {
		if one.DepOnly || one.Standard {
			continue
		}
		place, err := filepath.Rel(order.Root, one.Dir)
		if err != nil {
			continue
		}
		result.Packages[place] = failures[one.ImportPath]
		for _, dep := range one.Deps {
			if result.Packages[place] == "" && failures[dep] != "" {
				result.Packages[place] = failures[dep]
			}
		}
	}
	answer(result, "")
}

// hasNoFiles returns whether an error only says that a package has no code for this system, so is not broken.
func hasNoFiles(text string) bool {
	return strings.Contains(text, "no non-test Go files") || strings.Contains(text, "build constraints exclude all Go files")
}

var (
	place  = regexp.MustCompile(`^(?:vet: )?(?:\./|/w/src/)?[^\s:]+\.(?:go|mod|s):\d+(?::\d+)?: `)
	header = regexp.MustCompile(`^# `)
)

// unavailable begins the error of a package whose module is in no cache. The original error names the path at which
// the go command would store the module, which has nothing to do with the repository.
const unavailable = "module not available: "

var unwritten = regexp.MustCompile(`\b(?:open|mkdir) /in/modules/cache/download/(\S+?)(?:/@v\S*)?: .*`)

func isLacking(text string) bool { return unwritten.MatchString(text) }

// firstError returns the first error in the output of a compiler, without its file and line; "failed" if there is none.
func firstError(text string) string {
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !header.MatchString(line) {
			line = place.ReplaceAllString(line, "")
			return brief(unwritten.ReplaceAllString(line, unavailable+"$1"))
		}
	}
	return "failed"
}

// brief returns the first line of a message, cut to 200 bytes, the longest that a signature may be.
func brief(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "")
	}
	return text
}
