"""Print the definitions of Protocol Buffers, found by protoc: path, line, name. Paths are read from standard input."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2
from grpc_tools import protoc

FIELDS = {
    "file": {4: "message_type", 5: "enum_type", 6: "service", 7: "extension"},
    "message": {2: "field", 3: "nested_type", 4: "enum_type", 6: "extension", 8: "oneof_decl"},
    "enum": {2: "value"},
    "service": {2: "method"},
}
KINDS = {"message_type": "message", "nested_type": "message", "enum_type": "enum", "service": "service"}


def main() -> None:
    """Print those of each path whose imports are found in a folder around it."""
    for path in sys.stdin.read().split():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "one.proto"
            file.write_bytes(Path(path).read_bytes())
            out = file.with_suffix(".bin")
            around = [f"-I{it}" for it in Path(path).parents if it != it.parent]
            own = f"-I{Path(protoc.__file__).parent / '_proto'}"
            options = ["--include_source_info", f"--descriptor_set_out={out}", str(file)]
            if protoc.main(["protoc", f"-I{folder}", *around, own, *options]):
                continue
            described = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file[0]
        print(f"{path}\t0\t")
        for line, name in definitions(described):
            print(f"{path}\t{line}\t{name}")


def definitions(described: Any) -> Iterator[tuple[int, str]]:
    """Follow each place of the source to what it declares."""
    for place in described.source_code_info.location:
        at, kind, steps = described, "file", list(place.path)
        while len(steps) > 1 and (field := FIELDS.get(kind, {}).get(steps[0])) is not None:
            at, kind, steps = getattr(at, field)[steps[1]], KINDS.get(field, "part"), steps[2:]
        if at is not described and not steps:
            yield place.span[0] + 1, at.name


if __name__ == "__main__":
    main()
