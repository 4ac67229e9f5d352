package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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
	reaches map[string]map[string]bool
	round   int
	edits   map[string][]edit
}

type edit struct {
	start, end int
	text       string
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
	undefined = regexp.MustCompile(`(?:undefined: (?:\w+\.)?|no field or method |undefined \(type .* has no field or method )(\w+)`)
	lacking   = regexp.MustCompile(`could not import (\S+)`)
)

// meet decides what an error changes.
func (s *stubs) meet(found types.Error, files []*ast.File) {
	if strings.HasPrefix(found.Msg, "\t") { // the other place of an error that was told before
		return
	}
	at := s.sources.fset.Position(found.Pos)
	message := brief(found.Msg)
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

func (s *stubs) change(file *ast.File, pos token.Pos, message string) {
	for _, spec := range file.Imports {
		if spec.Pos() <= pos && pos < spec.End() {
			s.changeImport(file, spec, message)
			return
		}
	}
	for _, declaration := range file.Decls {
		if pos < declaration.Pos() || declaration.End() < pos {
			continue
		}
		switch one := declaration.(type) {
		case *ast.FuncDecl:
			s.changeFunction(file, one, pos, message)
		case *ast.GenDecl:
			s.changeSpec(file, one, pos, message)
		}
		return
	}
	if s.all == "" { // of no declaration: the name of the package is another one
		s.torn[s.relative(s.sources.fset.Position(pos).Filename)] = message
		s.edit(file, file.FileStart, file.FileEnd, "package "+file.Name.Name+"\n")
	}
}

func (s *stubs) changeFunction(file *ast.File, one *ast.FuncDecl, pos token.Pos, message string) {
	key := s.key(one)
	if _, known := s.why[key]; !known {
		s.why[key] = message
	}
	if one.Body != nil && one.Body.Pos() <= pos && one.Name.Name != "init" {
		s.edit(file, one.Body.Pos(), one.Body.End(), fmt.Sprintf("{ panic(%q) }", "coevo.stub: "+message))
		return
	}
	s.goes(one.Name.Name, message)
	s.edit(file, one.Pos(), one.End(), "")
}

func (s *stubs) changeSpec(file *ast.File, one *ast.GenDecl, pos token.Pos, message string) {
	for _, spec := range one.Specs {
		if pos < spec.Pos() || spec.End() < pos {
			continue
		}
		for _, name := range declared(spec) {
			s.goes(name.Name, message)
		}
		if one.Tok == token.CONST && len(one.Specs) > 1 {
			for _, other := range one.Specs {
				for _, name := range declared(other) {
					s.goes(name.Name, message)
				}
			}
			break
		}
		if len(one.Specs) > 1 || one.Lparen.IsValid() {
			s.edit(file, spec.Pos(), spec.End(), "")
			return
		}
	}
	s.edit(file, one.Pos(), one.End(), "")
}

func declared(spec ast.Spec) []*ast.Ident {
	switch one := spec.(type) {
	case *ast.ValueSpec:
		return one.Names
	case *ast.TypeSpec:
		return []*ast.Ident{one.Name}
	}
	return nil
}

func (s *stubs) goes(name, message string) {
	if s.removed[name] == "" {
		s.removed[name] = message
	}
}

func (s *stubs) changeImport(file *ast.File, spec *ast.ImportSpec, message string) {
	if !strings.Contains(message, "imported") || !strings.Contains(message, "not used") {
		if found := lacking.FindStringSubmatch(message); found != nil {
			message = "could not import " + found[1]
		}
		s.dropImport(file, spec, message)
		return
	}
	if s.round == 0 { // it was so before anything was changed: an error of the whole file
		s.torn[s.relative(s.sources.fset.Position(spec.Pos()).Filename)] = message
	}
	if spec.Name != nil {
		s.edit(file, spec.Name.Pos(), spec.Name.End(), "_")
		return
	}
	s.edit(file, spec.Pos(), spec.Pos(), "_ ")
}

var version = regexp.MustCompile(`^v\d+$`)

// dropImport takes an import out; who used it cannot be compiled, which the next round finds.
func (s *stubs) dropImport(file *ast.File, spec *ast.ImportSpec, message string) {
	target, _ := strconv.Unquote(spec.Path.Value)
	parts := strings.Split(target, "/")
	name := parts[len(parts)-1]
	if version.MatchString(name) && len(parts) > 1 {
		name = parts[len(parts)-2]
	}
	name, _, _ = strings.Cut(name, ".")
	if spec.Name != nil {
		name = spec.Name.Name
	}
	s.goes(name, message)
	s.edit(file, spec.Pos(), spec.End(), "")
}

// edit keeps the lines of what stands below: tests know in which they are called.
func (s *stubs) edit(file *ast.File, start, end token.Pos, text string) {
	fset := s.sources.fset
	path := fset.Position(start).Filename
	base := fset.File(file.FileStart)
	from, to := base.Offset(start), base.Offset(end)
	if content := s.content[path]; to <= len(content) {
		lost := strings.Count(string(content[from:to]), "\n") - strings.Count(text, "\n")
		text += strings.Repeat("\n", max(0, lost))
	}
	s.edits[path] = append(s.edits[path], edit{from, to, text})
}

// apply makes the edits of a round; of two in one place the larger one counts, of equal ones the first.
func (s *stubs) apply() {
	for path, edits := range s.edits {
		if _, there := s.content[path]; !there {
			continue
		}
		sort.SliceStable(edits, func(i, j int) bool {
			if edits[i].start != edits[j].start {
				return edits[i].start < edits[j].start
			}
			return edits[i].end > edits[j].end
		})
		var made []byte
		last := 0
		for _, one := range edits {
			if one.start < last || (one.start == last && last > 0 && one.start == one.end) {
				continue
			}
			made = append(made, s.content[path][last:one.start]...)
			made = append(made, one.text...)
			last = one.end
		}
		made = append(made, s.content[path][last:]...)
		s.content[path], s.changed[path] = made, made
	}
}

// -- what reaches what ------------------------------------------------------------------------------------

// key names a function by its file; methods by their type, too.
func (s *stubs) key(one *ast.FuncDecl) string {
	path := s.relative(s.sources.fset.Position(one.Pos()).Filename)
	if one.Recv != nil && len(one.Recv.List) > 0 {
		return path + "#" + receiver(one.Recv.List[0].Type) + "." + one.Name.Name
	}
	return path + "#" + one.Name.Name
}

func receiver(expression ast.Expr) string {
	switch one := expression.(type) {
	case *ast.StarExpr:
		return receiver(one.X)
	case *ast.ParenExpr:
		return receiver(one.X)
	case *ast.IndexExpr:
		return receiver(one.X)
	case *ast.IndexListExpr:
		return receiver(one.X)
	case *ast.Ident:
		return one.Name
	}
	return ""
}

// always is what runs before any test.
const always = "#always"

// follow notes, of each declaration in the tests, which others of them it uses.
func (s *stubs) follow(files []*ast.File, info *types.Info) {
	owners := map[types.Object]string{}
	var tests []*ast.File
	for _, file := range files {
		if !isTest(s.sources.fset.Position(file.Pos()).Filename) {
			continue
		}
		tests = append(tests, file)
		for _, declaration := range file.Decls {
			for _, name := range namesOf(declaration) {
				if object := info.Defs[name]; object != nil {
					owners[object] = s.owner(declaration, name)
				}
			}
		}
	}
	for _, file := range tests {
		for _, declaration := range file.Decls {
			s.note(declaration, owners, info)
		}
	}
	s.uses(owners, files, info)
}

// uses adds those of external tests, which see what internal ones declare by other objects of the same name.
func (s *stubs) uses(owners map[types.Object]string, files []*ast.File, info *types.Info) {
	for identifier, object := range info.Uses {
		if object == nil || object.Pkg() == nil || owners[origin(object)] != "" {
			continue
		}
		at := s.sources.fset.Position(object.Pos())
		if isTest(at.Filename) && at.Filename != s.sources.fset.Position(identifier.Pos()).Filename {
			path := s.relative(at.Filename)
			for _, file := range files {
				if file.FileStart <= identifier.Pos() && identifier.Pos() <= file.FileEnd {
					for _, user := range s.enclosing(file, identifier.Pos()) {
						s.reach(user, path+"#"+object.Name())
					}
				}
			}
		}
	}
}

func (s *stubs) enclosing(file *ast.File, pos token.Pos) []string {
	var found []string
	for _, declaration := range file.Decls {
		if declaration.Pos() <= pos && pos <= declaration.End() {
			for _, name := range namesOf(declaration) {
				found = append(found, s.owner(declaration, name))
			}
		}
	}
	return found
}

func origin(object types.Object) types.Object {
	switch one := object.(type) {
	case *types.Func:
		return one.Origin()
	case *types.Var:
		return one.Origin()
	}
	return object
}

func namesOf(declaration ast.Decl) []*ast.Ident {
	switch one := declaration.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{one.Name}
	case *ast.GenDecl:
		var found []*ast.Ident
		for _, spec := range one.Specs {
			found = append(found, declared(spec)...)
		}
		return found
	}
	return nil
}

