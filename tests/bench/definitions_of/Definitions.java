import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.net.URI;
import java.nio.file.*;
import java.util.*;
import javax.tools.*;

/** Prints the definitions of Java, found by javac: path, line, name. Paths are read from standard input, one a line. */
public class Definitions {
    public static void main(String[] arguments) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        for (String path : new BufferedReader(new InputStreamReader(System.in)).lines().toList()) {
            String text = Files.readString(Path.of(path));
            var file = new SimpleJavaFileObject(URI.create("string:///A.java"), JavaFileObject.Kind.SOURCE) {
                @Override
                public CharSequence getCharContent(boolean ignored) {
                    return text;
                }
            };
            var problems = new DiagnosticCollector<JavaFileObject>();
            JavacTask task = (JavacTask) compiler.getTask(null, null, problems, List.of(), null, List.of(file));
            StringBuilder found = new StringBuilder();
            SourcePositions positions = Trees.instance(task).getSourcePositions();
            for (CompilationUnitTree unit : task.parse()) {
                new TreePathScanner<Void, Void>() {
                    void tell(Tree node, String name) {
                        // The name is the first word of its kind behind the modifiers and the type.
                        long start = positions.getStartPosition(unit, node);
                        if (node instanceof VariableTree variable && variable.getType() != null)
                            start = Math.max(start, positions.getEndPosition(unit, variable.getType()));
                        if (node instanceof MethodTree method && method.getReturnType() != null)
                            start = Math.max(start, positions.getEndPosition(unit, method.getReturnType()));
                        ModifiersTree modifiers = node instanceof MethodTree method ? method.getModifiers()
                            : node instanceof ClassTree type ? type.getModifiers() : ((VariableTree) node).getModifiers();
                        start = Math.max(start, positions.getEndPosition(unit, modifiers));
                        var word = java.util.regex.Pattern.compile("\\b" + java.util.regex.Pattern.quote(name) + "\\b").matcher(text);
                        long line = unit.getLineMap().getLineNumber(word.find((int) Math.max(start, 0)) ? word.start() : start);
                        found.append(path + "\t" + line + "\t" + name + "\n");
                    }

                    @Override
                    public Void visitClass(ClassTree node, Void nothing) {
                        if (!node.getSimpleName().isEmpty()) tell(node, node.getSimpleName().toString());
                        return super.visitClass(node, nothing);
                    }

                    @Override
                    public Void visitNewClass(NewClassTree node, Void nothing) {
                        // Members of anonymous classes don't count, those of enum constants do.
                        boolean isConstant = getCurrentPath().getParentPath().getLeaf() instanceof VariableTree field
                            && (field.getModifiers().toString().contains("enum") || text.charAt((int) positions.getStartPosition(unit, node)) != 'n');
                        return isConstant ? super.visitNewClass(node, nothing) : null;
                    }

                    @Override
                    public Void visitMethod(MethodTree node, Void nothing) {
                        ClassTree type = (ClassTree) getCurrentPath().getParentPath().getLeaf();
                        boolean constructs = node.getName().contentEquals("<init>");
                        String name = constructs ? type.getSimpleName().toString() : node.getName().toString();
                        if (positions.getEndPosition(unit, node) >= 0) tell(node, name);
                        return super.visitMethod(node, nothing);
                    }

                    @Override
                    public Void visitVariable(VariableTree node, Void nothing) {
                        if (getCurrentPath().getParentPath().getLeaf() instanceof ClassTree)
                            tell(node, node.getName().toString());
                        return super.visitVariable(node, nothing);
                    }
                }.scan(unit, null);
            }
            if (problems.getDiagnostics().stream().noneMatch(it -> it.getKind() == Diagnostic.Kind.ERROR))
                System.out.print(found + path + "\t0\t\n");
        }
    }
}
