"""Planted secrets by the kind of their notation, and innocent lines of the same notations, for `secrets_set.py`.

Each row is a path and a text with "§" for the value. Names and values of a row are drawn when the set is made.
"""

# ruff: noqa: RUF001 - full-width letters are a kind of them

from collections.abc import Iterator
from random import Random

from secrets_values import b64, mixed, of, uuid

VALUE = "§"

_HEX = "0123456789abcdef"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"

Rows = tuple[tuple[str, str], ...]

FORMS: dict[str, dict[str, Rows]] = {
    "tuning": {
        "separator": (
            ("wifi.h", '#define WIFI_PASSWORD "§"\n'),
            ("a.rs", 'let password = String::from("§");\n'),
            ("a.py", "password = (\n    '§'\n)\n"),
            ("a.py", 'secret_key = """\n§"""\n'),
            ("a.yml", "password: >-\n  §\n"),
            ("a.yml", "db:\n  password: !vault §\n"),
            ("a.xml", "<password><![CDATA[§]]></password>\n"),
            ("a.plist", "<key>password</key>\n<string>§</string>\n"),
            ("a.el", '(setq smtp-password "§")\n'),
            ("a.ex", '@password "§"\n'),
            ("a.vb", 'Dim password As String = "§"\n'),
            ("a.cs", 'public string Password { get; set; } = "§";\n'),
            ("Makefile", "PASSWORD ?= §\n"),
            ("Dockerfile", "FROM debian\nENV DB_PASSWORD §\n"),
            ("a.js", 'const p = process.env.DB_PASSWORD || "§";\n'),
            ("a.rb", 'ENV.fetch("SECRET_KEY") { "§" }\n'),
            ("A.java", '@Value("${db.password:§}") String p;\n'),
            ("a.py", 'parser.add_argument("--password", default="§")\n'),
            ("a.py", 'SECRET = "" "§"\n'),
            ("a.py", 'password = f"§"\n'),
        ),
        "sibling": (
            ("pod.yml", 'env:\n- name: DB_PASSWORD\n  value: "§"\n'),
            ("a.json", '[{"key":"DB_PASSWORD","value":"§"}]\n'),
            ("a.tf", 'variable "db_password" {\n  type = string\n  default = "§"\n}\n'),
            ("users.csv", "user,password,age\nann,§,30\n"),
            ("a.md", "| user | password |\n|---|---|\n| ann | § |\n"),
            ("a.py", 'PASSWORDS = {"root": "§"}\n'),
            ("a.yml", "kind: List\nitems:\n- kind: Secret\n  data: {thing: §}\n"),
            ("a.json", '{"name":"API_SECRET","type":"string","value":"§"}\n'),
        ),
        "inside a string": (
            ("a.py", 'connect("host=h user=u password=§ dbname=d")\n'),
            ("a.sh", "curl -d 'user=a&password=§' https://example.com\n"),
            ("a.json", '{"title": "t password=§"}\n'),
            ("a.json", '{"cmd": ["redis-server","--requirepass","§"]}\n'),
            ("a.py", "# my password is: §\n"),
        ),
        "statement": (
            ("a.sql", "CREATE USER u WITH PASSWORD '§';\n"),
            ("a.sql", "ALTER USER u IDENTIFIED BY '§';\n"),
            ("a.ps1", 'ConvertTo-SecureString "§" -AsPlainText -Force\n'),
            ("a.py", 'smtp.login("me@example.com", "§")\n'),
            ("a.py", 'requests.get(url, auth=("user", "§"))\n'),
            ("a.sh", 'echo "§" | docker login -u me --password-stdin\n'),
            ("a.go", 'pw := "§"\n'),
        ),
        "form": (
            ("a.txt", "machine example.com login ann password §\n"),
            ("people.ldif", "dn: uid=ann\nuserPassword: §\n"),
            ("web.config", '<machineKey validationKey="§"/>\n'),
            ("a.http", "Cookie: theme=dark; session=§\n"),
            ("a.json", '{"Authorization": "Token §"}\n'),
        ),
        "other name": (
            ("a.yml", "пароль: §\n"),
            ("a.txt", "ｐａｓｓｗｏｒｄ＝§\n"),
            ("a.env.txt", "DB_PASS\u200bWORD=§\n"),
            ("a.yml", "密码：§\n"),
        ),
    },
    "held": {
        "separator": (
            ("a.h", 'static const char *k = API_TOKEN;\n#define API_TOKEN  "§"\n'),
            ("a.rs", 'let api_key = "§".to_string();\nlet secret_key: String = String::new();\n'),
            ("a.kt", 'val password = StringBuilder("§").toString()\n'),
            ("a.go", 'var password = []byte("§")\n'),
            ("a.js", "const password =\n  '§';\n"),
            ("a.yml", "secret_key: |\n    §\n"),
            ("a.yml", "token: &tok §\n"),
            ("a.yml", "client_secret: !!str §\n"),
            ("pom.xml", "<passphrase>\n  §\n</passphrase>\n"),
            ("a.plist", "<key>api_key</key>\n\t<string>§</string>\n"),
            ("a.config", '<setting name="Password" serializeAs="String">\n  <value>§</value>\n</setting>\n'),
            ("a.clj", '(def db-password "§")\n'),
            ("a.erl", '-define(SECRET, "§").\n'),
            ("a.tcl", 'set dbpassword "§"\n'),
            ("a.applescript", 'set thePassword to "§"\n'),
            ("a.fish", "set -gx API_TOKEN §\n"),
            ("a.csh", "setenv DB_PASSWORD §\n"),
            ("Dockerfile", "FROM debian\nARG NPM_TOKEN=§\n"),
            ("a.mk", "export DB_PASSWORD := §\n"),
            ("a.ts", "const t = process.env.AUTH_TOKEN ?? '§';\n"),
            ("a.py", 'p = os.environ.get("DB_PASSWORD") or "§"\n'),
            ("a.php", "$p = getenv('DB_PASSWORD') ?: '§';\n"),
            ("compose.yml", "environment:\n  PASSWORD: ${DB_PASSWORD:-§}\n"),
            ("a.py", '@click.option("--api-key", envvar="K", default="§", help="The key.")\n'),
            ("a.sh", 'mysql_password <<< "§"\n'),
            ("a.js", 'const password = "" + "§";\n'),
            ("a.lua", "local password = [[§]]\n"),
            ("a.swift", 'let password: String? = "§"\n'),
            ("a.hs", 'password :: String\npassword = "§"\n'),
            ("a.pas", "const Password: string = '§';\n"),
            ("a.R", 'password <- c("§")\n'),
            ("a.rb", "PASSWORD = '§'.freeze\n"),
            ("a.scala", 'val dbPassword: Option[String] = Some("§")\n'),
            ("a.lisp", '(defparameter *password* "§")\n'),
            ("a.bat", "setx DB_PASSWORD §\n"),
        ),
        "sibling": (
            ("task.json", '{"environment": [\n  {\n    "name": "DB_PASSWORD",\n    "value": "§"\n  }\n]}\n'),
            ("a.yml", "- key: api_secret\n  type: text\n  value: §\n"),
            ("a.json", '{"Key": "AUTH_TOKEN", "Value": "§"}\n'),
            ("a.json", '{"value": "§", "name": "DB_PASSWORD"}\n'),
            ("stack.yml", "Parameters:\n  DBPassword:\n    Type: String\n    Default: §\n"),
            ("a.tf", 'variable "api_token" {\n  description = "Token of the API"\n  default     = "§"\n}\n'),
            ("keys.tsv", "service\tapi_key\nmail\t§\n"),
            ("users.csv", '"name","password"\n"ann","x1"\n"bob","§"\n'),
            ("a.md", "Logins:\n\n| host | user | passwd |\n| --- | --- | --- |\n| a | ann | `§` |\n"),
            ("a.yml", "passwords:\n  root: §\n"),
            ("a.js", "const tokens = ['§'];\n"),
            ("a.yml", "apiVersion: v1\nitems:\n- apiVersion: v1\n  data:\n    thing: §\n  kind: Secret\n"),
        ),
        "inside a string": (
            ("A.java", 'run("--user=app --password=§ --verbose");\n'),
            ("a.js", "fetch('/login?user=a&password=§');\n"),
            ("a.cs", 'var c = "Server=h;Database=d;User=u;Password=§";\n'),
            ("a.ipynb", '{"cells": [{"outputs": [{"text": ["DB_PASSWORD=§\\n"]}]}]}\n'),
            ("a.json", '{"body": "Hello, the api_key=§ does not work"}\n'),
            ("a.json", '{"comment": "my password is: §"}\n'),
            ("a.yml", 'command: ["app", "--auth-token", "§"]\n'),
            ("a.go", 'dsn := "host=h password=§ sslmode=disable"\n'),
        ),
        "statement": (
            ("a.sql", "CREATE LOGIN app WITH PASSWORD = '§';\n"),
            ("a.sql", "SET PASSWORD FOR u = PASSWORD('§');\n"),
            ("a.py", "db.execute(\"ALTER ROLE app PASSWORD '§'\")\n"),
            ("a.sql", "GRANT ALL ON d.* TO u IDENTIFIED WITH mysql_native_password BY '§';\n"),
            ("a.cs", 'new NetworkCredential("user", "§");\n'),
            ("a.php", "$db = mysqli_connect('h', 'u', '§', 'd');\n"),
            ("a.py", 'HTTPBasicAuth("user", "§")\n'),
            ("a.go", 'req.SetBasicAuth("user", "§")\n'),
            ("a.js", "jwt.sign(payload, '§', { expiresIn: 60 });\n"),
            ("a.py", 'jwt.encode(payload, "§", algorithm="HS256")\n'),
            ("a.sh", "echo '§' | sudo -S apt-get update\n"),
            ("a.py", 'pwd = "§"\n'),
        ),
        "form": (
            ("_netrc.bak", "machine example.com\n  login ann\n  password §\n"),
            ("a.ldif", "dn: uid=ann\nuserPassword:: §\n"),
            ("web.config", '<machineKey decryption="AES" decryptionKey="§"/>\n'),
            ("jwk.json", '{"kty": "OKP", "crv": "Ed25519", "x": "abc", "d": "§"}\n'),
            ("a.py", 'h = {"Cookie": "sessionid=§"}\n'),
            ("a.js", 'h["Authorization"] = "Bearer §";\n'),
            ("a.js", "const u = 'https://discord.com/api/webhooks/112233445566778899/§';\n"),
            ("a.md", "https://acc.blob.core.windows.net/c/f?sv=2022-11-02&sp=r&sig=§\n"),
            ("a.txt", "https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature=§\n"),
        ),
        "other name": (
            ("a.yml", "Пароль: §\n"),
            ("a.txt", "密碼: §\n"),
            ("a.yml", "パスワード: §\n"),
            ("a.yml", "비밀번호: §\n"),
            ("a.yml", "contraseña: §\n"),
            ("a.ini", "kennwort = §\n"),
            ("a.yml", "mot_de_passe: §\n"),
            ("a.yml", "senha: §\n"),
            ("a.yml", "Ｐａｓｓｗｏｒｄ： §\n"),
            ("a.yml", "pass\u00adword: §\n"),
            ("a.json", '{"ｓｅｃｒｅｔ＿ｋｅｙ": "§"}\n'),
        ),
    },
    "others": {
        "option": (
            ("a.sh", "docker login -u bob -p § registry.example.com\n"),
            ("a.sh", "redis-cli -h db -a § ping\n"),
            ("a.sh", "htpasswd -b users bob §\n"),
            ("a.sh", "openssl enc -aes-256-cbc -k § -in a\n"),
            ("a.sh", "openssl req -passout pass:§ -new\n"),
            ("a.sh", "zip -P § a.zip a\n"),
            ("a.sh", "7z a -p§ a.7z a\n"),
            ("a.sh", "curl -sSu bob:§ https://example.com\n"),
        ),
        "line": (
            ("ldap.conf", "bindpw §\n"),
            ("ks.cfg", "rootpw --plaintext §\n"),
            ("sssd.conf", "ldap_default_authtok = §\n"),
            ("ipsec.conf", '10.0.0.1 : PSK "§"\n'),
            ("haproxy.cfg", "user bob insecure-password §\n"),
            ("snmpd.conf", 'createUser bob SHA "§" AES\n'),
            ("preseed.cfg", "d-i passwd/user-password password §\n"),
            ("logins.txt", "db.internal:5432:main:app:§\n"),
            ("relay.txt", "[smtp.example.com]:587 bob:§\n"),
            ("app.xcconfig", "API_TOKEN = §\n"),
            ("pillar.sls", "mysql_root_pass: §\n"),
        ),
        "text": (
            ("a.py", "# the old password: §\n"),
            ("a.tf", "password = <<EOF\n§\nEOF\n"),
            ("a.xml", '<Pass encoding="plain">§</Pass>\n'),
            ("a.sql", "INSERT INTO users (id, name, password) VALUES (1, 'O''Neil (x)', '§');\n"),
            ("a.py", "q = \"insert into users (password, n) values ('§', 1), ('none', 2)\"\n"),
        ),
        "other name": (
            ("nl.txt", "wachtwoord: §\n"),
            ("es.ini", "clave=§\n"),
            ("it.txt", "parola d'accesso\nparola: §\n"),
            ("no.yml", "passord: §\n"),
            ("cs.ini", "heslo=§\n"),
        ),
    },
}
"""By part and kind."""


