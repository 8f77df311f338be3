"""A loopback server that speaks as much of Qdrant's REST protocol as CQM uses, over real Edge shards.

It fails as it is told, tells what it was asked, and can go down and come back with what it held. What it cannot show is
how a cluster behaves, what quantization and a graph cost in recall, and what a real server refuses.
"""

import json
import re
import shutil
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import qdrant_edge as edge

Json = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A request; header names in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Json


@dataclass(frozen=True)
class Fault:
    """All that becomes of a request instead of an answer.

    Attributes:
        status, body, headers: what is answered; a status of 0 ends the connection without a word.
        done: carry the request out first, so that only its answer is lost.
        hangs: answer nothing until the server ends.
    """

    status: int = 0
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    done: bool = False
    hangs: bool = False


def refusal(status: int, said: str, **headers: str) -> Fault:
    """An error as Qdrant words it."""
    return Fault(status, json.dumps({"status": {"error": said}, "time": 0.0}), headers)


class RefusedError(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status


class QdrantDouble:
    """The server.

    Attributes:
        requests: all that came, in order.
        rule: what is wrong with a request; None for nothing.
        key: the API key that every request needs; empty for none.
        collections: the shards by name; `parameters` are what they were made with.
        aliases: the collections that they stand for.
    """

    def __init__(self, folder: Path, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Asked] = []
        self.rule: Callable[[Asked], Fault | None] = lambda _: None
        self.key = ""
        self.collections: dict[str, edge.EdgeShard] = {}
        self.parameters: dict[str, Json] = {}
        self.aliases: dict[str, str] = {}
        self.ended = threading.Event()
        self.lock = threading.RLock()
        self._folder = folder
        self._port = 0
        self._tls = tls
        self._server: ThreadingHTTPServer | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Listen, on the same port as before."""
        self.ended.clear()
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), _handler_of(self))
        self._port = self._server.server_port
        if self._tls:
            self._server.socket = self._tls.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        """Go down; what it holds stays."""
        if self._server:
            self.ended.set()
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def close(self) -> None:
        self.stop()
        for shard in self.collections.values():
            shard.close()

    def said(self, method: str, pattern: str) -> list[Asked]:
        """The requests of a method whose path matches."""
        return [asked for asked in self.requests if asked.method == method and re.fullmatch(pattern, asked.path)]

    def ids(self, name: str) -> set[str]:
        """The ids of all points of a collection or alias, but that of its mark, which alone is no number."""
        records, _ = self._shard(name).scroll(edge.ScrollRequest(None, 1_000_000, None))
        return {f"{record.id:016x}" for record in records if isinstance(record.id, int)}

    def answer(self, asked: Asked) -> object:
        """The result of a request."""
        if self.key and asked.headers.get("api-key") != self.key:
            raise RefusedError(401, "Must provide an API key or an Authorization bearer token")
        for method, pattern, handle in _ROUTES:
            if asked.method == method and (found := re.fullmatch(pattern, asked.path)):
                with self.lock:
                    return handle(self, asked, *found.groups())
        raise RefusedError(404, "")

    def tell(self, _: Asked) -> object:
        return {}

    def exists(self, _: Asked, name: str) -> object:
        return {"exists": name in self.collections}

    def list_collections(self, _: Asked) -> object:
        return {"collections": [{"name": name} for name in self.collections]}

    def list_aliases(self, _: Asked) -> object:
        return {"aliases": [{"alias_name": it, "collection_name": name} for it, name in self.aliases.items()]}

    def create(self, asked: Asked, name: str) -> object:
        if name in self.collections:
            raise RefusedError(409, f"Wrong input: Collection `{name}` already exists!")
        sparse = {
            key: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf if it.get("modifier") == "idf" else None)
            for key, it in asked.body["sparse_vectors"].items()
        }
        config = edge.EdgeConfig(sparse_vectors=sparse, hnsw_config=edge.HnswIndexConfig(0, 8, 10))
        place = self._folder / name
        place.mkdir(parents=True)
        self.collections[name] = edge.EdgeShard.create(str(place), config)
        self.parameters[name] = asked.body
        return True

    def change(self, asked: Asked, name: str) -> object:
        self._shard(name)
        return bool(asked.body)

    def drop(self, _: Asked, name: str) -> object:
        shard = self.collections.pop(name, None)
        if shard is None:
            return False
        shard.close()
        shutil.rmtree(self._folder / name)
        self.aliases = {alias: it for alias, it in self.aliases.items() if it != name}
        return True

    def index(self, asked: Asked, name: str) -> object:
        if asked.body["field_schema"] != "keyword":
            raise RefusedError(400, "only keywords here")
        create = edge.UpdateOperation.create_field_index
        return self._update(name, create(asked.body["field_name"], edge.PayloadSchemaType.Keyword))

    def add_vector(self, asked: Asked, name: str, vector: str) -> object:
        dense = asked.body["dense"]
        form = {"float16": edge.VectorStorageDatatype.Float16, "float32": edge.VectorStorageDatatype.Float32}
        distance = {"Dot": edge.Distance.Dot, "Cosine": edge.Distance.Cosine}[dense["distance"]]
        create = edge.UpdateOperation.create_dense_vector
        return self._update(name, create(vector, dense["size"], distance, datatype=form[dense["datatype"]]))

    def upsert(self, asked: Asked, name: str) -> object:
        return self._upsert(name, asked.body["points"])

    def batch(self, asked: Asked, name: str) -> object:
        done = []
        for step in asked.body["operations"]:
            if "upsert" in step:
                done.append(self._upsert(name, step["upsert"]["points"]))
            else:
                done.append(self._update(name, edge.UpdateOperation.delete_points(step["delete"]["points"])))
        return done

    def query_batch(self, asked: Asked, name: str) -> object:
        return [self._query(name, search) for search in asked.body["searches"]]

    def _query(self, name: str, search: Json) -> Json:
        vector, params = search["query"]["nearest"], search.get("params") or {}
        vector = edge.SparseVector(vector["indices"], vector["values"]) if isinstance(vector, dict) else vector
        request = edge.QueryRequest(
            limit=search["limit"],
            query=edge.Query.Nearest(vector, using=search["using"]),
            filter=_filter(search.get("filter")),
            with_payload=_selector(search.get("with_payload")),
            params=edge.SearchParams(hnsw_ef=params.get("hnsw_ef"), exact=bool(params.get("exact"))),
        )
        found = self._shard(name).query(request)
        return {"points": [{**_shown(point), "version": 0, "score": point.score} for point in found]}

    def scroll(self, asked: Asked, name: str) -> object:
        body = asked.body
        selected = _selector(body.get("with_payload"))
        request = edge.ScrollRequest(body.get("offset"), body["limit"], _filter(body.get("filter")), selected)
        records, offset = self._shard(name).scroll(request)
        return {"points": list(map(_shown, records)), "next_page_offset": _plain(offset)}

    def count(self, asked: Asked, name: str) -> object:
        request = edge.CountRequest(exact=asked.body["exact"], filter=_filter(asked.body.get("filter")))
        return {"count": self._shard(name).count(request)}

    def retrieve(self, asked: Asked, name: str) -> object:
        selected = _selector(asked.body.get("with_payload"))
        vectors = asked.body.get("with_vector") or False
        found = self._shard(name).retrieve(asked.body["ids"], selected, with_vector=vectors)
        return [_shown(it) | ({"vector": _shown_vectors(it.vector)} if vectors else {}) for it in found]

    def change_aliases(self, asked: Asked) -> object:
        aliases = dict(self.aliases)
        for action in asked.body["actions"]:
            if "delete_alias" in action:
                aliases.pop(action["delete_alias"]["alias_name"], None)
            else:
                self._shard(action["create_alias"]["collection_name"])
                aliases[action["create_alias"]["alias_name"]] = action["create_alias"]["collection_name"]
        self.aliases = aliases
        return True

    def _shard(self, name: str) -> edge.EdgeShard:
        name = self.aliases.get(name, name)
        if name not in self.collections:
            raise RefusedError(404, f"Not found: Collection `{name}` doesn't exist!")
        return self.collections[name]

    def _upsert(self, name: str, points: list[Json]) -> Json:
        made = [edge.Point(point["id"], _vectors(point["vector"]), point.get("payload") or {}) for point in points]
        return self._update(name, edge.UpdateOperation.upsert_points(made))

    def _update(self, name: str, operation: edge.UpdateOperation) -> Json:
        self._shard(name).update(operation)
        return {"operation_id": 0, "status": "completed"}


_ROUTES: tuple[tuple[str, str, Callable[..., object]], ...] = (
    ("GET", "/", QdrantDouble.tell),
    ("GET", "/aliases", QdrantDouble.list_aliases),
    ("GET", "/collections", QdrantDouble.list_collections),
    ("POST", "/collections/aliases", QdrantDouble.change_aliases),
    ("GET", "/collections/([^/]+)/exists", QdrantDouble.exists),
    ("PUT", "/collections/([^/]+)", QdrantDouble.create),
    ("PATCH", "/collections/([^/]+)", QdrantDouble.change),
    ("DELETE", "/collections/([^/]+)", QdrantDouble.drop),
    ("PUT", "/collections/([^/]+)/index", QdrantDouble.index),
    ("PUT", "/collections/([^/]+)/vectors/([^/]+)", QdrantDouble.add_vector),
    ("PUT", "/collections/([^/]+)/points", QdrantDouble.upsert),
    ("POST", "/collections/([^/]+)/points", QdrantDouble.retrieve),
    ("POST", "/collections/([^/]+)/points/batch", QdrantDouble.batch),
    ("POST", "/collections/([^/]+)/points/query/batch", QdrantDouble.query_batch),
    ("POST", "/collections/([^/]+)/points/scroll", QdrantDouble.scroll),
    ("POST", "/collections/([^/]+)/points/count", QdrantDouble.count),
)


def _vectors(vectors: Json) -> dict[str, Any]:
    return {
        name: edge.SparseVector(it["indices"], it["values"]) if isinstance(it, dict) else it
        for name, it in vectors.items()
    }


def _shown_vectors(vectors: Any) -> Json:
    named = vectors if isinstance(vectors, dict) else {}
    sparse = {name: it for name, it in named.items() if not isinstance(it, list)}
    return named | {name: {"indices": list(it.indices), "values": list(it.values)} for name, it in sparse.items()}


def _selector(wanted: Any) -> Any:
    return edge.PayloadSelector.Include(wanted) if isinstance(wanted, list) else bool(wanted)


def _plain(point_id: object) -> int | str | None:
    return point_id if point_id is None or isinstance(point_id, int) else str(point_id)


def _shown(point: Any) -> Json:
    return {"id": _plain(point.id), "payload": point.payload}


def _filter(wanted: Json | None) -> edge.Filter | None:
    if not wanted:
        return None
    parts: dict[str, Any] = {
        key: [_condition(it) for it in wanted.get(key) or ()] or None for key in ("must", "should", "must_not")
    }
    return edge.Filter(**parts)


def _condition(wanted: Json) -> Any:
    if "has_id" in wanted:
        return edge.HasIdCondition(set(wanted["has_id"]))
    if "has_vector" in wanted:
        return edge.HasVectorCondition(wanted["has_vector"])
    return edge.FieldCondition(wanted["key"], match=edge.MatchAny(wanted["match"]["any"]))


def _answered(double: QdrantDouble, asked: Asked) -> tuple[int, Json]:
    try:
        body = {"result": double.answer(asked), "status": "ok", "time": 0.0}
    except RefusedError as error:
        return error.status, {"status": {"error": str(error)}, "time": 0.0}
    except Exception as error:  # noqa: BLE001 - Edge raises nothing more precise
        return 400, {"status": {"error": f"Wrong input: {error}"}, "time": 0.0}
    # What a server says of itself has a form of its own.
    return 200, {"title": "qdrant - vector search engine", "version": "1.18.0"} if asked.path == "/" else body


def _handler_of(double: QdrantDouble) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def _serve(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            asked = Asked(self.command, parts.path, query, headers, json.loads(content) if content else {})
            double.requests.append(asked)
            fault = double.rule(asked)
            if fault and not fault.done:
                self._fail(fault)
                return
            status, body = _answered(double, asked)
            if fault:
                self._fail(fault)
            else:
                self._send(status, json.dumps(body))

        do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815 - named by the standard library

        def _fail(self, fault: Fault) -> None:
            if fault.hangs:
                double.ended.wait()
            if fault.hangs or not fault.status:
                self.close_connection = True
            else:
                self._send(fault.status, fault.body, fault.headers)

        def _send(self, status: int, body: str, headers: Mapping[str, str] | None = None) -> None:
            with suppress(OSError):  # the client may have given up
                self.send_response(status)
                for name, value in {**(headers or {}), "Content-Length": str(len(body.encode()))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body.encode())
                self.wfile.flush()

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    return Handler


@pytest.fixture
def qdrant(tmp_path: Path) -> Iterator[QdrantDouble]:
    """A server that ends with the test."""
    double = QdrantDouble(tmp_path / "qdrant")
    yield double
    double.close()
