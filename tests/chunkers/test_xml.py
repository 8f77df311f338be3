from xml.parsers import expat

import pytest
from gapless import assert_gapless
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, ChunkReport, Document
from cqm.chunkers.pages.xml_elements import elements_of, walk

APART = ChunkOptions(max_tokens=512, min_tokens=0)
SMALL = ChunkOptions(max_tokens=64, min_tokens=16)

SPRING = """<?xml version="1.0" encoding="UTF-8"?>
<beans xmlns="http://www.springframework.org/schema/beans" profile="production">
    <!-- Where the data is. -->
    <bean id="dataSource" class="com.zaxxer.hikari.HikariDataSource">
        <property name="jdbcUrl" value="jdbc:h2:mem:test"/>
    </bean>
    <!-- One. -->
    <!-- Two. -->
    <bean id="clock" class="java.time.Clock"/> <!-- on its line -->
    <import resource="other.xml"/>
</beans>
"""

NABLARCH = """<component-configuration xmlns="http://tis.co.jp/nablarch/component-configuration">
  <component name="multipart" class="nablarch.fw.web.upload.MultipartHandler"/>
  <list name="handlerQueue">
    <component class="nablarch.fw.web.handler.HttpCharacterEncodingHandler"/>
    <component class="nablarch.fw.handler.GlobalErrorHandler"/>
  </list>
</component-configuration>
"""

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <artifactId>shop</artifactId>
  <modules>
    <module>core</module>
    <module>web</module>
  </modules>
  <dependencies>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-api</artifactId>
      <version>2.0.9</version>
    </dependency>
    <dependency>
      <groupId>junit</groupId>
      <artifactId>junit</artifactId>
    </dependency>
  </dependencies>
