"""PDF files from their bytes to chunks, and why some of them are left out."""

import subprocess
import sys
from pathlib import Path

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.errors import DamagedError, EncryptedError, NoTextError
from cqm.chunkers.model import Chunk, ChunkOptions, Document
from cqm.chunkers.text_of_file import read_text
from cqm.index.engine import Index
from cqm.index.files.scan import read_file, scan
from cqm.index.model.options import EmbeddingOptions, IndexOptions, ScanOptions
from cqm.index.model.query import Query, SkipReason

pytestmark = pytest.mark.row("D7")

LINE = "The valve closes before the pump starts, and stays closed."
PAGE = (LINE,) * 12


def pdf(*pages: tuple[str, ...], title: str = "", trailer: str = "") -> bytes:
    """A PDF with lines of ASCII text on its pages."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, lines in enumerate(pages):
        drawn = "".join(f"({line.replace('(', '[').replace(')', ']')}) Tj T*\n" for line in lines)
        content = f"BT /F1 10 Tf 12 TL 50 750 Td\n{drawn}ET"
        font = "/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 612 792]"
        objects.append(f"<< /Type /Page /Parent 2 0 R {font} /Contents {5 + 2 * number} 0 R >>")
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    written, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(written))
        written += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"trailer\n<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R {trailer} >>\nstartxref\n{len(written)}\n%%EOF\n"
    return bytes(written) + f"xref\n0 {size}\n0000000000 65535 f \n{table}{end}".encode()


ENCRYPTED = pdf(
    PAGE,
    trailer=f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'ab' * 32}> /U <{'cd' * 32}> >> /ID [<00> <00>]",
)


def chunks(data: bytes, options: ChunkOptions = ChunkOptions()) -> tuple[Chunk, ...]:  # noqa: B008 - frozen
    text = read_text("manual.pdf", data).text
    found = chunk(Document("manual.pdf", text), options).chunks
    assert all(part.text == text[part.start : part.end] for part in found)
    assert "".join("".join(part.text for part in found).split()) == "".join(text.split())
    return found


def test_each_page_is_a_chunk_that_knows_its_number() -> None:
    found = chunks(pdf(PAGE, ("Second page.", *PAGE), PAGE))
    assert [part.metadata.facts["page"] for part in found] == [1, 2, 3]
    assert {(part.strategy, part.kind) for part in found} == {("pdf", "page")}
    assert "Second page." in found[1].text


def test_small_pages_are_packed_and_know_the_first_of_them() -> None:
    (only,) = chunks(pdf(("One.",), ("Two.",), ("Three.",)))
    assert only.metadata.facts["page"] == 1
    assert only.text.split() == ["One.", "Two.", "Three."]


def test_a_long_page_is_divided_at_sentences_and_its_parts_know_the_page() -> None:
    found = chunks(pdf(PAGE, PAGE * 4, PAGE), ChunkOptions(max_tokens=256, min_tokens=64))
    pages = [part.metadata.facts["page"] for part in found]
    assert pages == sorted(pages)
    assert pages.count(2) >= 3
    assert all(part.tokens <= 256 for part in found)
    assert all(part.text.rstrip().endswith(".") for part in found)


def test_a_page_without_text_keeps_its_number() -> None:
    assert [part.metadata.facts["page"] for part in chunks(pdf(PAGE, (), PAGE))] == [1, 3]


def test_the_title_of_the_metadata_is_the_title_of_the_chunks_and_can_be_searched() -> None:
    found = chunks(pdf(PAGE, PAGE, title="Pump Manual"))
    assert {part.metadata.title for part in found} == {"Pump Manual"}
    assert found[1].symbol == "Pump Manual > page 2"
    assert found[0].text.startswith("Pump Manual\n")


def test_a_pdf_without_text_an_encrypted_and_a_damaged_one_say_so() -> None:
    with pytest.raises(NoTextError, match=r"manual\.pdf has no text"):
        chunks(pdf((), ()))
    with pytest.raises(EncryptedError, match=r"manual\.pdf is encrypted"):
        chunks(ENCRYPTED)
    with pytest.raises(DamagedError):
        chunks(b"%PDF-1.7\nnothing else")


def test_a_pdf_cut_anywhere_is_read_or_refused() -> None:
    data = pdf(PAGE, PAGE, title="Pump Manual")
    outcomes = set()
    for end in (*range(8, len(data), 97), len(data) - 1):
        try:
            outcomes.add(bool(chunks(data[:end])))
        except (DamagedError, NoTextError):
            outcomes.add(False)
    assert outcomes == {True, False}


def test_of_very_many_pages_the_first_are_read_with_a_warning() -> None:
    read = read_text("manual.pdf", pdf(*[("Short.",)] * 5_010))
    report = chunk(Document("manual.pdf", read.text))
    assert read.warnings == ("only the first 5000 of 5010 pages were read",)
    assert report.chunks[-1].text.count("\f") > 0
    assert sum(part.text.count("\f") for part in report.chunks) == 5_000


def test_a_text_with_the_suffix_of_a_pdf_is_read_as_text() -> None:
    assert read_text("a.pdf", b"plain\n").encoding == "utf-8"


def test_a_scan_reads_pdfs_and_skips_those_without_text_with_the_reason(tmp_path: Path) -> None:
    files = {"ok.pdf": pdf(PAGE), "locked.PDF": ENCRYPTED, "broken.pdf": b"%PDF-1.7\n", "image.pdf": pdf(())}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    read = {name: read_file(tmp_path, name, ScanOptions()) for name in files}
    assert {name: one.skip for name, one in read.items()} == {
        "ok.pdf": None,
        "locked.PDF": SkipReason.ENCRYPTED,
        "broken.pdf": SkipReason.DAMAGED,
        "image.pdf": SkipReason.NO_TEXT,
    }
    assert LINE in read["ok.pdf"].text


@pytest.mark.processes
def test_a_pdf_may_be_larger_than_other_files(tmp_path: Path) -> None:
    data = pdf(PAGE)
    (tmp_path / "a.pdf").write_bytes(data)
    (tmp_path / "a.txt").write_bytes(b"x" * len(data))
    for limit, expected in ((len(data) // 10, None), (len(data) // 30, SkipReason.TOO_LARGE)):
        skips = {found.path: found.skip for found in scan(tmp_path, ScanOptions(max_file_bytes=limit))}
        assert skips == {"a.pdf": expected, "a.txt": SkipReason.TOO_LARGE}


@pytest.mark.processes
def test_a_comparison_with_the_disk_parses_no_pdf_in_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: IndexOptions
) -> None:
    root = tmp_path / "docs"
    root.mkdir()
    (root / "manual.pdf").write_bytes(pdf(PAGE))
    with Index.open(root, options) as index:
        index.update()
        (root / "manual.pdf").touch()
        monkeypatch.setattr("pypdfium2.PdfDocument", None)
        assert index.status(look=True).pending == 0
        (root / "manual.pdf").write_bytes(pdf(PAGE).replace(b"valve", b"VALVE"))
        assert index.status(look=True).pending == 1
        index.update()
        assert index.search(Query("VALVE")).hits


@pytest.mark.processes
def test_a_search_finds_a_page(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    root.mkdir()
    (root / "manual.pdf").write_bytes(pdf(PAGE, ("Grease the bearing of the turbine yearly.", *PAGE)))
    options = IndexOptions(home=tmp_path / "home", embedding=EmbeddingOptions(provider="none"))
    with Index.open(root, options) as index:
        index.update()
        hit = index.search(Query("grease turbine bearing")).hits[0]
    assert (hit.path, hit.symbol, hit.kind) == ("manual.pdf", "page 2", "page")


@pytest.mark.processes
def test_without_the_extra_a_pdf_is_skipped_for_a_reason_that_no_machine_shapes(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(PAGE))
    code = (
        "import sys; sys.modules['pypdfium2'] = None\n"
        "from pathlib import Path\n"
        "from cqm.index.files.scan import scan, ScanOptions\n"
        "print([found.skip.value for found in scan(Path(sys.argv[1]), ScanOptions())])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "['needs the extra pdf']\n"
