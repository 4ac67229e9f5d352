package main

import (
	"go/ast"
	"go/parser"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

const mostRounds = 20

// stubs are the tests of a package, changed until they compile: the body of a function with an error in it
// panics, any other declaration with one is taken out, and so are those that need it, in the next round.
//
//	content   the files, by path
//	changed   those that are other than they stand
//	why       of declarations, by file and name: the error for which they were changed
//	removed   of names that are gone: the error for which they went
//	clash     an error that was told at its first place, and waits for the other one
type stubs struct {
	root    string
	folder  string
	sources *sources
	content map[string][]byte
	changed map[string][]byte
	why     map[string]string
	removed map[string]string
	torn    map[string]string
	all     string
	code    string
	clash   string
	reaches map[string]map[string]bool
	round   int
	edits   map[string][]edit
}

func newStubs(order *Order, folder string) *stubs {
	made := &stubs{
		root: order.Root, folder: folder, sources: newSources(folder, order.Overlay, order.Flags, true),
		content: map[string][]byte{}, changed: map[string][]byte{}, why: map[string]string{},
		removed: map[string]string{}, torn: map[string]string{},
	}
	for _, name := range goFiles(folder) {
		path := filepath.Join(folder, name)
		content, err := os.ReadFile(path)
		check(err)
		made.content[path] = content
	}
	return made
}

// settle changes files until nothing is wrong with them any more.
func (s *stubs) settle() {
	for s.round = 0; s.round < mostRounds; s.round++ {
		s.edits = map[string][]edit{}
		internal, external := s.parsed()
		if s.code != "" {
			return
		}
		if len(s.edits) == 0 {
			s.reaches = map[string]map[string]bool{}
			s.sources.own = map[string]*types.Package{}
			base := s.checked(s.sources.base.ImportPath, internal)
			s.sources.own[s.sources.base.ImportPath] = base
			s.checked(s.sources.base.ImportPath+"_test", external)
		}
		if s.code != "" || len(s.edits) == 0 {
			return
		}
		s.apply()
	}
	s.all = "errors without an end"
}

// parsed are the files of the package and of its external tests; one that cannot be parsed is cut to its head.
func (s *stubs) parsed() (internal, external []*ast.File) {
	for _, name := range s.names() {
		file, err := parser.ParseFile(s.sources.fset, name, s.content[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			s.tear(name, file, err)
			continue
		}
		if isTest(name) && strings.HasSuffix(file.Name.Name, "_test") {
			external = append(external, file)
		} else {
			internal = append(internal, file)
		}
	}
	return internal, external
}

// names are the paths of the files, the code's before the tests', which give way where both declare a name.
func (s *stubs) names() []string {
	names := make([]string, 0, len(s.content))
	for name := range s.content {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		if isTest(names[i]) != isTest(names[j]) {
			return !isTest(names[i])
		}
		return names[i] < names[j]
	})
	return names
}

func (s *stubs) tear(name string, file *ast.File, err error) {
	message := brief(place.ReplaceAllString(err.Error(), ""))
	if at := strings.Index(message, " (and "); at >= 0 {
		message = message[:at]
	}
	if !isTest(name) {
		s.code = message
		return
	}
	s.torn[s.relative(name)] = message
	head := "package " + filepath.Base(s.folder)
	if file != nil && file.Name != nil && file.Name.Name != "_" && file.Name.Name != "" {
		head = "package " + file.Name.Name
	} else {
		delete(s.content, name)
		s.changed[name] = nil
	}
	s.edits[name] = []edit{{0, len(s.content[name]), head + "\n"}}
}

func (s *stubs) relative(path string) string {
	found, err := filepath.Rel(s.root, path)
	check(err)
	return found
}

// checked type-checks some files; each error leads to an edit.
func (s *stubs) checked(path string, files []*ast.File) *types.Package {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	config := s.sources.config(func(err error) {
		if found, ok := err.(types.Error); ok {
			s.meet(found, files)
		}
	})
	for _, file := range files {
		s.refuseCycles(file, path)
	}
	made, _ := config.Check(path, s.sources.fset, files, info)
	s.follow(files, info)
	return made
}

// refuseCycles takes imports out of internal tests that lead back to their own package.
func (s *stubs) refuseCycles(file *ast.File, path string) {
	name := s.sources.fset.Position(file.Pos()).Filename
	if !isTest(name) || path != s.sources.base.ImportPath {
		return
	}
	for _, spec := range file.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		one := s.sources.listed[target]
		if err == nil && (target == path || one != nil && s.sources.needsBase(one)) {
			s.dropImport(file, spec, "import cycle not allowed in test")
		}
	}
}

var (
	// Told at what the code declares, then at the import, which may be a test's.
	imported  = regexp.MustCompile(`^\w+ already declared through import of `)
	undefined = regexp.MustCompile(`(?:undefined: (?:\w+\.)?|no field or method |undefined \(type .* has no field or method )(\w+)`)
	lacking   = regexp.MustCompile(`could not import (\S+)`)
)

// meet decides what an error changes.
func (s *stubs) meet(found types.Error, files []*ast.File) {
	at := s.sources.fset.Position(found.Pos)
	message := brief(found.Msg)
	if strings.HasPrefix(found.Msg, "\t") { // the other place of an error that was told before
		if s.clash == "" {
			return
		}
		message, s.clash = s.clash, ""
	} else if !isTest(at.Filename) && imported.MatchString(message) {
		s.clash = message
		return
	}
	if !isTest(at.Filename) {
		if s.code == "" {
			s.code = message
		}
		return
	}
	if named := undefined.FindStringSubmatch(message); named != nil && s.removed[named[1]] != "" {
		message = s.removed[named[1]]
	}
	for _, file := range files {
		if file.FileStart <= found.Pos && found.Pos <= file.FileEnd {
			s.change(file, found.Pos, message)
			return
		}
	}
}