</project>
"""


def chunked(text: str, options: ChunkOptions = APART, path: str = "a.xml") -> ChunkReport:
    return chunk(Document(path, text), options)


def symbols(text: str, options: ChunkOptions = APART) -> list[str]:
    return [chunk.symbol for chunk in chunked(text, options).chunks]


def named(report: ChunkReport, symbol: str) -> Chunk:
    return next(chunk for chunk in report.chunks if chunk.symbol == symbol)


def check(text: str, options: ChunkOptions) -> None:
    chunks = chunked(text, options).chunks
    assert_gapless(text, chunks)
    assert all(piece.tokens <= options.max_tokens for piece in chunks)


@pytest.mark.row("D3")
def test_each_element_below_the_root_is_a_chunk_called_by_its_path_and_id() -> None:
    assert symbols(SPRING) == ["beans", "beans > bean#dataSource", "beans > bean#clock", "beans > import"]
    assert {chunk.strategy for chunk in chunked(SPRING).chunks} == {"xml"}


@pytest.mark.row("D3")
def test_comments_stay_with_the_element_after_them_or_the_one_on_their_line() -> None:
    report = chunked(SPRING)
    assert named(report, "beans > bean#dataSource").text.startswith("    <!-- Where the data is. -->\n    <bean")
    clock = named(report, "beans > bean#clock").text
    assert clock.startswith("    <!-- One. -->")
    assert clock.endswith("<!-- on its line -->\n")


@pytest.mark.row("D3")
def test_the_context_of_an_element_is_the_opening_tags_around_it() -> None:
    report = chunked(NABLARCH, ChunkOptions(max_tokens=64, min_tokens=0))
    parent = '<component-configuration xmlns="http://tis.co.jp/nablarch/component-configuration">'
    assert named(report, "component-configuration > component multipart").context == f"<!-- Parent: {parent} -->"


@pytest.mark.row("D3")
def test_class_and_root_attributes_are_facts() -> None:
    metadata = named(chunked(SPRING), "beans > bean#dataSource").metadata
    assert metadata.fqcn == "com.zaxxer.hikari.HikariDataSource"
    assert metadata.facts["element_type"] == "bean"
    assert metadata.facts["root_attributes"] == ("profile=production",)
    handlers = named(chunked(NABLARCH), "component-configuration > list handlerQueue").metadata.facts
    assert handlers["classes"] == (
        "nablarch.fw.web.handler.HttpCharacterEncodingHandler",
        "nablarch.fw.handler.GlobalErrorHandler",
    )


@pytest.mark.row("D3")
def test_an_element_without_a_name_is_told_by_its_class() -> None:
    text = f"<list>{'<!-- a long comment that fills the chunk -->' * 3}\n<handler class='a.b.C'/>\n</list>"
    assert "list > handler a.b.C" in symbols(text)


@pytest.mark.row("D3")
def test_artifacts_of_maven_are_called_by_their_coordinates() -> None:
    report = chunked(POM)
    dependencies = named(report, "project > dependencies")
    assert "project > dependencies > dependency org.slf4j:slf4j-api" in dependencies.defines
    assert dependencies.metadata.facts["coordinates"] == ("org.slf4j:slf4j-api:2.0.9", "junit:junit")
    assert named(report, "project > modules").metadata.facts["modules"] == ("core", "web")


@pytest.mark.row("D3")
def test_an_element_over_the_limit_is_divided_at_its_own_elements() -> None:
    items = "".join(f'    <item name="n{number}">{"word " * 30}</item>\n' for number in range(6))
    text = f'<root>\n  <group id="g" kind="k">\n{items}  </group>\n</root>\n'
    report = chunked(text, ChunkOptions(max_tokens=64, min_tokens=0))
    assert [chunk.symbol for chunk in report.chunks][2:] == [f"root > group#g > item n{number}" for number in range(6)]
    assert report.chunks[-1].context == '<!-- Parent: <root> <group id="g" kind="k"> -->'


@pytest.mark.row("D3")
def test_small_neighbours_are_packed_until_they_are_no_longer_small() -> None:
    items = "".join(f'  <string name="label_{number}">Text</string>\n' for number in range(40))
    report = chunked(f"<resources>\n{items}</resources>\n", ChunkOptions(max_tokens=512, min_tokens=64))
    assert 4 < len(report.chunks) < 15
    names = [name for chunk in report.chunks for name in chunk.defines]
    assert names == ["resources", *(f"resources > string label_{number}" for number in range(40))]


@pytest.mark.row("D3")
@pytest.mark.parametrize(
    ("path", "text", "symbol"),
    [
        ("build.xml", '<project name="p">\n<target name="compile"/>\n</project>', "project > target compile"),
        ("a.csproj", '<Project>\n<PackageReference Include="X"/>\n</Project>', "Project > PackageReference X"),
        ("a.xml", '<manifest>\n<activity android:name=".Main"/>\n</manifest>', "manifest > activity .Main"),
        ("a.svg", '<svg>\n<g id="icon"><path d="M0"/></g>\n</svg>', "svg > g#icon"),
        ("a.plist", "<dict>\n<key>Name</key>\n<string>x</string>\n</dict>", "dict > key Name"),
        ("a.xsl", '<xsl:stylesheet>\n<xsl:template match="/"/>\n</xsl:stylesheet>', "xsl:stylesheet > xsl:template /"),
        ("w.xml", "<web-app>\n<servlet><servlet-name>s</servlet-name></servlet>\n</web-app>", "web-app > servlet s"),
    ],
)
def test_elements_of_well_known_formats_have_names(path: str, text: str, symbol: str) -> None:
    (chunk,) = chunked(text, ChunkOptions(), path).chunks
    assert symbol in chunk.defines


def test_the_value_of_a_property_list_stays_with_its_key() -> None:
    pairs = "".join(f"<key>Key{number}</key>\n<string>value</string>\n" for number in range(9))
    chunks = chunked(f"<plist>\n<dict>\n{pairs}</dict>\n</plist>", ChunkOptions(max_tokens=64, min_tokens=0)).chunks
    assert len(chunks) > 9
    assert all(chunk.text.count("<key>") == chunk.text.count("<string>") for chunk in chunks)


@pytest.mark.row("D3")
def test_tags_without_a_partner_are_mended_with_a_warning() -> None:
    report = chunked("<a>\n<b id='1'>text\n<c/>\n</a>\n</d>\n")
    assert report.warnings == ("2 tags have no partner",)
    assert report.chunks[0].symbol == "a"


def test_text_without_an_element_is_cut_at_lines() -> None:
    report = chunked("no markup at all\n")
    assert [chunk.strategy for chunk in report.chunks] == ["lines"]
    assert "no element found" in report.warnings[0]


@pytest.mark.parametrize(
    "hidden",
    [
        "<!-- <fake> -->",
        "<![CDATA[<fake>]]>",
        "<?php <fake> ?>",
        "<real value='<fake>'/>",
        '<!DOCTYPE a [<!ENTITY e "<fake>"> <!-- ]> <fake> --> ]>',
    ],
)
def test_what_only_looks_like_a_tag_is_none(hidden: str) -> None:
    text = f"{hidden}<a/>" if "DOCTYPE" in hidden else f"<a>{hidden}</a>"
    assert "fake" not in [element.name for element in walk(elements_of(text).roots)]
    assert chunked(text).warnings == ()


def test_entities_are_never_expanded() -> None:
    declared = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">\n' for n in range(1, 30))
    text = f'<!DOCTYPE a [\n<!ENTITY e0 "ha">\n{declared}]>\n<a>&e29;<b name="&e29;"/></a>\n'
    check(text, APART)
    assert any("&e29;" in chunk.text for chunk in chunked(text).chunks)


def spans_by_expat(text: str) -> list[tuple[str, int, int]]:
    """Name, start and end of the content of each element, in bytes, by the standard library's parser."""
    parser = expat.ParserCreate("utf-8")
    found: list[tuple[str, int]] = []
    parser.StartElementHandler = lambda name, _attributes: found.append((name, parser.CurrentByteIndex))
    ends: list[tuple[str, int]] = []
    parser.EndElementHandler = lambda name: ends.append((name, parser.CurrentByteIndex))
    parser.Parse(text.encode(), True)
    return [(name, start, 0) for name, start in found] + [(name, 0, end) for name, end in ends]


