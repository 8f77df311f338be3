"""Pasted texts that tools print: structured logs, metrics, errors of databases, builds, calls of services, charts."""

import json
import time
from collections.abc import Iterator

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.query import Answer, Confidence, Query

pytestmark = pytest.mark.processes

FILES = {
    "main.go": 'package main\n\nfunc main() {\n\tlog.Info("starting the service now")\n}\n',
    "sync/loader.go": 'package sync\n\nfunc Load(path string) error {\n\tif path == "" {\n'
    '\t\tlog.Error("tenant list is not loaded")\n\t}\n\treturn nil\n}\n',
    "sync/other.go": 'package sync\n\nfunc Other() {\n\tlog.Error("tenant list is not loaded")\n}\n',
    "docs/loading.md": "# Loading\n\nError loading: the tenant list of a component is not loaded; level, caller.\n",
    "cache/metrics.go": 'package cache\n\nvar hits = counter(Opts{\n\tNamespace: app.Namespace,\n'
    '\tSubsystem: "cache",\n'
    '\tName:      "hits_total",\n})\n',
    "proxy/metrics.go": 'package proxy\n\nvar hits = counter(Opts{\n\tNamespace: app.Namespace,\n'
    '\tSubsystem: "proxy",\n'
    '\tName:      "hits_total",\n})\n',
    "app/namespace.go": 'package app\n\nconst Namespace = "depot"\n',
    "metrics/names.go": 'package metrics\n\nconst (\n\tprefix = "lamp_"\n\trouterPrefix = prefix + "router_"\n'
    '\trouterSeconds = routerPrefix + "request_seconds"\n'
    '\tserviceSeconds = prefix + "service_" + "request_seconds"\n)\n',
    "docs/metrics.md": "# Metrics\n\n- depot_cache_hits_total: hits of the cache\n- lamp_router_request_seconds\n",
    "jvm/Names.java": 'class Names {\n  static final String CALLS = "breaker.calls.slow";\n}\n',
    "migrations/1_init.sql": "CREATE TABLE users (\n  id INT,\n  email TEXT,\n"
    "  CONSTRAINT users_email_unique UNIQUE (email)\n);\nCREATE INDEX users_team_idx ON users (team);\n",
    "migrations/2_drop.sql": "ALTER TABLE users DROP CONSTRAINT users_email_unique;\nDROP INDEX users_team_idx;\n",
    "store/errors.go": "package store\n\n// IsDuplicate tells a duplicate key that violates a unique constraint.\n"
    'func IsDuplicate(err error) bool {\n\treturn match(err, "unique constraint")\n}\n',
    "Dockerfile": "FROM golang AS build\nWORKDIR /src\nRUN go mod download && \\\n    go build ./...\n\n"
    "FROM scratch AS final\nCOPY --from=build /src/app /app\n",
    "tools/Dockerfile": "FROM golang AS tools\nWORKDIR /src\nRUN go install ./tools\n",
    "locale/de.po": 'msgid "Two new parcels"\nmsgstr "Zwei neue Pakete"\n',
    "web/parcels.py": "def title():\n    return _('Two new parcels')\n",
    "api/depot.proto": 'syntax = "proto3";\npackage depot.v1;\n\nservice ParcelService {\n'
    "  rpc TrackParcel(Req) returns (Res);\n}\n",
    "api/server.go": "package api\n\ntype parcelServer struct{}\n\n"
    "func (s *parcelServer) TrackParcel(ctx context.Context, r *Req) (*Res, error) {\n\treturn nil, nil\n}\n",
    "graph/schema.graphql": "type Query {\n  openParcels(first: Int): [Parcel]\n}\n",
    "graph/resolvers.go": "package graph\n\n"
    "func (r *queryResolver) OpenParcels(ctx context.Context) ([]Parcel, error) {\n"
    "\treturn r.store.Parcels(ctx)\n}\n",
    "web/OpenParcels.tsx": 'export function OpenParcels() {\n  return <List name="openParcels" />;\n}\n',
    "chart/values.yaml": "web:\n  replicas: 2\n  probe:\n    path: /healthz\nworker:\n  probe:\n    path: /alive\n",
    "chart/values.schema.json": '{"properties": {"worker": {"properties": {"probe": '
    '{"properties": {"path": {"type": "string"}}}}}}}\n',
    "chart/README.md": "# Install\n\nhelm upgrade --install web ./chart --set worker.probe.path=/x\n",
    "web/routes.py": 'router.get("/parcels/{id}/stops", stops)\nrouter.post("/parcels", add)\n',
    "boot/application.yml": "spring:\n  data-source:\n    url: x\n  mail:\n    url: y\nurl: z\n",
    "cmd/flags.go": 'package cmd\n\nfunc init() {\n\tviper.SetEnvPrefix("PD")\n'
    '\tflags.String("depot.outbox", "a", "the outbox")\n\tflags.Bool("quiet-doors", true, "no bell")\n}\n\n'
    'func run() {\n\topen(flags.GetString("depot.outbox"))\n}\n',
    "conf/settings.py": 'class Settings(BaseSettings):\n    model_config = SettingsConfigDict(env_prefix="LMP_")\n\n'
    "    retry_limit: int = 3\n",
    "completions/depot.bash": 'complete -W "--quiet-doors --no-quiet-doors" depot\n',
    "db/schema.rb": 'create_table "lockers" do |t|\n  t.string "door_code"\nend\n\n'
    'create_table "vans" do |t|\n  t.string "door_code"\n  t.integer "driver_id", null: false\nend\n',
    "app/models/van.rb": "class Van\n  validates :door_code\n  door_code = 1\nend\n",
    "store/locker.go": "package store\n\ntype Locker struct {\n\tDoorCode string\n}\n",
    "fleet/models.py": "class Wheel(models.Model):\n    serial = models.CharField(unique=True)\n",
    "bin/rotate": "#!/bin/sh\nrm -f old\n",
    "docs/rotate.md": "# Rotate\n\nEvery 5 minutes the bin rotates its log: run rotate.\n",
    "util/list.go": "package util\n\n// List keeps items, to push to and pop from.\ntype List struct{}\n\n"
    "func (l *List) Push(item string) {}\n\nfunc decode(raw string) string {\n\treturn raw\n}\n",
}  # fmt: skip

