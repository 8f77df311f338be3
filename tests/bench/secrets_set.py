"""A labelled set for finding secrets: files with planted ones, and files without any.

The planted ones come in two parts that share no template: rules may be tuned on "tuning" and never on "held". The
innocent files are real ones of this machine, and lines that look like secrets and are none.
"""

import base64
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from secrets_forms import innocent_forms, planted_forms
from secrets_values import HELD_NAMED, HELD_TOKENS, NAMED, TOKENS, b64, crypt, password, pem

MARK = "\x00"


@dataclass(frozen=True, slots=True)
class Planted:
    """A file with one secret.

    Attributes:
        path, text: of the file.
        kind: of the secret.
        value: the characters that nobody may see; those of its lines where it has several.
    """

    path: str
    text: str
    kind: str
    value: str


_ASSIGNED = {
    "tuning": (
        ("settings.py", 'import os\n\nDEBUG = False\n{name} = "{value}"\nTIMEOUT = 30\n'),
        ("config/app.yml", "service:\n  host: db.internal\n  {name}: {value}\n  retries: 3\n"),
        ("src/client.js", "const options = {{\n  retries: 3,\n  {name}: '{value}',\n}};\nmodule.exports = options;\n"),
        ("app.properties", "server.port=8080\nservice.{name}={value}\nserver.name=web\n"),
        ("conf/settings.ini", "[service]\nhost = db.internal\n{name} = {value}\n"),
        ("main.go", 'package main\n\nvar {name} = "{value}"\n\nfunc main() {{ run({name}) }}\n'),
        ("deploy.sh", '#!/bin/sh\nset -e\nexport {name}="{value}"\n./run\n'),
    ),
    "held": (
        ("Config.java", 'final class Config {{\n    static final String {name} = "{value}";\n}}\n'),
        ("config.php", "<?php\ndefine('{name}', '{value}');\n$debug = false;\n"),
        ("main.tf", 'resource "service" "x" {{\n  {name} = "{value}"\n  size = 3\n}}\n'),
        ("Dockerfile", "FROM debian:12\nENV {name}={value}\nRUN make\n"),
        ("settings.json", '{{\n  "retries": 3,\n  "{name}": "{value}",\n  "host": "db.internal"\n}}\n'),
        ("lib/client.rb", "Client.configure do |c|\n  c.retries = 3\n  c.{name} = '{value}'\nend\n"),
        ("web.config", '<configuration>\n  <add key="{name}" value="{value}" />\n</configuration>\n'),
        ("pom.xml", "<settings>\n  <{name}>{value}</{name}>\n  <port>80</port>\n</settings>\n"),
        ("config.toml", '[service]\n{name} = "{value}"\nretries = 3\n'),
        ("Program.cs", 'var client = new Client {{ Retries = 3, {name} = "{value}" }};\n'),
        ("compose.yml", "services:\n  web:\n    environment:\n      - {name}={value}\n"),
        ("notes.md", "# Setup\n\nSet `{name}={value}` before the start.\n"),
        ("app.ts", 'export const config: Config = {{\n  "{name}": `{value}`,\n}};\n'),
        ("test.rs", 'const {name}: &str = "{value}";\nfn main() {{}}\n'),
    ),
}
"""Where a name has a value."""

_BARE = {
    "tuning": (
        ("fetch.py", 'import client\n\n\ndef fetch():\n    return client.get("/items", auth="{value}")\n'),
        ("README.md", "# Service\n\nUse this one for the staging area: `{value}`\n"),
        ("run.sh", "#!/bin/sh\ncurl -H 'Authorization: Bearer {value}' https://api.example.com/items\n"),
        ("app.log", "12:00:01 INFO started\n12:00:02 DEBUG header {value} sent\n"),
    ),
    "held": (
        ("Service.kt", 'class Service {{\n    private val client = Client("{value}")\n}}\n'),
        ("ci.yml", "jobs:\n  build:\n    steps:\n      - run: login --with {value}\n"),
        ("request.http", "GET https://api.example.com/items\nX-Access: {value}\n"),
        ("cell.ipynb", '{{"cells": [{{"cell_type": "code", "source": ["client = Client(\\"{value}\\")\\n"]}}]}}\n'),
        ("data.csv", "id,name,value\n1,first,{value}\n2,second,none\n"),
    ),
}
"""Where a value stands alone."""

