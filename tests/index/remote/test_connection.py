"""Connections made at their first use."""

from dataclasses import dataclass, field

import pytest

from cqm.index.model.errors import RerankError
from cqm.index.remote.connection import Connection


@dataclass(slots=True)
class Server:
    """Counts how often it was closed."""

    closed: int = 0

    def close(self) -> None:
        self.closed += 1


@dataclass(slots=True)
class Meeting:
    """Makes servers; the first is closed while it is met if `meanwhile` says which connection to close."""

    servers: list[Server] = field(default_factory=list)
    meanwhile: Connection[Server] | None = None

    def __call__(self) -> Server:
        self.servers.append(Server())
        if self.meanwhile:
            self.meanwhile.close()
        return self.servers[-1]


def over() -> RerankError:
    return RerankError("It is over.")


def test_a_server_is_met_at_the_first_use_and_only_then() -> None:
    meeting = Meeting()
    connection = Connection(meeting, over)
    assert meeting.servers == []
    assert connection.server() is connection.server()
    assert len(meeting.servers) == 1


def test_a_closed_connection_stays_closed_unless_it_reopens() -> None:
    meeting = Meeting()
    for reopens in (False, True):
        connection = Connection(meeting, over, reopens=reopens)
        first = connection.server()
        connection.close()
        connection.close()
        assert first.closed == 1
        if reopens:
            assert connection.server() is not first
        else:
            with pytest.raises(RerankError, match=r"It is over\."):
                connection.server()


@pytest.mark.parametrize("reopens", [False, True])
def test_a_server_met_while_the_connection_is_closed_is_closed_too(reopens: bool) -> None:
    meeting = Meeting()
    meeting.meanwhile = connection = Connection(meeting, over, reopens=reopens)
    with pytest.raises(RerankError, match=r"It is over\."):
        connection.server()
    assert [server.closed for server in meeting.servers] == [1]
