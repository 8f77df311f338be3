"""Detect a file's language (by name, suffix or shebang) and generated and minified files."""

import functools
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cqm.chunkers.languages.model import Language

MARKDOWN = "markdown"
TEXT = "text"


@dataclass(frozen=True, slots=True)
class Format:
    """A text format without a grammar: its name, suffixes and whole file names, in lower case."""

    name: str
    suffixes: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()


# Prose is cut at paragraphs and sentences, the other formats at blank lines and lines.
PROSE_FORMATS = (
    Format(
        TEXT,
        (".txt", ".text"),
        ("readme", "license", "licence", "copying", "notice", "authors", "contributors", "changelog", "changes"),
    ),
    Format("restructuredtext", (".rst", ".rest")),
    Format("asciidoc", (".adoc", ".asciidoc")),
    Format("org", (".org",)),
    Format("log", (".log",)),
    # R's pages are written in a dialect of it.
    Format("latex", (".tex", ".ltx", ".bib", ".rd")),
    # Pages of Racket.
    Format("scribble", (".scrbl",)),
    Format("textile", (".textile",)),
    Format("mediawiki", (".mediawiki", ".wiki")),
    Format("texinfo", (".texi", ".texinfo", ".txi")),
    Format("rdoc", (".rdoc",)),
    Format("pod", (".pod",)),
    Format("vimhelp", (".vimdoc",)),
    Format("roff", (".man", ".mdoc", ".roff")),
)

_OTHER_FORMATS = (
    Format(MARKDOWN, (".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdx", ".mdc", ".qmd", ".rmd")),
    Format("assembly", (".s", ".asm")),
    Format("astro", (".astro",)),
    Format("awk", (".awk", ".gawk")),
    Format("bicep", (".bicep",)),
    Format("bison", (".y", ".yy")),
    Format("codeowners", (), ("codeowners",)),
    Format("csv", (".csv", ".tsv", ".tab")),
    Format("diff", (".diff", ".patch")),
    Format("fish", (".fish",)),
    Format("fennel", (".fnl",)),
    Format("gomod", (), ("go.mod", "go.work")),
    Format("handlebars", (".hbs", ".handlebars", ".mustache")),
    Format("haml", (".haml",)),
    Format("html", (".html", ".htm", ".xhtml")),
    Format("janet", (".janet",)),
    Format("jinja", (".j2", ".jinja", ".jinja2")),
    Format(
        "json",
        (
            *(".json", ".jsonc", ".json5", ".jsonl", ".ndjson", ".geojson", ".jsonld", ".har"),
            *(".webmanifest", ".code-workspace"),
        ),
        (".babelrc", ".eslintrc", ".prettierrc", ".swcrc", "composer.lock", "flake.lock"),
    ),
    Format("jupyter", (".ipynb",)),
    Format("liquid", (".liquid",)),
    # Whole names below and suffixes of two parts come first. Without this one "Gemfile.lock" would be Ruby.
    Format("lock", (".lock",)),
    Format("meson", (), ("meson.build", "meson_options.txt")),
    Format("nginx", (".nginx",), ("nginx.conf",)),
    Format("pdf", (".pdf",)),
    Format("prisma", (".prisma",)),
    Format("prolog", (".prolog",)),
    Format("puppet", (".epp",)),
    Format("purescript", (".purs",)),
    Format("razor", (".cshtml", ".razor")),
    Format("reason", (".re", ".rei", ".res")),
    Format("sass", (".sass",)),
    Format("stylus", (".styl",)),
    Format("svelte", (".svelte",)),
    Format("blade", (".blade.php",)),
    Format(
        "template",
        (
            *(".erb", ".rhtml", ".eex", ".heex", ".leex", ".ejs", ".jsp", ".jspf", ".gsp", ".pug", ".jade", ".slim"),
            # Hygen writes programs by templates of EJS.
            ".ejs.t",
            *(".tmpl", ".gotmpl", ".gohtml", ".tpl", ".twig", ".njk", ".vm", ".tt"),
        ),
    ),
    Format("thrift", (".thrift",)),
    Format("toml", (".toml",), ("cargo.lock", "poetry.lock", "pdm.lock", "uv.lock", "pipfile")),
    Format("vhdl", (".vhd", ".vhdl")),
    Format("vue", (".vue",)),
    Format(
        "xml",
        (
            *(".xml", ".pom", ".xsd", ".xsl", ".xslt", ".svg", ".plist", ".csproj", ".fsproj", ".vbproj", ".props"),
            *(
                ".targets",
                ".resx",
                ".xaml",
                ".storyboard",
                ".xib",
                ".nuspec",
                ".wsdl",
                ".rss",
                ".atom",
                ".xcworkspacedata",
                ".kml",
            ),
        ),
    ),
    Format("yaml", (".yaml", ".yml"), (".clang-format", ".clang-tidy", ".clangd", "podfile.lock", "pubspec.lock")),
)

