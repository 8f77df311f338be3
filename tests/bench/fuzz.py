"""Chunk damaged real files in processes of their own, each input with a limit of time and memory.

Usage: python tests/bench/fuzz.py TREE [TREE ...] [--inputs N] [--seed S] [--seconds LIMIT] [--megabytes LIMIT]
       python tests/bench/fuzz.py TREE [TREE ...] --seed S --reproduce NUMBER [--out FILE]

Inputs are drawn evenly from the languages of the trees' files and of this project's fixtures. A chunker that raises,
breaks a promise, needs more CPU time or memory than the limits, or takes its process with it is a finding, shown with
the number that reproduces it: `--reproduce` runs that one in this process and writes its text.

Runs on Linux, for the peak of the memory.
"""

import argparse
import signal
import time
import traceback
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from typing import NamedTuple

from mutants import Mutant, Source, exact_tokenizer, files, fixtures, mutant_of
from promises import checked

Corpus = Mapping[str, Sequence[Source]]


class Outcome(NamedTuple):
    """All that came of an input: CPU seconds, most megabytes over the worker's first, and the fault, if any."""

    number: int = 0
    seconds: float = 0
    megabytes: float = 0
    fault: str = ""


NOTHING = Outcome()

_MOST_KEPT = 100


@dataclass
class Tally:
    """All that was seen of one language."""

    inputs: int = 0
    slowest: Outcome = NOTHING
    largest: Outcome = NOTHING
    findings: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count an input."""
        self.inputs += 1
        self.slowest = max(self.slowest, outcome, key=lambda one: one.seconds)
        self.largest = max(self.largest, outcome, key=lambda one: one.megabytes)
        if outcome.fault:
            self.findings.append(outcome)

    def row(self, name: str) -> str:
        """A line of the table."""
        slowest = f"{self.slowest.seconds:9.2f} #{self.slowest.number:<7}"
        largest = f"{self.largest.megabytes:9.0f} #{self.largest.number:<7}"
        return f"{name:18}{self.inputs:8}{slowest}{largest}{len(self.findings):9}"


def corpus_of(trees: list[Path]) -> Corpus:
    """The files of the trees and the fixtures by their language."""
    corpus = defaultdict(list)
    for source in (*fixtures(), *files(trees)):
        corpus[source.language].append(source)
    return dict(sorted(corpus.items()))


def input_of(corpus: Corpus, seed: str, number: int) -> Mutant:
    """The input of a number."""
    rng = Random(f"{seed}:{number}")
    source = rng.choice(corpus[_language(corpus, number)])
    others = [rng.choice(sources) for sources in corpus.values()]
    return mutant_of(source, others, f"{seed}:{number}")


def _language(corpus: Corpus, number: int) -> str:
    return list(corpus)[number % len(corpus)]


def work(corpus: Corpus, seed: str, seconds: float, pipe: Connection) -> None:
    """Chunk the inputs whose numbers come through the pipe; the kernel ends this process where one takes too long."""
    first = _megabytes("VmRSS")
    while (number := pipe.recv()) is not None:
        mutant = input_of(corpus, seed, number)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # from here on it counts the peak anew
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, seconds)
        fault = _fault(mutant)
        signal.setitimer(signal.ITIMER_PROF, 0)
        pipe.send(Outcome(number, time.process_time() - began, _megabytes("VmHWM") - first, fault))


def _fault(mutant: Mutant) -> str:
    try:
        checked(mutant.document, mutant.options)
    except Exception as error:  # noqa: BLE001 - any of them is a finding
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
    return ""


def _megabytes(name: str) -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition(f"{name}:")[2].split()[0]) / 1024


class Worker(NamedTuple):
    """A process that chunks, the pipe to it, and the number of the input that it is busy with."""

    process: BaseProcess
    pipe: Connection
    number: int


def outcomes(corpus: Corpus, arguments: argparse.Namespace) -> Iterator[Outcome]:
    """Chunk all inputs in workers, with a new worker for each that died."""
    numbers = iter(range(arguments.inputs))
    workers = [_started(corpus, arguments, number) for number in islice(numbers, arguments.workers)]
    while workers:
        ready = wait([worker.pipe for worker in workers])
        for worker in [worker for worker in workers if worker.pipe in ready]:
            workers.remove(worker)
            outcome = _received(worker, arguments)
            number = next(numbers, None)
            # What a worker keeps of an input would hide how much the next ones take.
            is_spent = worker.process.exitcode is not None or outcome.megabytes > _MOST_KEPT
            if worker.process.exitcode is None:
                worker.pipe.send(None if is_spent else number)
            if number is not None:
                again = _started(corpus, arguments, number) if is_spent else worker._replace(number=number)
                workers.append(again)
            yield outcome


def _started(corpus: Corpus, arguments: argparse.Namespace, number: int) -> Worker:
    context = get_context("fork")
    pipe, far = context.Pipe()
    process = context.Process(target=work, args=(corpus, arguments.seed, arguments.seconds, far), daemon=True)
    process.start()
    far.close()
    pipe.send(number)
    return Worker(process, pipe, number)


def _received(worker: Worker, arguments: argparse.Namespace) -> Outcome:
    try:
        outcome: Outcome = worker.pipe.recv()
    except (EOFError, ConnectionResetError):
        worker.process.join()
        code = worker.process.exitcode or 0
        end = signal.Signals(-code).name if code < 0 else f"exit {code}"
        return Outcome(worker.number, arguments.seconds, 0, f"the process died: {end}")
    is_large = outcome.megabytes > arguments.megabytes and not outcome.fault
    return outcome._replace(fault="too much memory") if is_large else outcome


def run(corpus: Corpus, arguments: argparse.Namespace) -> dict[str, Tally]:
    """Chunk all inputs and count what came of them, by language and in all."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for outcome in outcomes(corpus, arguments):
        tallies[_language(corpus, outcome.number)].add(outcome)
        tallies["all"].add(outcome)
    return tallies


