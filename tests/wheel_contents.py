"""Fail when a wheel holds anything but the packages and the manual pages, or lacks a part: wheel_contents.py WHEEL."""

import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("server", "chunkers", "index")

listed = zipfile.ZipFile(sys.argv[1]).namelist()
names = {name for name in listed if ".dist-info/" not in name and ".data/" not in name}
sources = {
    f"cqm/{path.relative_to(ROOT).as_posix()}"
    for package in PACKAGES
    for path in (ROOT / package).rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}
pages = {name.rpartition("/")[2] for name in listed if ".data/data/share/man/man1/" in name}
if pages != {path.name for path in (ROOT / "packaging" / "man").iterdir()}:
    sys.exit("the wheel lacks manual pages: run packaging/make.py")
if names != sources:
    sys.exit(f"wheel and sources differ: only in the wheel {names - sources}, missing {sources - names}")
sys.stdout.write(f"wheel: {len(names)} files, as in the sources\n")