LOST = "tenant list is not loaded"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("printed"), FILES, "depot-server") as opened:
        yield opened


def ask(index: Index, text: str) -> Answer:
    return index.search(Query(text))


@pytest.mark.parametrize(
    "text",
    [
        # The place is of another version or a bundle: the message tells.
        f'ts=2026-01-02T03:04:05Z caller=main.go:3 level=error msg="{LOST}" id=17',
        json.dumps({"level": "error", "ts": 1.5, "caller": "sync/loader.go:1", "msg": LOST, "component": "main"}),
        json.dumps({"severity": "ERROR", "timestamp": "x", "jsonPayload": {"message": LOST, "user": 4}}),
        json.dumps({"log": json.dumps({"level": "error", "msg": LOST}), "stream": "stderr"}),
        f'2026-01-02T03:04:05.123Z\tERROR\t{LOST}\t{{"component": "main", "attempt": 3}}',
        f'I0102 03:04:05.123456       1 loader.go:12] "{LOST}" component="main" count=3',
        f"loader-1  | 2026-01-02T03:04:05.123456789Z {LOST}",
        f"Jan 02 03:04:05 host main[12]: {LOST}",
        f"main.3f2a1b.js:2 {LOST}",
        f'{LOST} {{id: 17, name: "main"}}',
        f"[Error] {LOST} (main.js, line 12)",
    ],
)
def test_a_structured_line_of_a_log_is_asked_for_by_its_message(index: Index, text: str) -> None:
    found = {(hit.path, hit.asked_line) for hit in ask(index, text).hits[:2]}
    assert found == {("sync/loader.go", 5), ("sync/other.go", 4)}


