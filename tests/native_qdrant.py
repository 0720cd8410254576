"""Qdrant for tests without a server: its native shard behind the REST calls that we make.

Vectors, sparse vectors, filters and graphs are those of the engine itself (Qdrant Edge); aliases,
metadata and HTTP are imitated. Requests are processed one at a time.
"""

import json
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

import qdrant_edge as edge
from ports import free_port
from qdrant_client import models
from qdrant_schema import Calls, Exchange

SMALL = 1
"""Size in kilobytes from which a graph is used; small, so that small tests use one."""


class _Collection:
    """One shard, and the metadata that a server keeps with it."""

    def __init__(self, folder: Path, asked: dict[str, Any]) -> None:
        ((self.dense, parameters),) = asked["vectors"].items()
        (self.sparse,) = asked["sparse_vectors"]
        self.size = parameters["size"]
        self.links = asked["hnsw_config"]["m"]
        self.depth = 100
        self.metadata: dict[str, Any] | None = asked["metadata"]
        self.indexed: dict[str, dict[str, Any]] = {}
        self.folder = folder
        self.shard = edge.EdgeShard.create(str(folder), self._configuration())

    def link(self, links: int, depth: int) -> None:
        """Build the graph, as a server does when its parameters change."""
        self.links, self.depth = links, depth
        self.shard.flush()
        self.shard.close()
        self.shard = edge.EdgeShard.load(str(self.folder), self._configuration())
        self.shard.optimize()

    def describe(self) -> models.CollectionInfo:
        """Return the collection as a server describes it."""
        vectors = models.VectorParams(size=self.size, distance=models.Distance.COSINE)
        info = self.shard.info()
        return models.CollectionInfo(
            status=models.CollectionStatus.GREEN,
            optimizer_status=models.OptimizersStatusOneOf.OK,
            indexed_vectors_count=info.indexed_vectors_count,
            points_count=info.points_count,
            segments_count=info.segments_count,
            payload_schema={
                key: models.PayloadIndexInfo(data_type=schema["type"], points=0)
                for key, schema in self.indexed.items()
            },
            config=models.CollectionConfig(
                params=models.CollectionParams(vectors={self.dense: vectors}),
                hnsw_config=models.HnswConfig(
                    m=self.links, ef_construct=self.depth, full_scan_threshold=SMALL
                ),
                optimizer_config=models.OptimizersConfig(
                    deleted_threshold=0.2,
                    vacuum_min_vector_number=1000,
                    default_segment_number=0,
                    flush_interval_sec=5,
                ),
                metadata=self.metadata,
            ),
        )

    def _configuration(self) -> edge.EdgeConfig:
        dense = edge.EdgeVectorParams(size=self.size, distance=edge.Distance.Cosine)
        return edge.EdgeConfig(
            vectors={self.dense: dense},
            sparse_vectors={self.sparse: edge.EdgeSparseVectorParams()},
            hnsw_config=edge.HnswIndexConfig(
                m=self.links, ef_construct=self.depth, full_scan_threshold=SMALL
            ),
            optimizers=edge.EdgeOptimizersConfig(indexing_threshold=SMALL),
            max_search_threads=1,
        )


class MissingError(Exception):
    """The collection does not exist."""