_USERS = ("app", "admin", "svc_report", "root")
_SHAPES = {
    "tuning": (
        ("url", "db.py", 'URL = "postgresql://{user}:{value}@db.internal:5432/main"\n'),
        ("url", "app.yml", "broker: amqp://{user}:{value}@queue.internal/\n"),
        ("url", "remote.txt", "origin https://{user}:{value}@git.example.com/team/repo.git\n"),
        ("bearer", "call.py", 'headers = {{"Authorization": "Bearer {value}"}}\n'),
        ("basic", "call.sh", "curl -H 'Authorization: Basic {value}' https://example.com\n"),
        ("curl", "get.sh", "curl -u {user}:{value} https://example.com/items\n"),
        ("ado", "app.json", '{{"db": "Server=db;Database=main;User Id=sa;Password={value};"}}\n'),
        ("crypt", "users.txt", "{user}:{value}\n"),
    ),
    "held": (
        ("url", "db.rs", 'let url = "mongodb+srv://{user}:{value}@cluster0.example.net/main?w=majority";\n'),
        ("url", "cache.ts", 'const cache = new Redis("redis://:{value}@cache.internal:6379/0");\n'),
        ("url", "pip.txt", "--extra-index-url https://{user}:{value}@pypi.example.com/simple\n"),
        ("url", "Db.java", 'String u = "jdbc:mysql://{user}:{value}@db.internal/main";\n'),
        ("bearer", "api.rb", "request['Authorization'] = 'Bearer {value}'\n"),
        ("bearer", "api.go", 'req.Header.Set("Authorization", "token {value}")\n'),
        ("basic", "nginx.conf", 'proxy_set_header Authorization "Basic {value}";\n'),
        ("curl", "get.md", "```\ncurl --user '{user}:{value}' https://example.com\n```\n"),
        ("mysql", "dump.sh", "mysqldump -h db.internal -u {user} --password={value} main > main.sql\n"),
        ("mysql", "copy.sh", "sshpass -p '{value}' scp a b\n"),
        ("ado", "appsettings.Production.json", '{{"Default": "Server=tcp:db;Uid=sa;Pwd={value};Encrypt=True"}}\n'),
        ("crypt", "seed.sql", "INSERT INTO users(name, hash) VALUES ('{user}', '{value}');\n"),
    ),
}
"""Where the form around a value tells it."""


def planted(part: str, seed: int, repeats: int = 3) -> Iterator[Planted]:
    """The files of a part, "tuning" or "held": the same for the same seed."""
    rng = Random(f"{part} {seed}")
    tokens = TOKENS if part == "tuning" else HELD_TOKENS
    named = NAMED if part == "tuning" else NAMED | HELD_NAMED
    for kind, make in tokens.items():
        for path, template in rng.sample(_BARE[part], 2):
            yield _filled(path, template, kind, value=make(rng))
        path, template = rng.choice(_ASSIGNED[part])
        yield _filled(path, template, kind, name=rng.choice(("key", "credential", "id")), value=make(rng))
    for kind, (names, make) in named.items():
        for path, template in rng.sample(_ASSIGNED[part], repeats):
            name = names[0] if part == "tuning" else rng.choice(names)
            yield _filled(path, template, kind, name=name, value=make(rng))
    for kind, path, template in _SHAPES[part] * 2:
        yield _filled(path, template, kind, user=rng.choice(_USERS), value=_shaped(rng, kind))
    yield from _documents(part, rng)


def planted_by_form(part: str, seed: int) -> Iterator[Planted]:
    """The files of a part whose secrets stand in unusual notations, under unusual names or in tables."""
    for kind, path, text, value in planted_forms(part, Random(f"forms {part} {seed}")):
        yield Planted(path, text, kind, value)


def _filled(path: str, template: str, kind: str, *, value: str, **others: str) -> Planted:
    return Planted(path, template.format(value=value, **others), kind, value)


def _shaped(rng: Random, kind: str) -> str:
    if kind == "basic":
        return base64.b64encode(f"{rng.choice(_USERS)}:{password(rng)}".encode()).decode()
    if kind == "bearer":
        return b64(rng, 30)
    if kind == "crypt":
        return crypt(rng)
    return "".join(it for it in password(rng) if it not in "@#/%:!;'")


def _documents(part: str, rng: Random) -> Iterator[Planted]:
    """Secrets of several lines, or encoded ones."""
    for label in ("RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK", "PRIVATE KEY"):
        key = pem(rng, label, 3 if label == "EC PRIVATE KEY" else 12)
        body = "\n".join(key.split("\n")[1:-1])
        escaped, escaped_body = key.replace("\n", "\\n"), body.replace("\n", "\\n")
        indented, indented_body = ("\n    ".join(it.split("\n")) for it in (key, body))
        if part == "tuning":
            yield Planted("keys.py", f'import x\n\nKEY = """{key}"""\n\ndef go():\n    pass\n', label, body)
            yield Planted("keys.js", f'const key = "{escaped}";\n', label, escaped_body)
        else:
            yield Planted("cloud.yml", f"tls:\n  key: |\n    {indented}\n  port: 443\n", label, indented_body)
            joined = '\\n" +\n    "'.join(key.split("\n"))
            inner = '\\n" +\n    "'.join(body.split("\n"))
            yield Planted("Keys.java", f'class Keys {{\n  String key = "{joined}";\n}}\n', label, inner)
        account = {"type": "service_account", "project_id": "p-1", "private_key": key + "\n", "client_id": "1"}
        text = json.dumps(account, indent=2 if part == "tuning" else None)
        yield Planted("deploy-robot.json", text, "service account", escaped_body)
    for _ in range(4):
        encoded = base64.b64encode(password(rng).encode()).decode()
        name = rng.choice(("password", "token") if part == "tuning" else ("db-url", "tls.crt.key", "session"))
        head = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\n"
        tail = f"data:\n  {name}: {encoded}\n"
        yield Planted("k8s/app.yaml", head + ("type: Opaque\n" + tail if part == "tuning" else tail), "k8s", encoded)
        auth = base64.b64encode(f"robot:{password(rng)}".encode()).decode()
        registry = {"auths": {"registry.example.com": {"auth": auth}}}
        yield Planted(
            f"ci/{'pull' if part == 'tuning' else 'regcred'}.json", json.dumps(registry, indent=1), "docker", auth
        )


