"""An index that another process has open offers what it offers there, all of it, and everything passes unharmed."""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cqm.index.model import asked, changes, outcomes, secrets, status, symbols, uses
from cqm.index.model.errors import IndexInUseError
from cqm.index.model.options import IndexOptions
from cqm.index.model.progress import Progress
from cqm.index.model.query import Answer
from cqm.server.config import watch_options
from cqm.server.errors import SharingError
from cqm.server.owner.client import RemoteIndex
from cqm.server.owner.messages import (
    NOTICE,
    RESULT,
    Failure,
    encoded,
    error_of,
    failure_of,
    methods,
    read,
    read_reply,
    read_request,
    reply_in,
    request,
    taken,
    written,
)
from cqm.server.owner.open import OpenedIndex
from cqm.server.owner.wire import decoded
from cqm.server.watching import reports
from cqm.server.watching.followed_index import FollowedIndex
from cqm.server.watching.reports import WatchReport

if TYPE_CHECKING:
    from conftest import Place

HOOKS = {"report", "cancelled"}
"""Parameters that are functions of the client."""
OWN = {"__init__", "rest", "unfollow"}
"""Methods for the process alone that has the index open."""
OWN_PARAMETERS = {"update"}
"""Parameters for that process alone."""
LATE = {
    name: it
    for room in (asked, changes, outcomes, secrets, status, symbols, uses, reports, watch_options)
    for name, it in vars(room).items()
}
"""Types that a client loads with the first call that needs them."""


def offered(kind: type) -> dict[str, dict[str, tuple[object, ...]]]:
    """The public methods of a class with their signatures, but for how it is opened."""
    methods = inspect.getmembers(kind, inspect.isfunction)
    return {name: signature(method) for name, method in methods if name not in OWN and is_public(name)}


def is_public(name: str) -> bool:
    return not name.startswith("_") or name in {"__enter__", "__exit__"}


def signature(method: Callable[..., Any]) -> dict[str, tuple[object, ...]]:
    """Of each parameter: how it is passed, its type, and its default, of which functions are not told apart."""
    told = inspect.signature(method, locals=LATE, eval_str=True)
    parameters = {
        name: (it.kind, it.annotation, "function" if inspect.isfunction(it.default) else it.default)
        for name, it in told.parameters.items()
        if name not in OWN_PARAMETERS
    }
    return parameters | {"return": (told.return_annotation,)}


def test_a_shared_index_has_every_method_of_an_index_with_the_same_signature() -> None:
    assert offered(RemoteIndex) == offered(FollowedIndex)


def test_what_the_server_takes_for_an_index_has_every_method_too() -> None:
    declared, there = offered(OpenedIndex), offered(FollowedIndex)
    assert declared.keys() == there.keys()
    for name, parameters in there.items():
        # A protocol's defaults are "...".
        assert {key: value[:2] for key, value in declared[name].items()} == {
            key: value[:2] for key, value in parameters.items()
        }


def test_a_shared_index_is_opened_as_an_index_is() -> None:
    alone, shared = signature(FollowedIndex.open), signature(RemoteIndex.open)
    # What was started already, and the variables, belong to the process that opens it.
    del alone["source"], alone["variables"]
    assert {name: shared[name] for name in alone} == alone
    assert all(shared[name][2] is not inspect.Parameter.empty for name in shared.keys() - alone.keys())


def test_every_method_that_is_called_over_the_socket_takes_and_gives_what_that_of_an_index_does() -> None:
    there = offered(FollowedIndex)
    assert methods().keys() == there.keys() - {"close", "retire", "search_soon", "__enter__", "__exit__"}
    for name, method in methods().items():
        parameters = there[name].keys() - {"self", "return"}
        assert method.takes.keys() == parameters - HOOKS
        assert method.is_run == (parameters >= HOOKS)
        assert method.gives == there[name]["return"][0]