class NativeQdrant:
    """The collections and aliases of one server.

    Attributes:
        address: The server's address.
        failure: The status of all responses, if every request should fail.
        asked: The number of requests.
        exchanges: The recorded exchanges, if recording is on.
        faults: Violations of Qdrant's own schema in requests and responses, unless `is_checked` is
            false.
    """

    def __init__(self, folder: Path, *, is_checked: bool = True) -> None:
        self.address = ""
        self.failure: int | None = None
        self.asked = 0
        self.exchanges: list[Exchange] | None = None
        self.faults: list[str] = []
        self._calls = Calls.of() if is_checked else None
        self.collections: dict[str, _Collection] = {}
        self._aliases: dict[str, str] = {}
        folder.mkdir()
        self._folder = folder
        self._made = 0
        self._lock = threading.Lock()

    def answer(self, method: str, path: str, asked: dict[str, Any]) -> tuple[int, Any]:
        """Return status and result of a request."""
        with self._lock:
            self.asked += 1
            if self.failure:
                return self.failure, None
            for verb, pattern, act in _ROUTES:
                if verb == method and (match := re.fullmatch(pattern, path)):
                    try:
                        return 200, act(self, asked, *match.groups())
                    except MissingError as error:
                        return 404, f"Not found: Collection `{error}` doesn't exist!"
        return 405, f"{method} {path} is not played"

    def note(self, exchange: Exchange) -> None:
        """Compare an exchange with the schema, and record it if recording is on."""
        if self.exchanges is not None:
            self.exchanges.append(exchange)
        if self._calls is not None:
            self.faults += self._calls.faults(exchange)

    def close(self) -> None:
        """Close all shards."""
        for collection in self.collections.values():
            collection.shard.close()

    def _of(self, name: str) -> _Collection:
        collection = self.collections.get(self._aliases.get(name, name))
        if collection is None:
            raise MissingError(name)
        return collection

    def _introduce(self, _asked: dict[str, Any]) -> Any:
        return {"title": "tests/native_qdrant.py", "version": version("qdrant-edge-py")}

    def _list(self, _asked: dict[str, Any]) -> Any:
        return {"collections": [{"name": name} for name in self.collections]}

    def _exists(self, _asked: dict[str, Any], name: str) -> Any:
        return {"exists": self._aliases.get(name, name) in self.collections}

    def _create(self, asked: dict[str, Any], name: str) -> Any:
        self._made += 1
        self.collections[name] = _Collection(self._folder / str(self._made), asked)
        return True

    def _update(self, asked: dict[str, Any], name: str) -> Any:
        collection = self._of(name)
        collection.metadata = {**(collection.metadata or {}), **(asked.get("metadata") or {})}
        if graph := asked.get("hnsw_config"):
            collection.link(graph["m"], graph["ef_construct"])
        return True

    def _delete(self, _asked: dict[str, Any], name: str) -> Any:
        collection = self.collections.pop(name, None)
        if collection is None:
            return False
        collection.shard.close()
        shutil.rmtree(collection.folder)
        self._aliases = {key: name_ for key, name_ in self._aliases.items() if name_ != name}
        return True

    def _describe(self, _asked: dict[str, Any], name: str) -> Any:
        return self._of(name).describe().model_dump(mode="json", exclude_none=True)

    def _list_aliases(self, _asked: dict[str, Any]) -> Any:
        found = self._aliases.items()
        return {"aliases": [{"alias_name": key, "collection_name": name} for key, name in found]}

    def _move(self, asked: dict[str, Any]) -> Any:
        for action in asked["actions"]:
            if deleted := action.get("delete_alias"):
                del self._aliases[deleted["alias_name"]]
            if created := action.get("create_alias"):
                self._of(created["collection_name"])
                self._aliases[created["alias_name"]] = created["collection_name"]
        return True

    def _index(self, asked: dict[str, Any], name: str) -> Any:
        collection, schema = self._of(name), asked["field_schema"]
        parameters: Any = (
            edge.KeywordIndexParams()
            if schema["type"] == "keyword"
            else edge.IntegerIndexParams(lookup=schema["lookup"], range=schema["range"])
        )
        made = edge.UpdateOperation.create_field_index(asked["field_name"], parameters)
        collection.shard.update(made)
        collection.indexed[asked["field_name"]] = schema
        return {"operation_id": 0, "status": "completed"}

    def _upsert(self, asked: dict[str, Any], name: str) -> Any:
        points = [
            edge.Point(
                id=point["id"],
                vector={key: _vector(vector) for key, vector in point["vector"].items()},
                payload=point["payload"],
            )
            for point in asked["points"]
        ]
        self._of(name).shard.update(edge.UpdateOperation.upsert_points(points))
        return {"operation_id": 0, "status": "completed"}

    def _remove(self, asked: dict[str, Any], name: str) -> Any:
        operations = edge.UpdateOperation
        if asked.get("filter"):
            return self._change(name, operations.delete_points_by_filter(_filter(asked["filter"])))
        return self._change(name, operations.delete_points(asked["points"]))

    def _set_payload(self, asked: dict[str, Any], name: str) -> Any:
        operations, payload = edge.UpdateOperation, asked["payload"]
        if asked.get("filter"):
            chosen = _filter(asked["filter"])
            return self._change(name, operations.set_payload_by_filter(chosen, payload))
        return self._change(name, operations.set_payload(asked["points"], payload))

    def _delete_payload(self, asked: dict[str, Any], name: str) -> Any:
        chosen = _filter(asked["filter"])
        operation = edge.UpdateOperation.delete_payload_by_filter(chosen, asked["keys"])
        return self._change(name, operation)

    def _change(self, name: str, operation: Any) -> Any:
        self._of(name).shard.update(operation)
        return {"operation_id": 0, "status": "completed"}

    def _scroll(self, asked: dict[str, Any], name: str) -> Any:
        request = edge.ScrollRequest(
            offset=asked.get("offset"),
            limit=asked["limit"],
            filter=_filter(asked.get("filter")),
            with_payload=asked["with_payload"],
            with_vector=asked.get("with_vector") or False,
        )
        records, offset = self._of(name).shard.scroll(request)
        return {"points": [_record(record) for record in records], "next_page_offset": _id(offset)}

    def _count(self, asked: dict[str, Any], name: str) -> Any:
        request = edge.CountRequest(exact=asked["exact"], filter=_filter(asked.get("filter")))
        return {"count": self._of(name).shard.count(request)}

    def _retrieve(self, asked: dict[str, Any], name: str) -> Any:
        shard = self._of(name).shard
        return [_record(one) for one in shard.retrieve(asked["ids"], asked["with_payload"], False)]

    def _query_all(self, asked: dict[str, Any], name: str) -> Any:
        return [self._query(search, name) for search in asked["searches"]]

    def _query(self, asked: dict[str, Any], name: str) -> Any:
        if asked.get("query") is None:
            points = self._scroll(asked, name)["points"]
            return {"points": [{**point, "version": 0, "score": 0.0} for point in points]}
        chosen = asked["params"]
        request = edge.QueryRequest(
            limit=asked["limit"],
            query=edge.Query.Nearest(_vector(asked["query"]["nearest"]), using=asked["using"]),
            filter=_filter(asked.get("filter")),
            params=edge.SearchParams(
                exact=bool(chosen.get("exact")),
                hnsw_ef=chosen.get("hnsw_ef"),
                acorn=(
                    edge.AcornSearchParams(enable=chosen["acorn"]["enable"])
                    if chosen.get("acorn")
                    else None
                ),
            ),
        )
        found = self._of(name).shard.query(request)
        return {"points": [{"id": _id(hit.id), "version": 0, "score": hit.score} for hit in found]}


