"""Weights for comparing the words of results; written and explained by `training/reading.py`."""

from collections.abc import Mapping

from cqm.index.ranking import weights

SENTENCE: Mapping[str, float] = {
    "terms": 0.434,
    "place": 0.929,
    "dense": 1.249,
    "name": 2.632,
    "covered": 0.287,
    "callable": 2.205,
    "lines": 1.120,
    "file": 2.145,
    "matches": -0.608,
    "file_dense": 0.641,
    "path": 0.609,
    "stem": -0.162,
    "role": 7.055,
    "whole": 2.995,
    "window": 2.778,
    "line": 3.554,
    "naming": 1.482,
    "length": -1.038,
}
"""For sentences, by the names of `ChunkFeatures`, `FileFeatures` and `words.Reading`."""

TOPIC: Mapping[str, float] = {name: weights.TOPIC.get(name, 0.5 * it) for name, it in SENTENCE.items()}
"""For topics."""