# Interpreters unknown to identify, or under another name there. Other shells are close enough to be read as one.
_INTERPRETERS = {
    "ash": "bash",
    "bb": "clojure",
    "bun": "typescript",
    "csh": "bash",
    "dash": "bash",
    "deno": "typescript",
    "elixir": "elixir",
    "escript": "erlang",
    "fish": "fish",
    "groovy": "groovy",
    "guile": "scheme",
    "gawk": "awk",
    "julia": "julia",
    "kotlin": "kotlin",
    "ksh": "bash",
    "lua": "lua",
    "luajit": "lua",
    "octave": "matlab",
    "pwsh": "powershell",
    "rscript": "r",
    "runghc": "haskell",
    "runhaskell": "haskell",
    "sbcl": "commonlisp",
    "scala": "scala",
    "sh": "bash",
    "swift": "swift",
    "tclsh": "tcl",
    "ts-node": "typescript",
    "tsx": "typescript",
    "zsh": "bash",
}

_ABOUT = frozenset({".in", ".template", ".example", ".sample", ".dist", ".orig", ".bak", ".disabled"})
"""Suffixes behind another one, which tells the language."""

_SUFFIX = re.compile(r"(?!\d+$)\w[\w+-]{0,14}")

_LEADING_LINES = 20
_LEADING_CHARACTERS = 4000