def innocent_lines() -> str:
    """Lines that look like secrets and are none."""
    rng = Random(7)
    hexes = "".join(rng.choices("0123456789abcdef", k=400))
    return "\n".join(
        (
            'password = "changeme"',
            'password = ""',
            "password: ${DB_PASSWORD}",
            "password: {{ vault_password }}",
            "password: <your-password>",
            'api_key = "your-api-key-here"',
            'api_key = "YOUR_API_KEY"',
            'API_KEY = os.environ["API_KEY"]',
            'token = os.getenv("GITHUB_TOKEN")',
            "const token = process.env.SLACK_TOKEN;",
            'token = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"',
            'secret = "********"',
            "password = getpass.getpass()",
            "password=$(cat /run/secrets/db)",
            'String password = request.getParameter("password");',
            "self.password = password",
            "token = self._next_token()",
            "auth_token: Optional[str] = None",
            "password: str",
            "  password: string;",
            "tokens = tokenizer.encode(text)",
            "key = lambda item: item.secret_name",
            "max_tokens = 4096",
            'secret_name = "projects/app/secrets/db-password"',
            "passwordField.setPlaceholder('Enter your password')",
            '<input type="password" name="password" id="login-password">',
            "https://user:password@example.com/",
            "postgres://postgres:postgres@localhost:5432/test",
            "postgres://$USER:$PASSWORD@localhost/db",
            "curl -u user:password https://example.com",
            "curl -H 'Authorization: Bearer $TOKEN' https://example.com",
            'headers = {"Authorization": f"Bearer {token}"}',
            "AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            f"commit {hexes[:40]}",
            f"sha256:{hexes[40:104]}",
            f'"integrity": "sha512-{b64(rng, 64)}"',
            f"id = {hexes[:8]}-{hexes[8:12]}-4{hexes[12:15]}-8{hexes[15:18]}-{hexes[18:30]}",
            f'etag: "{hexes[104:136]}"',
            f"data:image/png;base64,{b64(rng, 300)}",
            f'checksum = "{hexes[136:168]}"',
            f'cache_key = "v2-{hexes[168:200]}"',
            f'public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{b64(rng, 33)} me@host"',
            f"-----BEGIN PUBLIC KEY-----\n{b64(rng, 48)}\n-----END PUBLIC KEY-----",
            f"-----BEGIN CERTIFICATE-----\n{b64(rng, 48)}\n{b64(rng, 48)}\n-----END CERTIFICATE-----",
            "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
            "TOKEN_TYPE_CLIENT_SECRET = 'client_secret'",
            "token_url = 'https://auth.example.com/oauth/token'",
            "PASSWORD_RESET_TIMEOUT_DAYS = 3",
            "password_validators = django.contrib.auth.password_validation",
            "secretKeyRef:\n  name: database\n  key: password",
            "api_key_env: OPENAI_API_KEY",
        )
    )


def innocents(count: int) -> Iterator[tuple[str, str]]:
    """Real files: sources and texts that are installed here, without those that hold a private key.

    Every third of each folder's, so that tests, data and documents of many packages are among them.
    """
    yield "innocent.txt", innocent_lines()
    for line_number, line in enumerate(innocent_lines().split("\n")):
        if not line.startswith("-----"):
            yield f"line{line_number}.txt", line + "\n"
    yield from innocent_forms()
    given = 0
    for path in _real_files():
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if text and len(text) < 200_000 and "PRIVATE KEY-----\n" not in text:
            yield str(path), text
            given += 1
            if given == count:
                return


_CODE = frozenset({".py", ".pyi", ".js", ".ts", ".css", ".html", ".sh", ".c", ".h", ".pl", ".pm"})
_DATA = frozenset({".md", ".rst", ".txt", ".json", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".xml"})


def _real_files() -> list[Path]:
    folders = [Path(sys.prefix, "lib"), Path("/usr/lib/python3"), Path("/usr/lib/python3.11"), Path("/usr/share")]
    found = []
    for folder in folders:
        below = sorted(
            it for it in folder.rglob("*") if it.suffix in _CODE | _DATA and it.is_file() and not it.is_symlink()
        )
        found += below[:: max(1, len(below) // 1500)]
    Random(3).shuffle(found)
    return found