NAMES = st.sampled_from(["a", "b", "ns:c", "d-e", "f.g"])
TEXTS = st.sampled_from(["", "words", "\n  ", "&amp;", "<!-- <a> -->", "<![CDATA[</a>]]>", "<?pi <b>?>", "語"])
ATTRIBUTES = st.sampled_from(["", ' id="1"', " name = '>'", ' x="\'/>"', ' class="a.B"\n'])
TREES = st.recursive(
    st.builds("<{0}{1}/>".format, NAMES, ATTRIBUTES),
    lambda inner: st.builds(
        lambda name, attributes, parts: f"<{name}{attributes}>{''.join(parts)}</{name} >",
        NAMES,
        ATTRIBUTES,
        st.lists(inner | TEXTS, max_size=5),
    ),
    max_leaves=20,
)


@pytest.mark.row("D3")
@given(TREES)
def test_well_formed_elements_are_where_a_parser_of_xml_finds_them(tree: str) -> None:
    text = f'<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY x "]>">]>\n{tree}\n'
    forest = elements_of(text)
    elements = list(walk(forest.roots))
    starts = [(element.tag.name, len(text[: element.start].encode())) for element in elements]
    closings = [
        (element.tag.name, len(text[: element.closing].encode())) for element in elements if element.tag.kind == "open"
    ]
    found = spans_by_expat(text)
    assert forest.unmatched == 0
    assert starts == [(name, start) for name, start, end in found if not end]
    assert set(closings) <= {(name, end) for name, _start, end in found if end}


SOUP = ["<a>", "</a>", "<b id='1'>", "</b>", "<c/>", "<", ">", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>", '="', "'"]
SOUP += ["<!DOCTYPE a [", "]>", "words and words ", "\n", "\r\n", "&e;", "\x00", "\ud800", "語語語", " " * 30]


@pytest.mark.row("D3")
@given(st.lists(st.tuples(st.sampled_from(SOUP), st.integers(1, 40)), max_size=30), st.sampled_from([SMALL, APART]))
def test_any_soup_of_tags_is_covered_within_the_limit(parts: list[tuple[str, int]], options: ChunkOptions) -> None:
    check("".join(part * times for part, times in parts), options)


@pytest.mark.long
@pytest.mark.parametrize(
    "part",
    ["<a>", "<a></b>", "</a>", "<a b='", "<!--", "<![CDATA[", "<!DOCTYPE [<!--", "<a/>", "<key>a</key>", "<a>x\n"],
)
def test_a_tenth_of_a_megabyte_of_anything_is_covered(part: str) -> None:
    check(part * (100_000 // len(part)), ChunkOptions())


def test_windows_line_ends_give_the_same_symbols_and_lines() -> None:
    plain, windows = chunked(POM), chunked(POM.replace("\n", "\r\n"))
    assert [(chunk.symbol, chunk.start_line) for chunk in plain.chunks] == [
        (chunk.symbol, chunk.start_line) for chunk in windows.chunks
    ]


@pytest.mark.long
@pytest.mark.timeout(60)  # Linear work takes a second at most, what it once was took minutes.
def test_very_many_comments_before_an_element_are_read_once() -> None:
    text = "<a><b/>" + "<?x?>" * 800_000 + "<c/></a>"
    chunks = chunked(text, ChunkOptions(max_parse_bytes=len(text))).chunks
    assert "".join(piece.text for piece in chunks) == text
