"""Precision, recall and speed of libraries that find secrets, beside CQM's redaction, on a labelled set.

    python tests/bench/secrets_compared.py cqm kingfisher detect-secrets betterleaks credsweeper

A library has to be installed in the interpreter that runs this. A secret is found when at least nine tenths of its
characters are; a finding that touches no planted secret is a false one. The part "held" shares no template and few
kinds with the part "tuning", on which alone CQM's own rules were tuned; it can be made with any seed.
"""

import argparse
import logging
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from secrets_forms import FORMS
from secrets_logins import logins
from secrets_set import Planted, innocents, planted, planted_by_form

Span = tuple[int, int]
Finder = Callable[[str, str], list[Span]]
"""Finds the secrets of a file, by path and text."""

_ENOUGH = 0.9
HALVES = ("logins", "logins held")


def main() -> None:
    """Print a line for each library."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="+", choices=sorted(LIBRARIES))
    parser.add_argument("--innocent", type=int, default=2000, help="how many real files without secrets")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--missed", action="store_true", help="print what was missed, and every false finding")
    asked = parser.parse_args()
    parts = {part: list(planted(part, asked.seed)) for part in ("tuning", "held")}
    parts |= {f"{part} forms": list(planted_by_form(part, asked.seed)) for part in FORMS}
    parts |= {half: [Planted(path, text, kind, value) for kind, path, text, value in logins(half)] for half in HALVES}
    files = list(innocents(asked.innocent))
    print(f"{len(files):,} innocent files, {sum(len(text) for _, text in files) / 1e6:.1f} MB")
    for name in asked.library:
        began = time.perf_counter()
        finder = LIBRARIES[name]()
        finder("warm.py", 'password = "x8Kq2mVn4pLz7Rt1"\n')
        ready = time.perf_counter() - began
        _report(name, finder, parts, files, ready, missed=asked.missed)


def _report(
    name: str,
    finder: Finder,
    parts: dict[str, list[Planted]],
    files: list[tuple[str, str]],
    ready: float,
    *,
    missed: bool,
) -> None:
    began = time.process_time()
    false = [(path, text, span) for path, text in files for span in _joined(finder(path, text))]
    seconds = time.process_time() - began
    hit = len({path for path, _, _ in false})
    for part, secrets in parts.items():
        found, beside = 0, 0
        lost: Counter[str] = Counter()
        for secret in secrets:
            spans = _joined(finder(secret.path, secret.text))
            start = secret.text.index(secret.value)
            end = start + len(secret.value)
            covered = sum(max(0, min(end, b) - max(start, a)) for a, b in spans)
            if covered >= _ENOUGH * len(secret.value):
                found += 1
            else:
                lost[secret.kind] += 1
                if missed and not part.startswith("logins held"):
                    print(f"  missed {part}: {secret.kind}: {secret.text[max(0, start - 40) : end][:120]!r}")
            beside += sum(b <= start or a >= end for a, b in spans)
        print(
            f"{name:16} {part:12} recall {found / len(secrets):6.1%} of {len(secrets)}; precision "
            f"{found / max(1, found + len(false) + beside):6.1%}; {len(false)} false in {hit} of {len(files)} innocent "
            f"files, {beside} beside; {seconds:.2f} s CPU, ready in {ready:.2f} s"
        )
        print(f"  missed: {', '.join(f'{kind} {count}' for kind, count in lost.most_common())}")
    if missed:
        for path, text, (start, end) in false:
            line = text[text.rfind("\n", 0, start) + 1 : end + 20].split("\n")[0][:140]
            print(f"  false {path[-60:]}: {text[start:end][:60]!r} in {line!r}")


def _joined(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _everywhere(text: str, value: str) -> Iterator[Span]:
    start = text.find(value) if value else -1
    while start >= 0:
        yield start, start + len(value)
        start = text.find(value, start + len(value))


def _cqm() -> Finder:
    from cqm.index.secrets.redaction import find_secrets

    return lambda path, text: [(it.start, it.end) for it in find_secrets(text, path)]


def _kingfisher() -> Finder:
    from kingfisher_sdk import Scanner

    return _of_kingfisher(Scanner())


def _kingfisher_cli() -> Finder:
    from kingfisher_sdk import DetectionScanner, Rules

    return _of_kingfisher(DetectionScanner(Rules(confidence="low"), inline_ignores=False))


def _of_kingfisher(scanner: object) -> Finder:
    from kingfisher_sdk import ScanInput

    def find(path: str, text: str) -> list[Span]:
        data = text.encode()
        spans = []
        for it in scanner.scan_input(ScanInput(data=data, path=path)):  # type: ignore[attr-defined]
            place = it.location
            start, end = place["start_offset"], place["end_offset"]
            spans.append((len(data[:start].decode(errors="ignore")), len(data[:end].decode(errors="ignore"))))
        return spans

    return find


def _betterleaks() -> Finder:
    from betterleaks import scan_string

    return lambda _path, text: [span for it in scan_string(text) for span in _everywhere(text, it.match.value)]


def _detect_secrets() -> Finder:
    from detect_secrets import SecretsCollection
    from detect_secrets.settings import default_settings

    def find(path: str, text: str) -> list[Span]:
        with tempfile.TemporaryDirectory() as folder, default_settings():
            file = Path(folder, Path(path).name)
            file.write_text(text, encoding="utf-8")
            collection = SecretsCollection()
            collection.scan_file(str(file))
            return [span for _, it in collection for span in _everywhere(text, it.secret_value or "")]

    return find


def _credsweeper() -> Finder:
    from credsweeper import CredSweeper
    from credsweeper.file_handler.byte_content_provider import ByteContentProvider

    sweeper = CredSweeper()

    def find(path: str, text: str) -> list[Span]:
        found = sweeper.file_scan(ByteContentProvider(text.encode(), file_path=path, file_type=Path(path).suffix))
        return [span for it in found for line in it.line_data_list for span in _everywhere(text, line.value or "")]

    return find


LIBRARIES: dict[str, Callable[[], Finder]] = {
    "cqm": _cqm,
    "kingfisher": _kingfisher,
    "kingfisher-cli": _kingfisher_cli,
    "betterleaks": _betterleaks,
    "detect-secrets": _detect_secrets,
    "credsweeper": _credsweeper,
}

if __name__ == "__main__":
    logging.disable(logging.WARNING)
    main()
