"""Recognise pages which a tool made of a program's documentation comments."""

import re

_HEAD = 6_000
_FOOT = 4_000

# Each writes its name into the page's head, or only into its foot; a page about a tool has it in its text.
_TOOLS = re.compile(
    r"""<meta\ name=["']?generator["']?\ content=["']?
        (?P<meta>javadoc|doxygen|dokka|rustdoc|typedoc|docutils|sphinx|scaladoc|jsdoc|yard|pdoc|jazzy|docfx|ford|phpdoc)
      | <!--\ (?:File\ )?generated\ by\ (?P<note>javadoc|doxygen|groovydoc|jsdoc|dokka|docfx)\b
      | \bid="(?P<drawings>diagrams-css)"
      | ["'/](?P<script>dokka(?=-dark-mode)|jazzy(?=\.css)|yard(?=_ruby)|searchindex(?=\.js["']))
      | (?P<wrapper>scaladoc|rustdoc|dokka)(?:\.css|\.js|Html|-version|-search)
      | (?:created|built|generated)\ (?:using|with|by)\ <a\b[^<>]{0,200}>\s*
        (?P<foot>sphinx|typedoc|doxygen|jsdoc|yard|pdoc|haddock|exdoc|dokka)\b
      | documentation\ generated\ by\ <a\b[^<>]{0,200}>jsdoc\ (?P<last>3|4)""",
    re.IGNORECASE | re.VERBOSE,
)
_NAMES = {"diagrams-css": "scaladoc", "docutils": "sphinx", "searchindex": "sphinx", "3": "jsdoc", "4": "jsdoc"}


def made_by(text: str) -> str:
    """Return the tool behind a page of API documentation, by its beginning and end: "javadoc"; empty for others."""
    ends = (text[:_HEAD], text[-_FOOT:]) if len(text) > _HEAD else (text,)
    found = next((match for end in ends if (match := _TOOLS.search(end))), None)
    name = found[found.lastgroup or 0].lower() if found else ""
    return _NAMES.get(name, name)