def _mixed_words(rng: Random) -> str:
    return f"{rng.choice(_LETTERS).upper()}{mixed(rng, _LETTERS + _DIGITS, 6)}-{mixed(rng, _LETTERS + _DIGITS, 8)}"


VALUES = {
    "letters and !": lambda rng: f"{of(rng, _LETTERS, 9)}!{of(rng, _LETTERS, 8)}",
    "letters and -": lambda rng: f"{of(rng, _LETTERS, 9)}-{of(rng, _LETTERS, 9)}",
    "alphanumeric": lambda rng: mixed(rng, _LETTERS + _DIGITS, 20),
    "hex": lambda rng: of(rng, _HEX, 32),
    "uuid": uuid,
    "base64": lambda rng: b64(rng, 24),
    "two parts": _mixed_words,
}
"""Values whose form tells no service."""


def with_dollar(rng: Random) -> str:
    """A value that shells, but few other files, take apart."""
    return f"{mixed(rng, _LETTERS + _DIGITS, 7)}${rng.choice(_DIGITS)}{of(rng, _LETTERS, 6)}"


_ENCODED = ("kind: Secret", "userPassword::", "sig=", '"kty"', "X-Amz-Signature", "webhooks/", "essionid=", "session=")
"""Places that hold encoded bytes or tokens only."""