@pytest.mark.processes
def test_an_open_index_has_the_same_public_attributes(place: "Place") -> None:
    with place.open(idle_seconds=0) as shared:
        attributes = {name: value for name, value in vars(shared).items() if not name.startswith("_")}
    place.wait_for_end()
    with FollowedIndex.open(place.root, place.options) as alone:
        assert attributes == {name: value for name, value in vars(alone).items() if not name.startswith("_")}


TEXTS = st.text(max_size=10) | st.just("caf\udce9.py")
VALUES: dict[type, st.SearchStrategy[Any]] = {
    str: TEXTS,
    Path: TEXTS.map(Path),
    bool: st.booleans(),
    int: st.integers(),
    float: st.floats(allow_nan=False),
}
SAID = [IndexOptions, methods()["search"].takes["query"]]
GIVEN = [*(method.gives for method in methods().values()), Progress, WatchReport, Failure]
KINDS = [*GIVEN, *SAID]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: getattr(kind, "__name__", str(kind)))
@settings(max_examples=settings.default.max_examples // 2)
@given(data=st.data())
def test_every_field_of_what_is_said_arrives_as_it_was(kind: Any, data: st.DataObject) -> None:
    value = data.draw(values_of(kind))
    sent = json.loads(json.dumps(written(value)))
    assert read(kind, sent) == value
    # A client reads in another way, in which it need not load what validates.
    assert taken(kind, sent) == value
    # A server has that loaded, and reads the same with it.
    reply = encoded(RESULT, kind, value, {NOTICE: "Note"})
    assert read_reply(kind, reply) == reply_in(kind, decoded(reply))


@pytest.mark.parametrize("reply", [None, 3, [], {}, {"mode": "hybrid"}, {"hits": 3}, {"hits": [{"odd": 1}]}], ids=str)
def test_a_reply_of_another_form_is_an_error_that_says_so(reply: object) -> None:
    with pytest.raises(SharingError, match="was not understood"):
        taken(Answer, reply)
    with pytest.raises(SharingError, match="was not understood"):
        read_reply(Answer, json.dumps({RESULT: reply}).encode())


@pytest.mark.parametrize("message", [b"{}", b"[]", b"", b"{"], ids=str)
def test_a_message_that_is_no_reply_is_an_error_that_says_so(message: bytes) -> None:
    with pytest.raises(SharingError, match=r"A message (was not understood|is not)"):
        read_reply(Answer, message)


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type, every field drawn; names of files may be no Unicode."""
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return st.builds(kind, **{field.name: values_of(hints[field.name]) for field in fields(kind)})
    if get_origin(kind) is tuple:
        first, *others = get_args(kind)
        is_fixed = others != [Ellipsis]
        return (
            st.tuples(*map(values_of, (first, *others)))
            if is_fixed
            else st.lists(values_of(first), max_size=2).map(tuple)
        )
    if get_origin(kind) is Mapping:
        # Languages, reasons, models: no names of files.
        return st.dictionaries(st.text(max_size=5), values_of(get_args(kind)[1]), max_size=2)
    if get_origin(kind) is not None:
        return st.one_of([values_of(part) for part in get_args(kind)])
    if kind in {None, NoneType}:
        return st.none()
    return VALUES[kind] if kind in VALUES else st.sampled_from(kind)


def test_an_error_arrives_with_its_remedy_and_whether_to_try_again() -> None:
    error = IndexInUseError("In use.", remedy="Wait.", retryable=True)
    arrived = error_of(failure_of(error))
    assert (type(arrived), vars(arrived)) == (IndexInUseError, vars(error))


def test_a_call_that_no_index_understands_is_refused() -> None:
    with pytest.raises(SharingError, match="Unknown method 'drop'"):
        read_request({"method": "drop", "arguments": {}})
    with pytest.raises(SharingError, match=r"search: expected arguments \['query'\], got \[\]"):
        read_request(request("search", {}))
    with pytest.raises(SharingError, match=r"was not understood: bool_parsing\."):
        read_request({"method": "status", "arguments": {"look": "many"}})
