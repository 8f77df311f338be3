"""Weights of the features; written by `training/ranking.py`, which explains them."""

from collections.abc import Mapping

PHRASING = (-4.63, 1.51, 0.74, 1.02, -3.03, 2.53, 0.99, 1.41, 0.56, -3.23)
"""Weights of `question_form.form`."""

TOPIC: Mapping[str, float] = {
    "terms": 6.672,
    "place": -4.215,
    "dense": 6.221,
    "name": 5.655,
    "covered": -0.977,
    "callable": 0.505,
    "lines": 0.904,
    "file": 2.192,
    "matches": 2.472,
    "file_dense": -1.324,
    "path": 1.937,
    "stem": 1.199,
    "role": 15.134,
}
"""For questions naming a topic, by the names of `features.ChunkFeatures` and `features.FileFeatures`."""

SENTENCE: Mapping[str, float] = {
    "terms": 1.301,
    "place": 1.433,
    "dense": 2.513,
    "name": 3.188,
    "covered": 0.802,
    "callable": 1.363,
    "lines": 0.878,
    "file": 2.346,
    "matches": -0.669,
    "file_dense": 0.654,
    "path": 0.250,
    "stem": 0.104,
    "role": 6.621,
}
"""For sentences."""
