"""Weights for results whose words were compared; made by `training/reading.py`, which explains them."""

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
"""For sentences, by the names of `ChunkFeatures`, `FileFeatures` and `Reading`."""

_OF_WORDS = ("whole", "window", "line", "naming", "length")
TOPIC: Mapping[str, float] = {**weights.TOPIC, **{name: 0.5 * SENTENCE[name] for name in _OF_WORDS}}
"""For topics: those of the first stage, and half of what words weigh for sentences. Learned from 490 topics, all weights
found the file of topics of other packages later (.776) than before (.780); these find it earlier (.791)."""