def test_of_equal_messages_that_in_the_file_of_the_line_comes_first(index: Index) -> None:
    for name in ("loader", "other"):
        hit = ask(index, f'level=error caller=sync/{name}.go:99 msg="{LOST}"').hits[0]
        assert hit.path == f"sync/{name}.go"


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("depot_cache_hits_total", "cache/metrics.go", 6),
        ("depot_proxy_hits_total", "proxy/metrics.go", 6),
        ('sum by (node) (rate(depot_proxy_hits_total{job="x"}[5m])) > 0', "proxy/metrics.go", 6),
        ("alert on depot_cache_hits_total", "cache/metrics.go", 6),
        ("lamp_router_request_seconds_bucket", "metrics/names.go", 6),
        ('lamp_service_request_seconds_sum{code="200"} 17', "metrics/names.go", 7),
        ("breaker_calls_slow_total", "jvm/Names.java", 2),
        ('ERROR: duplicate key value violates unique constraint "users_email_unique"', "migrations/1_init.sql", 4),
        ("Duplicate entry '4' for key 'users.users_email_unique'", "migrations/1_init.sql", 4),
        ("Index Scan using users_team_idx on users  (cost=0.42..8.44)", "migrations/1_init.sql", 6),
        ("#12 [build 3/3] RUN go mod download &&     go build ./...", "Dockerfile", 3),
        ('process "/bin/sh -c go mod download && go build ./..." did not complete successfully', "Dockerfile", 3),
        (" => [tools 2/3] WORKDIR /src    0.3s", "tools/Dockerfile", 2),
        (" => [build 2/3] WORKDIR /src    0.3s", "Dockerfile", 2),
        ('msgid "Two new parcels"\nmsgstr "Zwei neue Pakete"', "web/parcels.py", 2),
        ("/depot.v1.ParcelService/TrackParcel", "api/server.go", 5),
        ("rpc error: code = Unavailable method=/depot.v1.ParcelService/TrackParcel", "api/server.go", 5),
        ("query A($n: Int) {\n  openParcels(first: $n) {\n    id\n  }\n}", "graph/resolvers.go", 3),
        ('{"errors": [{"message": "no", "path": ["openParcels"]}], "data": null}', "graph/resolvers.go", 3),
        ("{{ .Values.worker.probe.path | quote }}", "chart/values.yaml", 7),
        ("helm upgrade --install web ./chart --set web.probe.path=/x", "chart/values.yaml", 4),
    ],
)  # fmt: skip
def test_what_a_tool_prints_is_found_where_it_is_made(index: Index, text: str, path: str, line: int) -> None:
    hit = ask(index, text).hits[0]
    assert (hit.path, hit.asked_line) == (path, line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("* Connected to localhost port 80\n> GET /parcels/7/stops HTTP/1.1\n> Host: a\n>\n< HTTP/1.1 500 Error", 1),
        ("> POST /parcels HTTP/1.1\n> Host: a\n> Accept: */*\n>\n< HTTP/1.1 201 Created\n< X: y", 2),
        ("curl 'https://a.example/parcels/7/stops?page=2' -H 'accept: */*' --compressed", 1),
        ("curl https://a.example/parcels -H 'a: b' --data-raw '{}'", 2),
        (
            json.dumps({"request": {"method": "POST", "url": "http://a/parcels", "httpVersion": "h2"}}, indent=2),
            2,
        ),
        (json.dumps({"request": "GET /parcels/7/stops HTTP/1.1", "status": 500, "user": "a"}), 1),
        (json.dumps({"level": "info", "ts": 1, "msg": LOST, "request": {"method": "POST", "uri": "/parcels"}}), 2),
    ],
)
def test_a_request_as_tools_print_it_is_answered_by_its_route(index: Index, text: str, line: int) -> None:
    answer = ask(index, text)
    assert (answer.hits[0].path, answer.hits[0].asked_line) == ("web/routes.py", line)
    assert answer.confidence is Confidence.HIGH


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("SPRING_DATASOURCE_URL", "boot/application.yml", 3),
        ("export SPRING_MAIL_URL=z", "boot/application.yml", 5),
        ("PD_DEPOT_OUTBOX=b", "cmd/flags.go", 5),
        ("LMP_RETRY_LIMIT", "conf/settings.py", 4),
        ("--no-quiet-doors", "cmd/flags.go", 6),
        ("what does --depot.outbox do", "cmd/flags.go", 5),
    ],
)
def test_a_variable_or_an_option_that_is_not_written_so_is_answered_by_what_it_sets(
    index: Index, text: str, path: str, line: int
) -> None:
    answer = ask(index, text)
    assert (answer.hits[0].path, answer.hits[0].asked_line) == (path, line)
    assert answer.confidence is Confidence.HIGH