def planted_forms(part: str, rng: Random) -> Iterator[tuple[str, str, str, str]]:
    """Yield kind, path, text and value: each row with two kinds of values."""
    for kind, rows in FORMS[part].items():
        for path, template in rows:
            plain = any(it in template for it in _ENCODED)
            makes = ["alphanumeric", "hex"] if plain else rng.sample(list(VALUES), 2)
            for make in makes:
                value = b64(rng, 32) if "X-Amz" not in template and plain and make == "hex" else VALUES[make](rng)
                yield kind, path, template.replace(VALUE, value), value


def innocent_forms() -> Iterator[tuple[str, str]]:
    """Yield lines of the same notations without a secret, each as a file of its own."""
    rng = Random(11)
    digest = of(rng, _HEX, 64)
    rows = (
        ("a.py", "password = get_password()\n"),
        ("a.ts", "passwordField: string\n"),
        ("a.ts", "  private readonly password: string | undefined = undefined;\n"),
        (
            "a.yml",
            "env:\n- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db-credentials\n      key: pw\n",
        ),
        ("a.json", '{"password": {"type": "string", "description": "The password of the user"}}\n'),
        ("a.yml", "password:\n  type: string\n  format: password\n  description: The password of the user\n"),
        ("ci.yml", "token: ${{ secrets.GITHUB_TOKEN }}\n"),
        ("ci.yml", "with:\n  token: ${{ github.token }}\n  password: ${{ secrets.PYPI }}\n"),
        ("de.json", '{"password": "Passwort eingeben", "passwordHint": "Mindestens 8 Zeichen"}\n'),
        ("de.yml", "password: Passwort eingeben\npassword_again: Passwort wiederholen\n"),
        ("de.yml", "password: Passwort\nforgot_password: Passwort vergessen?\n"),
        ("fr.yml", "mot_de_passe: Saisissez-le\n"),
        ("ru.yml", "пароль: Введите пароль\n"),
        ("a_test.py", 'client.login("alice", "secret")\n'),
        ("a_test.py", 'client.login(username="bob", password="password123")\n'),
        ("a_test.go", 'pw := "test-password"\n'),
        ("a_test.js", "const password = 'wrong-password';\n"),
        ("a_test.js", "const token = 'invalid-token';\nconst secret = 'top-secret';\n"),
        ("a.txt", f"sha256: {digest}\n"),
        ("a.json", f'{{"name": "left-pad", "hash": "{digest[:40]}"}}\n'),
        ("a.json", f'{{"id": "{uuid(rng)}", "name": "Reset of passwords"}}\n'),
        ("a.tf", f'resource "x" "secret" {{\n  id = "{uuid(rng)}"\n}}\n'),
        ("policy.csv", "policy,password_length,password_history\ndefault,min-12,last-5\nadmins,min-16,last-10\n"),
        ("policy.csv", "rule,password policy\nlength,at-least-12\ncase,mixed-case\n"),
        ("a.md", "| setting | password |\n|---|---|\n| default | none |\n| minimum | 8-characters |\n"),
        (
            "a.tf",
            'variable "db_password" {\n  type        = string\n  description = "Of db"\n  sensitive = true\n}\n',
        ),
        ("a.tf", 'variable "token_ttl" {\n  default = "768h0m0s"\n}\n'),
        ("a.py", 'parser.add_argument("--password", help="The password, at least 8 characters", default=None)\n'),
        ("a.py", 'parser.add_argument("--token-file", default="~/.config/app-1/token")\n'),
        ("a.js", 'const p = process.env.DB_PASSWORD || "";\n'),
        ("a.rb", 'ENV.fetch("SECRET_KEY") { raise "SECRET_KEY missing" }\n'),
        ("A.java", '@Value("${db.password}") String p;\n'),
        ("compose.yml", "PASSWORD: ${DB_PASSWORD:?not set}\n"),
        ("Dockerfile", "ARG TOKEN\nENV DB_PASSWORD_FILE /run/secrets/db-1\n"),
        ("a.sh", 'read -s -p "Password: " password\nexport PASSWORD\n'),
        ("a.sh", 'echo "$TOKEN" | docker login -u me --password-stdin\n'),
        ("a.sql", "CREATE TABLE users (password VARCHAR(255) NOT NULL, token CHAR(64));\n"),
        ("a.sql", "SELECT password, token FROM users WHERE password = 'x' AND token = :token;\n"),
        ("a.sql", "ALTER USER u IDENTIFIED BY :password;\n"),
        ("a.cs", "public string Password { get; set; } = string.Empty;\n"),
        ("a.cs", 'public string Password { get; set; } = "";\n'),
        ("a.vb", "Dim password As String = txtPassword.Text\n"),
        ("a.kt", "val password = findViewById<EditText>(R.id.password1)\n"),
        ("a.xml", '<EditText android:id="@+id/password" android:hint="@string/prompt_password" />\n'),
        ("a.xml", '<string name="prompt_password">Password (min-8)</string>\n'),
        (
            "a.html",
            '<label for="password">Password</label><input type="password" id="password" class="form-control-1">\n',
        ),
        ("a.py", 'tokens = ["NAME", "NUMBER", "OP-1", "left-paren"]\n'),
        ("a.py", 'SECRETS = {"db": "DB_PASSWORD", "api": "API_KEY"}\n'),
        ("a.py", 'password_widgets = {"class": "form-control", "size": "col-md-6"}\n'),
        ("a.yml", "secrets:\n  - db-password\n  - source: api-key-v2\n    target: api_key\n"),
        ("a.yml", "secrets:\n  db:\n    file: ./secrets/db.txt\n  api:\n    external: true\n"),
        ("a.go", 'password := r.FormValue("password")\n'),
        ("a.rs", 'let password = env::var("DB_PASSWORD").expect("DB_PASSWORD not set");\n'),
        ("a.rs", 'let token = Token::new(TokenKind::Ident, "foo_1");\n'),
        ("a.py", 'raise ValueError("password must-not be empty1")\n'),
        ("a.py", '"""Use password-based encryption; the token is base64-encoded and the secret is per-user."""\n'),
        ("a.md", "The password is case-sensitive. The token is short-lived and the secret is auto-generated.\n"),
        ("a.md", "Password: at-least 8 characters. Token: see `get_token()`.\n"),
        ("a.http", "Cookie: theme=dark; lang=en-GB\n"),
        ("a.json", '{"kty": "RSA", "n": "' + b64(rng, 64).replace("+", "-").replace("/", "_") + '", "e": "AQAB"}\n'),
        ("a.json", '{"Authorization": "Bearer <token>"}\n'),
        ("a.txt", "machine readable login form password field\n"),
        ("a.ldif", "dn: uid=ann\ncn: Ann\nuserPassword: {{ password }}\n"),
        ("a.el", '(setq password-cache-expiry 3600)\n(setq auth-source-save-behavior "never-ask")\n'),
        ("a.h", '#define PASSWORD_PROMPT "Password: "\n#define TOKEN_LEFT_PAREN "left-paren"\n'),
        ("a.erl", '-define(SECRET_TAG, "secret-tag").\n'),
        ("a.swift", "let passwordField: UITextField = UITextField()\n"),
        ("a.py", 'url = "/users/reset-password?next=/home&token=%s" % token\n'),
        ("a.js", "fetch(`/login?user=${user}&password=${password}`);\n"),
        ("a.py", 'connect("host=h user=u password=%(password)s dbname=d")\n'),
        ("a.py", 'dsn = f"host={h} user={u} password={pw1} dbname=d"\n'),
        ("a.sh", "PASSWORD=$(openssl rand -hex 16)\nTOKEN=`cat /run/token`\n"),
        ("a.js", "const tokens = text.split('-');\nconst secret = crypto.randomBytes(32).toString('hex');\n"),
        ("a.yml", "password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n"),
        ("a.py", 'password = f"app-$userName"\ntoken = "Bearer-$TOKEN_2"\n'),
        ("a.kt", 'val password = "prefix1-$userName"\nval url = "x-1-$host2"\n'),
        ("a.sh", "docker login -u me -p $TOKEN\nlogin -p preserve-environment\nredis-cli -a $REDIS_1\n"),
        ("a.sql", "INSERT INTO users (name, password) VALUES (:name, :password), ('a-1', 'changeme'), (?, $2);\n"),
        ("a.py", "# the password: at-least-8 characters\n# token: the next-token, type: str\n"),
        ("a.ts", "  // password: string1, and token: getToken(1)\n"),
        ("es.yml", "clave: valor-1\nenclave_id: vpc-12ab34\n"),
        ("a.tf", "password = <<EOF\n${var.password}\nEOF\n"),
        ("package.json", '{"mongo": "docker run --rm -p 27017:27017 mongo", "pg": "docker run -p 5432:5432 pg15"}\n'),
        (
            "a.md",
            "The password for OAuth2Client is hashed with PBKDF2WithHmacSHA256, or v2-client3's.\n",
        ),
        ("a.txt", "RECORD of pkg/connector/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n"),
        ("a.rst", "arn:aws:apprunner:us-east-1:1:connection/my-github-connection/e7656250f67242d7819feade6800f59e\n"),
        ("a.py", "pipe = git.open('fast-import', '--date-format=rfc2822', '--quiet')\n"),
        (
            "a.js",
            "const db = new Sequelize(process.env.DB, process.env.USER, process.env.PASSWORD1, {dialect: 'mysql2'});\n",
        ),
        ("A.java", 'Connection c = DriverManager.getConnection("jdbc:h2:mem:test1", user, password);\n'),
        ("a.go", 'db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s:3306)/shop", user, password, host1))\n'),
        ("users.acl", "user default on nopass ~* +@all\nuser old off resetpass -@all\n"),
        ("passwd.txt", "root:x:0:0:root:/root:/bin/bash\nann:x:1001:1001::/home/ann:/bin/bash\n"),
        ("a.sh", 'echo "root:$ROOT_PASSWORD" | chpasswd\nldapsearch -x -w "$LDAP_PW"\nsqlplus /nolog @a.sql\n'),
        ("a.sh", "net use Z: \\\\nas\\share /persistent:yes\nxfreerdp /v:host /p:$PASSWORD\nhttp -a me: https://a.b\n"),
        (
            "a.xml",
            "<Password>\n  <Value>%ADMIN_PASSWORD%</Value>\n</Password>\n<password><clear>${pw}</clear></password>\n",
        ),
        ("a.log", "GET /login?data=%7B%22password%22%3A%22%3Credacted%3E%22%7D HTTP/1.1\n"),
        ("r.conf", "enable secret level 15\nneighbor 10.0.0.2 remote-as 65001\nsnmp-server community RO\n"),
        ("a.yml", "password: *default-password\ntoken: &anchor\n  kind: jwt-token\n"),
    )
    yield from ((f"{number}/{path}", text) for number, (path, text) in enumerate(rows))