def show(tallies: dict[str, Tally], corpus: Corpus, seed: str) -> None:
    """Print the table and the findings."""
    print(f"{'language':18}{'inputs':>8}{'seconds':>9} {'of input':8}{'MB':>9} {'of input':8}{'findings':>9}")
    for name in sorted(tallies, key=lambda name: (name == "all", name)):
        print(tallies[name].row(name))
    for outcome in tallies["all"].findings:
        mutant = input_of(corpus, seed, outcome.number)
        about = f"{mutant.document.language}, {len(mutant.document.text)} characters, {mutant.damage}"
        print(f"#{outcome.number} {outcome.fault}\n    {about}\n    {mutant.options}")


def reproduce(mutant: Mutant, out: Path | None) -> None:
    """Run one input in this process, after writing its text."""
    print(mutant.document.path, mutant.document.language, mutant.damage, mutant.options, sep="\n")
    if out:
        out.write_bytes(mutant.document.text.encode("utf-8", "surrogatepass"))
    began = time.process_time()
    checked(mutant.document, mutant.options)
    print(f"{time.process_time() - began:.2f} s of CPU, {_megabytes('VmHWM'):.0f} MB in all")


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", type=Path)
    parser.add_argument("--inputs", type=int, default=2_000)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--seconds", type=float, default=5, help="CPU time of one input")
    parser.add_argument("--megabytes", type=float, default=500, help="memory of one input")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--reproduce", type=int, metavar="NUMBER")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    corpus = corpus_of(arguments.trees)
    if arguments.reproduce is not None:
        reproduce(input_of(corpus, arguments.seed, arguments.reproduce), arguments.out)
        return
    exact_tokenizer()  # shared by the workers
    show(run(corpus, arguments), corpus, arguments.seed)


if __name__ == "__main__":
    main()
