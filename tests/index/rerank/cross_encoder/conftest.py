"""A cross-encoder small enough to be written down: it counts the pieces of words that question and text share.

The score is the number of pairs of equal word pieces, one of the question and one of the text: a real graph for
onnxruntime, over the numbers of a real tokenizer, with a meaning that a test can compute. The files are written in the
wire format of protocol buffers; field numbers are those of onnx.proto, version 1.12.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import pytest

_FLOAT, _INT32, _INT64, _BOOL = 1, 6, 7, 9
_FIRST_WORD = 999
"""The first number of a word piece in BERT's vocabulary; control tokens and unused ones are below."""
_SEPARATOR = 102


@dataclass(frozen=True)
class OverlapModel:
    """All that varies between exports of cross-encoders.

    Attributes:
        types: whether it wants token_type_ids; otherwise the separator tells where the text begins.
        columns: of its output: 1 for the count, 2 for two logits whose difference it is, more for no cross-encoder.
        narrow: whether its numbers have 32 bits.
        broken: whether its scores are no numbers.
        first: what it calls its first input.
    """

    types: bool = True
    columns: int = 1
    narrow: bool = False
    broken: bool = False
    first: str = "input_ids"

    def content(self) -> bytes:
        """The file."""
        graph = [
            *(_message(1, node) for node in self._nodes()),
            _message(2, b"overlap"),
            *(_message(5, constant) for constant in _constants()),
            *(_message(11, _value(name, self._kind, 2)) for name in self._inputs()),
            _message(12, _value("logits", _FLOAT, 2)),
        ]
        return _number(1, 8) + _message(8, _message(1, b"") + _number(2, 13)) + _message(7, b"".join(graph))

    @property
    def _kind(self) -> int:
        return _INT32 if self.narrow else _INT64

    def _inputs(self) -> list[str]:
        return [self.first, "attention_mask", *(["token_type_ids"] if self.types else [])]

    def _nodes(self) -> Iterable[bytes]:
        yield _node("Cast", [self.first], "ids", to=_INT64)
        yield _node("Cast", ["attention_mask"], "mask", to=_FLOAT)
        if self.types:
            yield _node("Cast", ["token_type_ids"], "types", to=_FLOAT)
        else:
            yield _node("Equal", ["ids", "separator"], "ends")
            yield _node("Cast", ["ends"], "ends_float", to=_FLOAT)
            yield _node("CumSum", ["ends_float", "one_axis"], "types", exclusive=1)
        yield _node("Greater", ["ids", "first_word"], "are_words")
        yield _node("Cast", ["are_words"], "words_float", to=_FLOAT)
        yield _node("Mul", ["words_float", "mask"], "words")
        yield _node("Mul", ["words", "types"], "of_text")
        yield _node("Sub", ["words", "of_text"], "of_question")
        yield _node("Unsqueeze", ["ids", "axis_1"], "row")
        yield _node("Unsqueeze", ["ids", "axis_2"], "column")
        yield _node("Equal", ["row", "column"], "same")
        yield _node("Cast", ["same"], "same_float", to=_FLOAT)
        yield _node("Unsqueeze", ["of_text", "axis_2"], "texts")
        yield _node("MatMul", ["same_float", "texts"], "shared")
        yield _node("Squeeze", ["shared", "axis_2"], "shared_flat")
        yield _node("Mul", ["shared_flat", "of_question"], "counts")
        yield _node("ReduceSum", ["counts", "axis_1"], "count")
        yield from self._output()

    def _output(self) -> Iterable[bytes]:
        yield _node("Sub", ["count", "count"], "nothing")
        yield _node("Div", ["count", "nothing"] if self.broken else ["count", "one"], "score")
        yield _node("Concat", [*["nothing"] * (self.columns - 1), "score"], "logits", axis=1)


def _constants() -> Iterable[bytes]:
    yield _constant("first_word", _FIRST_WORD)
    yield _constant("separator", _SEPARATOR)
    yield _constant("one_axis", 1)
    yield _constant("axis_1", 1, shaped=True)
    yield _constant("axis_2", 2, shaped=True)
    yield _message(8, b"one") + _number(2, _FLOAT) + _message(9, b"\x00\x00\x80\x3f")


def _node(operator: str, inputs: list[str], output: str, **attributes: int) -> bytes:
    told = [
        _message(5, _message(1, name.encode()) + _number(3, it) + _number(20, 2)) for name, it in attributes.items()
    ]
    named = [_message(1, name.encode()) for name in inputs]
    return b"".join([*named, _message(2, output.encode()), _message(4, operator.encode()), *told])


def _constant(name: str, value: int, *, shaped: bool = False) -> bytes:
    shape = _number(1, 1) if shaped else b""
    return shape + _number(2, _INT64) + _number(7, value) + _message(8, name.encode())


def _value(name: str, kind: int, dimensions: int) -> bytes:
    shape = b"".join(_message(1, _message(2, f"{name}_{axis}".encode())) for axis in range(dimensions))
    return _message(1, name.encode()) + _message(2, _message(1, _number(1, kind) + _message(2, shape)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


@pytest.fixture(scope="session")
def overlap_model() -> type[OverlapModel]:
    return OverlapModel
