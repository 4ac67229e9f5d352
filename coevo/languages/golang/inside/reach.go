package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"
)

// key returns the name of a function as `path#F`, that of a method as `path#T.M`.
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

// always stands for everything that runs before the tests, as the starting point of a search.
const always = "#always"

// follow notes for each declaration in the test files which other declarations in test files it uses.
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

// uses adds what follow misses: external tests see the declarations of internal ones as other objects with the same
// names.
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

// broken returns, for each declaration that was changed or uses a changed one at any distance, the error that led to
// the change. If the changed one runs before the tests, all tests are broken.
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

// reached returns the error of the first changed declaration, in the order of keys, that a declaration is or uses at
// any distance; "" if there is none.
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