@pytest.mark.parametrize("text", ["PD_FLORIN_WICKET=1", "SPRING_FLORIN_URL", "--no-florin-wicket"])
def test_a_variable_or_an_option_of_another_program_is_not_sure(index: Index, text: str) -> None:
    assert ask(index, text).confidence is not Confidence.HIGH


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        (
            "constraint failed: UNIQUE constraint failed: vans.door_code (2067)",
            "db/schema.rb",
            6,
        ),
        ("NOT NULL constraint failed: vans.driver_id", "db/schema.rb", 7),
        ('null value in column "door_code" of relation "lockers" violates not-null constraint', "db/schema.rb", 2),
        ('duplicate key value violates unique constraint "vans_door_code_key"', "db/schema.rb", 6),
        ("Duplicate entry '7' for key 'lockers.index_lockers_on_door_code'", "db/schema.rb", 2),
        ("Index Scan using fleet_wheel_serial_1a2b3c4d_uniq on fleet_wheel  (cost=0.1..2.2)", "fleet/models.py", 2),
    ],
)
def test_a_constraint_that_a_database_named_is_answered_by_its_column(
    index: Index, text: str, path: str, line: int
) -> None:
    answer = ask(index, text)
    assert (answer.hits[0].path, answer.hits[0].asked_line) == (path, line)


def test_a_line_of_cron_is_answered_by_its_script(index: Index) -> None:
    for text in (
        "*/5 * * * * cd /srv/depot && ./bin/rotate --all >> /var/log/rotate.log 2>&1",
        "0 3 * * 1-5 root /opt/depot/bin/rotate",
        "@daily bash bin/rotate > /dev/null",
    ):
        assert ask(index, text).hits[0].path == "bin/rotate"


@pytest.mark.parametrize(
    "text", ["UNIQUE constraint failed: florins.wicket", 'violates unique constraint "florins_wicket_key"']
)
def test_a_column_that_no_table_has_is_not_sure(index: Index, text: str) -> None:
    assert ask(index, text).confidence is not Confidence.HIGH


def test_a_metric_with_a_beginning_that_no_program_has_is_not_sure(index: Index) -> None:
    assert ask(index, "depot_cache_hits_total").confidence is Confidence.HIGH
    assert ask(index, "quarry_cache_hits_total").confidence is not Confidence.HIGH


@pytest.mark.parametrize(
    "name", ["java.util.List", "{@link java.util.List}", ":meth:`bytes.decode`", "std::vec::Vec::push"]
)
def test_a_name_of_another_project_is_not_sure(index: Index, name: str) -> None:
    assert ask(index, name).confidence is not Confidence.HIGH


@pytest.mark.parametrize(
    "name", ["util.List", "example.com/depot/util.List", "depot-server/util.List.Push", "List.Push"]
)
def test_a_qualified_name_of_the_project_is_sure(index: Index, name: str) -> None:
    assert ask(index, name).confidence is Confidence.HIGH


@pytest.mark.parametrize(
    "text",
    [
        "a=b " * 4_000,
        "INFO " + 'a="b ' * 4_000,
        '{"level": ' * 1_500,
        "x" + " a=b" * 4_000 + " c",
        "x " + "\t" * 15_000 + "y",
        "rate(" + "a_b " * 90,
        "query x (" * 400,
        "#1 [a 1/2] RUN " + " " * 3_900 + "x",
        'process "' + "/bin/sh -c " * 300,
        "/a." * 1_300,
    ],
)
def test_hostile_texts_take_no_time(index: Index, text: str) -> None:
    start = time.process_time()
    ask(index, text)
    assert time.process_time() - start < 2
