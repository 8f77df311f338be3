from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document
from cqm.index.text.headers import FileTerms, dense_text, file_terms, header
from cqm.index.text.terms import SparseTerms, query_terms

PATH = "shop/billing/InvoicePrinter.java"
METHOD = """
    /** Writes one line. */
    void write(String line) {
        int length = line.length();
        for (int i = 0; i < length; i++) { buffer.append(line.charAt(i)); position = position + 1; check(position); }
        if (length > limit) { throw new IllegalStateException("too long: " + length + " of " + limit + " characters"); }
    }
"""
SOURCE = f"package shop;\n\nclass InvoicePrinter {{\n{METHOD}{METHOD.replace('write', 'print')}}}\n"


def chunks_of(text: str, path: str = PATH) -> tuple[Chunk, ...]:
    return chunk(Document(path, text), ChunkOptions(max_tokens=160, min_tokens=32)).chunks


def terms_of(text: str, path: str = PATH) -> FileTerms:
    return file_terms(path, chunks_of(text, path))


def weight(question: str, terms: SparseTerms) -> float:
    (term,) = query_terms(question).indices
    return dict(zip(terms.indices, terms.values, strict=True)).get(term, 0.0)


def test_every_chunk_has_its_own_terms() -> None:
    terms = terms_of(SOURCE)
    assert len(terms.chunks) == len(chunks_of(SOURCE)) > 1
    having_print = [bool(weight("char", each)) for each in terms.chunks]
    assert having_print == ["char" in each.text for each in chunks_of(SOURCE)]


def test_a_chunk_is_found_by_the_words_of_its_path() -> None:
    assert all(weight("billing", each) > 0 for each in terms_of(SOURCE).chunks)


def test_a_method_is_found_by_the_name_of_its_class() -> None:
    last = terms_of(SOURCE, "a.java").chunks[-1]
    assert "InvoicePrinter" not in chunks_of(SOURCE)[-1].text
    assert weight("invoice", last) > 0


def test_the_file_has_the_terms_of_all_its_chunks() -> None:
    terms = terms_of(SOURCE)
    assert {index for each in terms.chunks for index in each.indices} <= set(terms.file.indices)
    assert weight("char", terms.file) > 0


def test_the_path_has_its_own_vector_in_which_the_file_name_weighs_most() -> None:
    path = terms_of(SOURCE).path
    assert weight("invoice", path) > weight("billing", path) > 0
    assert weight("char", path) == 0


def test_the_suffix_of_a_file_is_no_term() -> None:
    assert weight("java", terms_of(SOURCE).path) == 0


def test_a_dot_file_is_found_by_its_name() -> None:
    assert weight("editorconfig", terms_of("root = true\n", ".editorconfig").path) > 0


def test_the_vectors_of_a_file_do_not_depend_on_where_its_lines_stand() -> None:
    moved = terms_of("\n\n\n" + SOURCE)
    assert moved == terms_of(SOURCE)


def test_an_empty_file_has_only_the_terms_of_its_path() -> None:
    terms = file_terms(PATH, ())
    assert terms.chunks == ()
    assert set(terms.file.indices) == set(terms.path.indices)


def test_the_header_says_where_a_chunk_stands() -> None:
    last = chunks_of(SOURCE)[-1]
    assert header(last).splitlines()[:2] == [PATH, last.symbol]
    assert "InvoicePrinter" in last.symbol


def test_the_embedded_text_says_where_the_code_stands_and_holds_all_of_it() -> None:
    lines = dense_text(chunks_of(SOURCE)[-1]).split("\n")
    assert lines[:3] == [PATH, "InvoicePrinter.print", "class InvoicePrinter"]
    assert lines[3:] == SOURCE.split("\n")[11:]


def test_a_method_is_not_found_by_the_fields_that_its_context_names() -> None:
    source = SOURCE.replace("class InvoicePrinter {\n", "class InvoicePrinter {\n    int zebra;\n")
    last = chunks_of(source)[-1]
    assert "zebra" in last.context
    assert weight("zebra", terms_of(source).chunks[-1]) == 0
    assert "zebra" not in dense_text(last)
