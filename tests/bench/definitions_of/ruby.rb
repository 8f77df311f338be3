# Prints the definitions of Ruby, found by its own parser: path, line, name. Paths are read from standard input.
MACROS = %i[attr_accessor attr_reader attr_writer scope alias_method define_method delegate cattr_accessor mattr_accessor
            class_attribute has_many has_one belongs_to].freeze
ONE = %i[scope alias_method define_method has_many has_one belongs_to].freeze

def tell(path, line, name) = puts("#{path}\t#{line}\t#{name}")

def visit(path, node, own = true)
  return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)

  case node.type
  when :DEFN then tell(path, node.first_lineno, node.children[0])
  when :DEFS then tell(path, node.first_lineno, node.children[1])
  when :CLASS, :MODULE then tell(path, node.first_lineno, node.children[0].children.last)
  when :CDECL
    name = node.children[0]
    tell(path, node.first_lineno, name) if name.is_a?(Symbol)
  when :ALIAS
    name = node.children[0]
    tell(path, name.first_lineno, name.children[0]) if name.type == :LIT
  when :FCALL
    if MACROS.include?(node.children[0]) && own && node.children[1]
      names = node.children[1].children.compact.select { |it| it.type == :LIT && it.children[0].is_a?(Symbol) }
      names = names.first(1) if ONE.include?(node.children[0])
      names.each { |it| tell(path, it.first_lineno, it.children[0]) }
    end
  end
  node.children.each { |it| visit(path, it, own && !%i[DEFN DEFS].include?(node.type)) }
end

$stdin.each_line(chomp: true) do |path|
  visit(path, RubyVM::AbstractSyntaxTree.parse_file(path))
  tell(path, 0, "")
rescue SyntaxError
  next
end