func (s *stubs) owner(declaration ast.Decl, name *ast.Ident) string {
	if one, ok := declaration.(*ast.FuncDecl); ok {
		return s.key(one)
	}
	return s.relative(s.sources.fset.Position(name.Pos()).Filename) + "#" + name.Name
}

func (s *stubs) note(declaration ast.Decl, owners map[types.Object]string, info *types.Info) {
	switch one := declaration.(type) {
	case *ast.FuncDecl:
		key := s.key(one)
		if one.Recv == nil && (one.Name.Name == "init" || one.Name.Name == "TestMain") {
			s.reach(always, key)
		}
		s.walk(key, one, owners, info)
	case *ast.GenDecl:
		for _, spec := range one.Specs {
			for _, name := range declared(spec) {
				key := s.owner(declaration, name)
				if one.Tok == token.VAR {
					s.reach(always, key)
				}
				s.walk(key, spec, owners, info)
			}
		}
	}
}

func (s *stubs) walk(key string, node ast.Node, owners map[types.Object]string, info *types.Info) {
	ast.Inspect(node, func(inner ast.Node) bool {
		if name, ok := inner.(*ast.Ident); ok && info.Uses[name] != nil {
			if owner := owners[origin(info.Uses[name])]; owner != "" && owner != key {
				s.reach(key, owner)
			}
		}
		return true
	})
}

func (s *stubs) reach(from, to string) {
	if s.reaches[from] == nil {
		s.reaches[from] = map[string]bool{}
	}
	s.reaches[from][to] = true
}

// broken tells of each test whose text reaches something that was changed, why it was.
func (s *stubs) broken() map[string]string {
	if why := s.reached(always); why != "" && s.all == "" {
		s.all = why
	}
	found := map[string]string{}
	for key := range s.reaches {
		if why := s.reached(key); why != "" {
			found[key] = why
		}
	}
	for key, why := range s.why {
		found[key] = why
	}
	return found
}

// reached is why the first, in the order of keys, of what a declaration leads to was changed.
func (s *stubs) reached(from string) string {
	seen, todo := map[string]bool{from: true}, []string{from}
	var hit []string
	for len(todo) > 0 {
		key := todo[0]
		todo = todo[1:]
		if s.why[key] != "" {
			hit = append(hit, key)
		}
		for next := range s.reaches[key] {
			if !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	if len(hit) == 0 {
		return ""
	}
	sort.Strings(hit)
	return s.why[hit[0]]
}
