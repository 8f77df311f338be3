"""All that is open or goes on is known to the end: nothing is left open, and nothing is closed too early."""

import socket
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from scripted_server import Reply, Request, ScriptedServer

from cqm.chunkers.model import ChunkOptions
from cqm.index.disk.locations import make_private_folder
from cqm.index.engine import Index
from cqm.index.model.errors import IndexInUseError
from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.server.owner.address import Address
from cqm.server.owner.connection import serve
from cqm.server.owner.messages import Client, Greeting, request, this_build, written
from cqm.server.owner.session import LeavingError, Session
from cqm.server.owner.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Place

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_owners")]

PATIENCE_SECONDS = 240.0


def session_of(place: "Place", changed: "Callable[[], None]" = lambda: None) -> Session:
    make_private_folder(place.folder)
    return Session(this_build(), place.folder, changed)


def greeting(place: "Place", name: str, options: IndexOptions | None = None) -> Greeting:
    return Greeting(this_build(), Client(name), str(place.root), options or place.options, adopts=True)


def test_an_owner_that_has_ended_opens_the_index_for_nobody(place: "Place") -> None:
    session, first = session_of(place), greeting(place, "first")
    with session.present(first):
        session.open_for(first)
        session.end()
        with pytest.raises(LeavingError):
            session.open_for(first)
    with Index.open(place.root, place.options):
        pass


def test_an_owner_that_ends_while_options_change_leaves_no_index_open(place: "Place", background: Any) -> None:
    others = replace(place.options, chunk=ChunkOptions(max_tokens=256))
    session, first, second = session_of(place), greeting(place, "first"), greeting(place, "second", others)
    with session.present(first), session.present(second):
        session.open_for(first)
        with session.call("search"):
            switching = background(lambda: session.open_for(second))
            session.end()
        with pytest.raises(LeavingError):
            switching.result()
    with Index.open(place.root, others):
        pass


def test_a_run_whose_client_died_goes_on_until_it_has_stopped(
    place: "Place", server: ScriptedServer, background: Any
) -> None:
    embeds, released, stopped = Event(), Event(), Event()

    def hold(_: Request) -> Reply | None:
        embeds.set()
        released.wait(PATIENCE_SECONDS)
        return None

    server.rule = hold
    embedded = replace(
        place, options=replace(place.options, embedding=EmbeddingOptions("openai", "t", f"{server.url}/v1"))
    )
    session = session_of(embedded, lambda: stopped.set() if session.is_over else None)
    ours, theirs = socket.socketpair()
    client, address = Wire(theirs), Address(pid=0)
    serving = background(lambda: serve(Wire(ours), session, this_build(), address))
    client.send(written(greeting(embedded, "client")) | {"token": ""})
    assert "welcome" in client.receive(PATIENCE_SECONDS)
    client.send(request("update", {"paths": None, "anew": False}))
    assert embeds.wait(PATIENCE_SECONDS)
    client.close()
    serving.result()
    with pytest.raises(IndexInUseError, match="a leaving client"):
        session.dismiss()
    session.leave()
    assert not session.is_over
    released.set()
    assert stopped.wait(PATIENCE_SECONDS)
    session.end()
