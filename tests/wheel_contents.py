"""Fail when a built wheel holds anything but the three packages, or lacks a part of them: wheel_contents.py WHEEL."""

import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("server", "chunkers", "index")

names = {name for name in zipfile.ZipFile(sys.argv[1]).namelist() if ".dist-info/" not in name}
sources = {
    f"cqm/{path.relative_to(ROOT).as_posix()}"
    for package in PACKAGES
    for path in (ROOT / package).rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}
if names != sources:
    sys.exit(f"wheel and sources differ: only in the wheel {names - sources}, missing {sources - names}")
sys.stdout.write(f"wheel: {len(names)} files, as in the sources\n")
