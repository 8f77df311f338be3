"""Generations of an open index: the serving one, the one built beside it, and those given up."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Condition

from cqm.index.disk.locations import is_begun
from cqm.index.embedding.opening import BY_LATENCY
from cqm.index.embedding.routes import Route, Routes
from cqm.index.generations import generation as generations
from cqm.index.generations.folders import current_name, serving_name
from cqm.index.generations.generation import Generation, generation_name, remove
from cqm.index.generations.query_models import models_text
from cqm.index.generations.recipe import ASKED_FOR, OTHER_MODEL, what_differs
from cqm.index.manifest.facts import MODELS_FACT, ORDER_FACT, SHAPE_FACT, SPACE_FACT, WHY_FACT
from cqm.index.model.errors import ScanError
from cqm.index.model.options import IndexOptions
from cqm.index.remote.deadline import StoppedError
from cqm.index.remote.variables import Variables


def settle_order(routes: Routes | None, options: IndexOptions, generation: Generation) -> None:
    """Record the models' order by latency once per generation; if it changed, vectors wouldn't stay in one space."""
    if routes is None or options.routes.choose != BY_LATENCY:
        return
    if not generation.manifest.fact(ORDER_FACT):
        order, is_complete = routes.order_by_latency()
        routes.sort(order)
        if is_complete:
            generation.manifest.set_facts({ORDER_FACT: "\n".join(order)})
    use_order(routes, generation)


def use_order(routes: Routes | None, generation: Generation) -> None:
    """Prefer models in the order recorded by a generation."""
    order = generation.manifest.fact(ORDER_FACT)
    if routes and order:
        routes.sort(order.split("\n"))


def _spaces_of(routes: Routes, serving: Generation, route: Route) -> tuple[str, str]:
    """Return the space of a route's vectors, and its preferred model's space now; each empty if unknown."""
    now = routes.preferred(route)
    return serving.manifest.fact(f"{SPACE_FACT}{route}"), now.name if now else ""


class Readers:
    """Counts the readers of each generation of an open index. Its methods may be called from any thread."""

    def __init__(self, folder: Path, options: IndexOptions, variables: Variables) -> None:
        self._folder = folder
        self._options = options
        self._variables = variables
        self._changed = Condition()
        # By identity: a generation may be opened again under a name another one still has.
        self._counts: Counter[int] = Counter()
        self._outgoing: list[Generation] = []

    @contextmanager
    def reading(self, serving: Callable[[], Generation]) -> Iterator[Generation]:
        """Yield the serving generation and keep it open during the block."""
        with self._changed:
            generation = serving()
            self._counts[id(generation)] += 1
        try:
            yield generation
        finally:
            with self._changed:
                self._counts[id(generation)] -= 1
                self._counts = +self._counts
                self._changed.notify_all()
            self._close_unread()

    def wait(self, seconds: float) -> None:
        """Wait until nobody reads, for at most `seconds`."""
        with self._changed:
            self._changed.wait_for(lambda: not self._counts, seconds)

    def let_go(self, generation: Generation) -> None:
        """Close and delete a generation no longer serving, now or after its last reader."""
        with self._changed:
            self._outgoing.append(generation)
        self._close_unread()

    def take_outgoing(self) -> list[Generation]:
        """Return the generations let go and still open; the caller closes them."""
        with self._changed:
            outgoing, self._outgoing = self._outgoing, []
            return outgoing

    def _close_unread(self) -> None:
        with self._changed:
            unread = [generation for generation in self._outgoing if not self._counts[id(generation)]]
            self._outgoing = [generation for generation in self._outgoing if self._counts[id(generation)]]
        for generation in unread:
            generation.abandon()
            if generation.name != current_name(self._folder):
                remove(self._folder, generation.name, self._options, self._variables)


class Lineage:
    """The answering generation and the one being updated.

    Changes need the lock of the index's updates; any thread may use `reading`.
    """

    def __init__(self, folder: Path, options: IndexOptions, variables: Variables) -> None:
        self._folder = folder
        self._options = options
        self._variables = variables
        self._name = generation_name(options)
        self._models = models_text(options)
        self._readers = Readers(folder, options, variables)
        self._serving: Generation | None = None
        self._given_up: list[Generation] = []
        self._is_settled = False
        self.building: Generation | None = None
        """The generation being built while another one serves."""

    @property
    def is_begun(self) -> bool:
        """Whether an earlier process began the index: told before it is opened."""
        return is_begun(self._folder)

    def open(self) -> Generation:
        """Open the serving generation or begin one.

        Raises:
            StoreError, ManifestError: it cannot be opened, or is damaged and cannot be set aside.
        """
        generations.remove_abandoned(self._folder, self._options, self._variables)
        name = serving_name(self._folder, self._name) or self._name
        self._serving = generations.open_or_begin_anew(self._folder, name, self._name, self._options, self._variables)
        return self._serving

    @property
    def serving(self) -> Generation:
        """The answering generation.

        Raises:
            ScanError: the index is closed.
        """
        if self._serving is None:
            raise ScanError(f"The index in {self._folder} is closed.", remedy="Open it again.")
        return self._serving

    def serves(self, generation: Generation) -> bool:
        """Whether a generation is the answering one."""
        return self._serving is generation

    def reading(self) -> AbstractContextManager[Generation]:
        """Hold the answering generation open during a `with` block."""
        return self._readers.reading(lambda: self.serving)

    def target(self, routes: Routes | None) -> Generation:
        """Return the generation wanted by the options: the serving one, or one built beside it."""
        serving = self.serving
        wanted = self._wanted_name(routes)
        if serving.name == wanted:
            return serving
        if self.building is None or self.building.name != wanted:
            former, self.building = self.building, self._brought_back(wanted) or self._begun(wanted)
            self._given_up += filter(None, [former])
            shapes = (serving.manifest.fact(SHAPE_FACT), self.building.manifest.fact(SHAPE_FACT))
            why = OTHER_MODEL if shapes[0] == shapes[1] else what_differs(*shapes)
            self.building.manifest.set_facts({WHY_FACT: why})
        return self.building

    def _wanted_name(self, routes: Routes | None) -> str:
        """Name the generation wanted by the options and the present state of their models."""
        serving = self.serving
        if serving.recipe != self._name:
            return self._name
        settle_order(routes, self._options, serving)
        spaces = [_spaces_of(routes, serving, route) for route in routes.routes] if routes else []
        if all(now in {"", recorded} or not recorded for recorded, now in spaces):
            return serving.name
        # Another model under the same name: its vectors can't be compared with the present ones.
        return generation_name(self._options, tuple(now or recorded for recorded, now in spaces))

    def settle_models(self, routes: Routes | None, generation: Generation) -> None:
        """Record in a generation, before it takes files, the order and the configuration of its models."""
        settle_order(routes, self._options, generation)
        if generation.manifest.fact(MODELS_FACT) != self._models:
            generation.manifest.set_facts({MODELS_FACT: self._models})

    @contextmanager
    def anew(self, prepare: Callable[[Path], None] | None = None) -> Iterator[Generation]:
        """Yield an empty generation in a folder filled by `prepare`; it is deleted unless it serves at the end."""
        former, begun = self.building, self._begun_anew(prepare)
        self.building = begun
        try:
            begun.manifest.set_facts({WHY_FACT: ASKED_FOR})
            yield begun
        finally:
            if self.serves(begun):
                self._given_up += filter(None, [former])
            else:
                self.building = former
                self._readers.let_go(begun)

    def put_in_place(self, made: Path, source: Generation, place: Path) -> None:
        """Make a folder the place of a generation about to be opened; for `anew`.

        Raises:
            StoppedError: its source no longer serves.
        """
        if not self.serves(source):
            raise StoppedError
        place.rmdir()
        made.rename(place)

    def switch_to(self, generation: Generation) -> None:
        """Make a complete generation the serving one; the old one goes with its last reader.

        Raises:
            StoreError, ManifestError: the switch cannot be written.
        """
        try:
            if current_name(self._folder) != generation.name:
                generation.settle()
                generations.switch_to(self._folder, generation)
        except BaseException:
            if not self.serves(generation) and generation is not self.building:
                self._given_up.append(generation)
            raise
        self._is_settled = True
        if not self.serves(generation):
            before, self._serving = self.serving, generation
            if self.building is generation:
                self.building = None
            self._readers.let_go(before)

    def end(self) -> tuple[list[Generation], bool]:
        """Stop serving.

        Returns:
            All open generations, to close once they have no readers, and whether others on disk are obsolete: if not,
            the next update may continue with them.
        """
        opened = [*self._readers.take_outgoing(), *self._given_up, *filter(None, [self.building, self._serving])]
        has_obsolete = self._is_settled and self.building is None and self._serving is not None
        self._given_up, self.building, self._serving = [], None, None
        return opened, has_obsolete

    def wait_for_readers(self, seconds: float) -> None:
        """Wait until nobody reads, for at most `seconds`."""
        self._readers.wait(seconds)

    def _brought_back(self, name: str) -> Generation | None:
        """Return a generation given up in this process, which is still open."""
        found = next((generation for generation in self._given_up if generation.name == name), None)
        if found:
            self._given_up.remove(found)
        return found

    def _begun(self, name: str) -> Generation:
        return generations.open_or_begin_anew(self._folder, name, name, self._options, self._variables)

    def _begun_anew(self, prepare: Callable[[Path], None] | None) -> Generation:
        """Begin another generation with the same options; a failure leaves nothing behind."""
        name = generations.fresh_name(self._options)
        try:
            if prepare:
                generations.make_place(self._folder / name)
                prepare(self._folder / name)
            return generations.open_generation(self._folder, name, self._options, self._variables)
        except BaseException:
            remove(self._folder, name, self._options, self._variables)
            raise
