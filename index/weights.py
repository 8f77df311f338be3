"""How much each feature of a chunk counts; written by `training/ranking.py`, which says how."""

from collections.abc import Mapping

PHRASING = (-4.86, 1.55, 0.94, 0.95, -2.91, 2.50, 0.80, 1.36, 0.85)
"""Of `phrasing.form`."""

TOPIC: Mapping[str, float] = {
    "terms": 6.773,
    "place": -3.975,
    "dense": 6.262,
    "defines": 1.001,
    "name": 6.044,
    "covers": -1.451,
    "covered": -0.868,
    "callable": 0.493,
    "lines": 0.897,
    "file": 2.532,
    "file_place": -1.246,
    "matches": 2.552,
    "file_dense": -1.293,
    "path": 2.003,
    "path_place": -0.332,
    "stem": 1.241,
    "role": 15.100,
}
"""For questions that name a topic, by the names of `features.ChunkFeatures` and `features.FileFeatures`."""

SENTENCE: Mapping[str, float] = {
    "terms": 1.379,
    "place": 1.315,
    "dense": 2.559,
    "defines": 0.237,
    "name": 3.979,
    "covers": -0.933,
    "covered": 0.807,
    "callable": 1.394,
    "lines": 0.861,
    "file": 1.548,
    "file_place": 0.877,
    "matches": -0.737,
    "file_dense": 0.600,
    "path": 0.183,
    "path_place": 0.127,
    "stem": 0.077,
    "role": 6.537,
}
"""For sentences."""