# A tool's note stands in a comment: after the line's comment sign, before any code.
_GENERATED_NOTE = re.compile(
    r"""^[ \t]*(?:\#|//|/\*|\*|<!--|--|;|%|"|\(\*|\{-|@rem)  # a comment begins or goes on
    .{0,200}?(?:
        code\ generated\ .{0,200}do\ not\ edit              # https://go.dev/s/generatedcode
      | (?<![\w"'`])@generated(?![\w"'`])                   # Phabricator, Cargo, Buck
      | <auto-?generated>                                   # C#; people write "<auto-generated />" to quiet linters
      | auto-?generated\ by | automatically\ generated\ by
      | generated\ by\ the\ protocol\ buffer\ compiler
      | generated\ .{0,200}do\ not\ (?:edit|modify)
      | do\ not\ (?:edit|modify)\b.{0,200}\bgenerated\b
    )""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)

_GENERATED_NAME = re.compile(
    r"_pb2(?:_grpc)?\.pyi?$|\.pb(?:\.gw)?\.(?:go|cc|h)$|\.pb\.swift$|_pb\.(?:js|d\.ts|rb)$|\.designer\.(?:cs|vb)$"
    r"|\.g(?:\.i)?\.cs$|\.(?:g|freezed|mocks|pb|pbenum|pbjson|pbgrpc)\.dart$"
    r"|(?:\.gen|[._]generated)\.(?:cc?|cpp|cs|dart|go|h|hpp|java|jsx?|kt|py|rb|rs|swift|tsx?)$",
    re.IGNORECASE,
)

_MINIFIED_NAME = re.compile(r"[.-]min\.(?:js|mjs|cjs|css)$|\.(?:js|mjs|cjs|css|d\.ts)\.map$", re.IGNORECASE)

# Hand-written, these have lines of 20 to 60 characters on average; minifiers write thousands.
_MINIFIED_SUFFIXES = (".js", ".mjs", ".cjs", ".css", ".html", ".htm", ".json", ".svg", ".xml")
_MINIFIED_LINE = 500
_MINIFIED_SIZE = 5_000


def language_of(path: str, head: str = "") -> str:
    """Return a file's language: a name of `LANGUAGES`, "markdown", "text" or another text format.

    The whole name decides, then the longest known suffix, then the shebang, then the content: it tells languages of one
    suffix apart, Markdown in a ".txt", and a program of an unknown language ("code") from text.

        language_of("src/App.tsx")                    # "tsx"
        language_of("Dockerfile.dev")                 # "dockerfile"
        language_of("run", "#!/usr/bin/env python3")  # "python"

    Parameters:
        path: with "/" between parts; only the last part counts.
        head: the first line of the text, or more; empty if unknown.
    """
    from cqm.chunkers.contents.guess import NAMES, by_content, by_suffix, is_markdown  # start-up time, here and below

    written = path.rpartition("/")[2]
    name = written.lower()
    by_name, suffixes = _tables()
    language = NAMES.get(written) or by_name.get(name, "")
    # Suffixes of two parts (".d.ts") come before those of one; "Dockerfile.dev" is a Dockerfile.
    parts = name.split(".")
    suffix = next((it for first in range(1, len(parts)) if (it := "." + ".".join(parts[first:])) in suffixes), "")
    if not suffix and len(parts) > 2 and f".{parts[-1]}" in _ABOUT:  # noqa: PLR2004 - "config.h.in"
        return language_of(".".join(written.split(".")[:-1]), head)
    if not language and suffix:
        language = by_suffix(suffix, suffixes[suffix], head)
    if not language and len(parts) > 1:
        language = by_name.get(parts[0], "")
    if not language:
        last = f".{parts[-1]}" if len(parts) > 1 and _SUFFIX.fullmatch(parts[-1]) else ""
        language = _language_of_shebang(head) or by_suffix(last, "", head) or by_content(last, head) or TEXT
    return MARKDOWN if language == TEXT and head and is_markdown(head) else language


@functools.cache
def known_languages() -> frozenset[str]:
    """Return the languages told by names of files: see `language_of`."""
    from cqm.chunkers.contents.guess import NAMES
    from cqm.chunkers.languages.table import LANGUAGES

    by_name, suffixes = _tables()
    return frozenset((*by_name.values(), *suffixes.values(), *NAMES.values(), *(row.name for row in LANGUAGES), TEXT))


def is_generated(path: str, text: str) -> bool:
    """Tell if a tool wrote a readable file, by its name or a note in its first 20 lines.

    Parameters:
        path: with "/" between parts.
    """
    if _GENERATED_NAME.search(path.rpartition("/")[2]):
        return True
    head = "\n".join(text[:_LEADING_CHARACTERS].split("\n")[:_LEADING_LINES])
    # Most heads lack the word common to all such notes.
    return "generated" in head.lower() and _GENERATED_NOTE.search(head) is not None


def is_minified(path: str, text: str) -> bool:
    """Tell if a file is for machines, by its name (`app.min.js`, `app.js.map`) or its long lines.

    Parameters:
        path: with "/" between parts.
        text: all of the file; empty to go by the name.
    """
    name = path.rpartition("/")[2].lower()
    if _MINIFIED_NAME.search(name):
        return True
    if not name.endswith(_MINIFIED_SUFFIXES) or len(text) < _MINIFIED_SIZE:
        return False
    return len(text) > _MINIFIED_LINE * (text.count("\n") + 1)


@functools.cache
def _tables() -> tuple[dict[str, str], dict[str, str]]:
    from cqm.chunkers.contents.guess import MORE
    from cqm.chunkers.languages.table import GUESSED, LANGUAGES

    # Languages with a grammar come last: they win over a format of the same name or suffix.
    rows: tuple[Format | Language, ...] = (*PROSE_FORMATS, *_OTHER_FORMATS, *GUESSED, *LANGUAGES)
    by_name = {name.lower(): row.name for row in rows for name in row.filenames}
    suffixes = MORE | {suffix.lower(): row.name for row in rows for suffix in row.suffixes}
    return by_name, suffixes


def _language_of_shebang(head: str) -> str:
    if not head.startswith("#!"):
        return ""
    from identify.identify import parse_shebang, tags_from_interpreter  # few files have no suffix

    # No system reads more than 512 bytes of a shebang; an endless line would cost its whole length.
    command = parse_shebang(io.BytesIO(head.partition("\n")[0][:512].encode("utf-8", "replace")))
    if not command:
        return ""
    interpreter = command[0].rpartition("/")[2].lower()
    if interpreter in _INTERPRETERS:
        return _INTERPRETERS[interpreter]
    known = set(_tables()[1].values())
    return min(tags_from_interpreter(interpreter) & known, default="")