def _record(record: Any) -> dict[str, Any]:
    return {"id": _id(record.id), "payload": record.payload, "vector": record.vector or {}}


def _id(point: Any) -> Any:
    """Return the id of a point as in JSON."""
    return point if point is None or isinstance(point, int) else str(point)


def _vector(written: Any) -> Any:
    if isinstance(written, dict):
        return edge.SparseVector(indices=written["indices"], values=written["values"])
    return written


def _filter(written: dict[str, Any] | None) -> edge.Filter | None:
    if written is None:
        return None
    return edge.Filter(
        **{
            name: [_condition(condition) for condition in written[name]]
            for name in ("must", "must_not", "should")
            if written.get(name)
        }
    )


def _condition(written: dict[str, Any]) -> Any:
    if "has_id" in written:
        return edge.HasIdCondition(set(written["has_id"]))
    if "key" not in written:
        return _filter(written)
    if limits := written.get("range"):
        return edge.FieldCondition(written["key"], range=edge.RangeFloat(**limits))
    match = written["match"]
    if "any" in match:
        return edge.FieldCondition(written["key"], match=edge.MatchAny(match["any"]))
    return edge.FieldCondition(written["key"], match=edge.MatchValue(match["value"]))


_Act = Callable[..., Any]
_ONE = "/collections/([^/]+)"
_ROUTES: tuple[tuple[str, str, _Act], ...] = (
    ("GET", "/", NativeQdrant._introduce),
    ("GET", "/collections", NativeQdrant._list),
    ("GET", f"{_ONE}/exists", NativeQdrant._exists),
    ("GET", "/aliases", NativeQdrant._list_aliases),
    ("POST", "/collections/aliases", NativeQdrant._move),
    ("PUT", _ONE, NativeQdrant._create),
    ("PATCH", _ONE, NativeQdrant._update),
    ("DELETE", _ONE, NativeQdrant._delete),
    ("GET", _ONE, NativeQdrant._describe),
    ("PUT", f"{_ONE}/index", NativeQdrant._index),
    ("PUT", f"{_ONE}/points", NativeQdrant._upsert),
    ("POST", f"{_ONE}/points", NativeQdrant._retrieve),
    ("POST", f"{_ONE}/points/delete", NativeQdrant._remove),
    ("POST", f"{_ONE}/points/payload", NativeQdrant._set_payload),
    ("POST", f"{_ONE}/points/payload/delete", NativeQdrant._delete_payload),
    ("POST", f"{_ONE}/points/scroll", NativeQdrant._scroll),
    ("POST", f"{_ONE}/points/count", NativeQdrant._count),
    ("POST", f"{_ONE}/points/query/batch", NativeQdrant._query_all),
)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body of a response are sent together.
    wbufsize = 1 << 16
    disable_nagle_algorithm = True
    server: "_Server"

    def _reply(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = json.loads(body) if body else None
        engine, path = self.server.engine, self.path.partition("?")[0]
        status, result = engine.answer(self.command, path, {} if asked is None else asked)
        answer = {"result": result, "status": "ok", "time": 0.0}
        if status != 200:
            answer = {"status": {"error": result or "as the test wants it"}, "time": 0.0}
        elif path == "/":
            # This is the only response without an envelope.
            answer = result
        written = json.dumps(answer).encode()
        engine.note(Exchange(self.command, self.path, asked, status, json.loads(written)))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(written)))
        if status == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(written)

    def do_GET(self) -> None:
        self._reply()

    def do_POST(self) -> None:
        self._reply()

    def do_PUT(self) -> None:
        self._reply()

    def do_PATCH(self) -> None:
        self._reply()

    def do_DELETE(self) -> None:
        self._reply()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    engine: NativeQdrant


@contextmanager
def running_qdrant(folder: Path, *, is_checked: bool = True) -> Iterator[NativeQdrant]:
    """Serve an engine that keeps its files in `folder`.

    At the end, check that requests and responses matched Qdrant's schema, if `is_checked`.
    """
    engine = NativeQdrant(folder, is_checked=is_checked)
    with _Server(("127.0.0.1", free_port()), _Handler) as server:
        server.engine = engine
        engine.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield engine
        finally:
            server.shutdown()
            thread.join()
            engine.close()
    assert not engine.faults, "\n".join(engine.faults[:5])
