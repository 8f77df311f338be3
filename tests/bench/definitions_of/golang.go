// Prints the definitions of Go, found by go/ast: path, line, name. Paths are read from standard input, one a line.
package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
)

func main() {
	paths := bufio.NewScanner(os.Stdin)
	for paths.Scan() {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, paths.Text(), nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		tell := func(name *ast.Ident) {
			if name.Name != "_" {
				fmt.Printf("%s\t%d\t%s\n", paths.Text(), files.Position(name.Pos()).Line, name.Name)
			}
		}
		for _, declaration := range file.Decls {
			switch it := declaration.(type) {
			case *ast.FuncDecl:
				tell(it.Name)
			case *ast.GenDecl:
				for _, spec := range it.Specs {
					switch it := spec.(type) {
					case *ast.ValueSpec:
						for _, name := range it.Names {
							tell(name)
						}
					case *ast.TypeSpec:
						tell(it.Name)
						members(it.Type, tell)
					}
				}
			}
		}
		fmt.Printf("%s\t0\t\n", paths.Text())
	}
}

func members(of ast.Expr, tell func(*ast.Ident)) {
	var fields *ast.FieldList
	isStruct := false
	switch it := of.(type) {
	case *ast.StructType:
		fields, isStruct = it.Fields, true
	case *ast.InterfaceType:
		fields = it.Methods
	default:
		return
	}
	for _, field := range fields.List {
		for _, name := range field.Names {
			tell(name)
		}
		if len(field.Names) == 0 && isStruct {
			embedded(field.Type, tell)
		} else {
			members(field.Type, tell)
		}
	}
}

// The name of an embedded field is that of its type.
func embedded(of ast.Expr, tell func(*ast.Ident)) {
	switch it := of.(type) {
	case *ast.Ident:
		tell(it)
	case *ast.StarExpr:
		embedded(it.X, tell)
	case *ast.SelectorExpr:
		tell(it.Sel)
	case *ast.IndexExpr:
		embedded(it.X, tell)
	}
}
