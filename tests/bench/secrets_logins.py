"""Planted secrets in logins: positional ones, options of programs, lists of users, nested and encoded ones, prose.

Written in November 2026 before any rule for them, then dealt into two halves: "logins", on which rules may be tuned,
and "logins held", whose misses nobody has read. Each row is a path and a text with "§" for the value.
"""

from collections.abc import Callable, Iterator
from random import Random

from secrets_values import b64, mixed, of

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_HEX = "0123456789abcdef"

Make = Callable[[Random], str]

_CHOSEN: dict[str, Make] = {
    "alphanumeric": lambda rng: mixed(rng, _LETTERS + _DIGITS, 14),
    "with a mark": lambda rng: f"{mixed(rng, _LETTERS + _DIGITS, 8)}{rng.choice('!_-+.')}{of(rng, _LETTERS, 6)}",
    "word and number": lambda rng: (
        f"{rng.choice('BDFGKLMNPRT')}{of(rng, 'aeiou', 1)}{of(rng, 'bdfgklmnprt', 2)}"
        f"{of(rng, 'aeiou', 1)}{of(rng, 'nrstl', 1)}{of(rng, _DIGITS, 4)}!"
    ),
    "hex": lambda rng: of(rng, _HEX, 24),
}
"""Passwords as people and generators make them."""
_SPECIAL: dict[str, Make] = {
    "key": lambda rng: b64(rng, 32),
    "hex key": lambda rng: of(rng, _HEX, 64),
    "line": lambda rng: b64(rng, 48),
}

ROWS: dict[str, tuple[tuple[str, str], ...]] = {
    "constructor": (
        ("a.js", 'const db = new Sequelize("shop", "app", "§", { dialect: "mysql" });\n'),
        ("a.ts", "export const db = new Sequelize('shop', process.env.DB_USER, '§');\n"),
        ("A.java", 'Connection c = DriverManager.getConnection("jdbc:mysql://h/shop", "root", "§");\n'),
        ("a.php", '$pdo = new PDO("mysql:host=h;dbname=shop", "root", "§");\n'),
        ("a.php", "$db = new PDO($dsn, 'app', '§', $options);\n"),
        ("a.php", '$m = new mysqli("localhost", "root", "§", "shop");\n'),
        ("a.scala", 'val db = Database.forURL("jdbc:h2:mem:x", "sa", "§")\n'),
        ("A.java", 'Jdbi j = Jdbi.create("jdbc:postgresql://h/db", "app", "§");\n'),
        ("a.groovy", 'def sql = Sql.newInstance("jdbc:h2:mem:x", "sa", "§", "org.h2.Driver")\n'),
        ("A.java", 'JedisPool pool = new JedisPool(config, "h", 6379, 2000, "§");\n'),
        ("a.cs", 'using var sftp = new SftpClient("h", 22, "me", "§");\n'),
        ("a.cs", 'var ssh = new SshClient("10.0.0.1", "me", "§");\n'),
        ("a.py", 'ftp = ftplib.FTP("ftp.shop.com", "me", "§")\n'),
        ("a.rs", 'let c = Credentials::new("me".to_string(), "§".to_string());\n'),
        ("a.php", 'ldap_bind($c, "cn=app,dc=shop", "§");\n'),
        ("a.php", "$box = imap_open('{mail.shop.com:993}INBOX', 'me', '§');\n"),
        ("a.py", 'conn.simple_bind_s("cn=app,dc=shop", "§")\n'),
        ("a.js", 'const t = require("twilio")("AC5ef8732a3c49700934481addd5ce1659", "§");\n'),
        ("a.js", 'const driver = neo4j.driver(url, neo4j.auth.basic("neo4j", "§"));\n'),
        ("A.java", 'driver = GraphDatabase.driver(uri, AuthTokens.basic("neo4j", "§"));\n'),
        ("a.js", 'redis.auth("§");\n'),
        ("a.py", 'r.execute_command("AUTH", "app", "§")\n'),
        ("a.go", 'db, err := sql.Open("mysql", "root:§@tcp(db.shop.com:3306)/shop")\n'),
        ("A.java", 'mailer.connect("smtp.shop.com", 587, "me", "§");\n'),
    ),
    "oracle": (
        ("a.sql", "CONNECT scott/§@orcl\n"),
        ("a.sql", "conn system/§@//db.shop.com:1521/XE as sysdba\n"),
        ("a.sh", "sqlplus scott/§@orcl @schema.sql\n"),
        ("a.sh", 'sqlplus -s "system/§@XE" <<EOF\nselect 1 from dual;\nEOF\n'),
        ("a.sh", "sqlldr userid=scott/§@orcl control=a.ctl\n"),
        ("a.bat", "expdp system/§ full=y dumpfile=a.dmp\n"),
        ("a.sh", "rman target sys/§@prod\n"),
        ("a.py", 'conn = cx_Oracle.connect("scott/§@db.shop.com/orcl")\n'),
        ("A.java", 'String url = "jdbc:oracle:thin:scott/§@db.shop.com:1521:orcl";\n'),
        ("a.properties", "url=jdbc:oracle:thin:app/§@//db.shop.com:1521/orcl\n"),
    ),
    "redis": (
        ("redis.conf", "user worker on >§ ~cached:* +@all\n"),
        ("redis.conf", "requirepass §\n"),
        ("redis.conf", "masterauth §\n"),
        ("sentinel.conf", "sentinel auth-pass mymaster §\n"),
        ("a.sh", "redis-cli ACL SETUSER worker on '>§' allkeys +@read\n"),
        ("users.acl", "user app on sanitize-payload >§ ~* &* +@all\n"),
        ("a.redis", "ACL SETUSER worker reset on >§ ~jobs:*\n"),
        ("a.py", 'r.acl_setuser("w", enabled=True, passwords=["+§"])\n'),
    ),
    "list of users": (
        ("a.sh", 'echo "root:§" | chpasswd\n'),
        ("a.sh", "printf 'deploy:§\\n' | sudo chpasswd\n"),
        ("a.sh", "chpasswd <<EOF\nroot:§\nEOF\n"),
        ("Dockerfile", "FROM debian\nRUN echo 'dev:§' | chpasswd && apt-get update\n"),
        ("user-data.yml", "#cloud-config\nchpasswd:\n  list: |\n    root:§\n  expire: false\n"),
        ("user-data.yml", "chpasswd:\n  expire: false\n  list:\n    - ubuntu:§\n"),
        ("a.sh", "echo '§' | passwd --stdin deploy\n"),
        ("a.bat", "net user deploy § /add\n"),
        ("a.sh", "newusers <<END\nann:§:1001:1001::/home/ann:/bin/bash\nEND\n"),
        ("a.sh", 'useradd -m -p "§" deploy\n'),
    ),
    "program": (
        ("a.sh", "ldapsearch -x -D cn=admin,dc=shop -w § -b dc=shop\n"),
        ("a.sh", "mongodump -u backup -p '§' --out /b\n"),
        ("a.sh", "sqlcmd -S db -U sa -P § -Q 'select 1'\n"),
        ("a.sh", "smbclient //nas/share -U me%§\n"),
        ("a.sh", "lftp -u me,§ ftp.shop.com\n"),
        ("a.sh", "ipmitool -H 10.0.0.9 -U admin -P § power on\n"),
        ("a.sh", "mosquitto_pub -h mq -u app -P § -t t -m x\n"),
        ("a.sh", "http -a me:§ https://api.shop.com/v1\n"),
        ("a.bat", "net use Z: \\\\nas\\share § /user:me\n"),
        ("a.bat", "xfreerdp /v:10.0.0.5 /u:me /p:§ /cert:ignore\n"),
        ("a.sh", "wpa_passphrase Office §\n"),
        ("a.sh", "ssh-keygen -t ed25519 -N '§' -f id\n"),
        ("a.exp", 'spawn ssh me@h\nexpect "assword:"\nsend "§\\r"\n'),
        ("a.sh", "keytool -genkey -storepass § -keypass other\n"),
        ("a.sh", "erl -sname a -setcookie §\n"),
        ("a.sh", "lftp -e 'open -u me,§ ftp.shop.com; mirror'\n"),
    ),
    "nested": (
        ("unattend.xml", "<AutoLogon>\n<Password>\n  <Value>§</Value>\n  <PlainText>true</PlainText>\n</Password>\n"),
        ("unattend.xml", "<AdministratorPassword><Value>§</Value></AdministratorPassword>\n"),
        ("beans.xml", '<property name="password">\n  <value>§</value>\n</property>\n'),
        ("a.config", '<setting name="ApiPassword" serializeAs="String">\n  <value>§</value>\n</setting>\n'),
        ("web.xml", "<param-name>password</param-name>\n<param-value>§</param-value>\n"),
        ("a.xml", "<entry>\n  <key>db.password</key>\n  <value>§</value>\n</entry>\n"),
        ("a.xml", '<void property="password">\n <string>§</string>\n</void>\n'),
        ("a.xml", "<password>\n  <clear>§</clear>\n</password>\n"),
        ("a.json", '{"password": {"value": "§"}}\n'),
        ("a.json", '{"dbPassword": {"type": "plain", "content": "§"}}\n'),
        ("a.yml", "password:\n  value: §\n"),
        ("a.toml", "[password]\nvalue = '§'\n"),
    ),
    "encoded": (
        ("a.sh", "curl -d 'payload=%7B%22user%22%3A%22a%22%2C%22password%22%3A%22§%22%7D' https://x.shop.com\n"),
        ("a.log", "GET /login?data=%7B%22password%22%3A%22§%22%7D HTTP/1.1\n"),
        ("a.html", "<div data-config='{&quot;password&quot;:&quot;§&quot;}'></div>\n"),
        ("a.html", '<div data-x="{&#34;password&#34;:&#34;§&#34;}"></div>\n'),
        ("a.json", '{"body": "{\\"user\\":\\"a\\",\\"password\\":\\"§\\"}"}\n'),
        ("a.json", '{"raw": "{\\\\\\"password\\\\\\":\\\\\\"§\\\\\\"}"}\n'),
        ("a.js", "const s = '{\\u0022password\\u0022:\\u0022§\\u0022}';\n"),
        ("a.log", "POST /cb redirect=https%3A%2F%2Fx%2F%3Fuser%3Da%26password%3D§%26x%3D1\n"),
    ),
    "prose": (
        ("a.md", "Log in as admin with the password `§` and change it.\n"),
        ("a.md", "- **Username:** admin\n- **Password:** §\n"),
        ("a.md", "Staging credentials: `admin` / `§`\n"),
        ("a.txt", "Login: admin / §\n"),
        ("a.txt", "user admin, pw §\n"),
        ("a.md", "Credentials: admin:§\n"),
        ("a.txt", "the root password of db01 has been changed to § last week\n"),
        ("a.md", "Zugang: admin, Passwort lautet §\n"),
        ("a.md", "Default login is `root` and `§`.\n"),
        ("a.txt", "wifi guest, pass - §\n"),
    ),
    "machine": (
        ("r.conf", "snmp-server community § RO\n"),
        ("r.conf", "username admin privilege 15 password 7 §\n"),
        ("r.conf", "neighbor 10.0.0.2 password §\n"),
        ("r.rsc", "/ppp secret add name=ann password=§ profile=vpn\n"),
        ("rabbitmq.conf", "default_user = app\ndefault_pass = §\n"),
        ("advanced.config", '[{rabbit, [{default_pass, <<"§">>}]}].\n'),
        ("hosts.ini", "db1 ansible_host=10.0.0.3 ansible_ssh_pass=§\n"),
        ("a.yml", "ansible_become_pass: §\n"),
    ),
}
"""Rows whose values people choose."""

SPECIAL_ROWS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "special": (
        (
            "line",
            "keys.txt",
            (
                "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nComment: me\nPublic-Lines: 1\n"
                "AAAAB3NzaC1yc2E=\nPrivate-Lines: 1\n§\nPrivate-MAC: 0b1c\n"
            ),
        ),
        (
            "line",
            "a.py",
            (
                'PPK = """PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: me\nPublic-Lines: 1\n'
                'AAAAC3NzaC1lZDI=\nPrivate-Lines: 1\n§\nPrivate-MAC: 0b1c\n"""\n'
            ),
        ),
        (
            "line",
            "a.js",
            (
                "const ppk = 'PuTTY-User-Key-File-2: ssh-rsa\\r\\nEncryption: none\\r\\nComment: me\\r\\n"
                "Public-Lines: 1\\r\\nAAAAB3Nz\\r\\nPrivate-Lines: 1\\r\\n§\\r\\nPrivate-MAC: 0b1c';\n"
            ),
        ),
        (
            "line",
            "a.yml",
            (
                "key: |\n  PuTTY-User-Key-File-2: ssh-rsa\n  Encryption: none\n  Public-Lines: 1\n"
                "  AAAAB3NzaC1yc2E=\n  Private-Lines: 1\n  §\n  Private-MAC: 0b1c\n"
            ),
        ),
        ("hex key", "users.acl", "user app on #§ ~* +@all\n"),
        ("hex key", "hardhat.config.js", 'module.exports = { networks: { main: { accounts: ["0x§"] } } };\n'),
        ("hex key", "a.ts", 'const wallet = new ethers.Wallet("0x§", provider);\n'),
        ("hex key", "a.py", 'account = web3.eth.account.from_key("0x§")\n'),
        ("hex key", "a.txt", "-----BEGIN OpenVPN Static key V1-----\n§\n-----END OpenVPN Static key V1-----\n"),
        ("key", "wg0.conf", "[Interface]\nPrivateKey = §\n"),
        ("key", "wg0.conf", "[Peer]\nPresharedKey = §\n"),
        ("key", "a.env", "APP_KEY=base64:§\n"),
        ("key", "a.sh", "wg set wg0 private-key <(echo §)\n"),
        ("key", "a.yml", "cluster:\n  join: SWMTKN-1-3pu6hszjas19xyp7ghgosyx9k8atbfcr8p2is99znpy26u2lkl-§\n"),
    ),
}
"""Rows whose values are keys of a form."""


def logins(half: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield kind, path, text and value of one half, each row with two values.

    Parameters:
        half: "logins" or "logins held".
    """
    rng = Random(2026)
    for kind, rows in ROWS.items():
        dealt = rng.sample(rows, len(rows))
        for number, (path, template) in enumerate(dealt):
            values = [_CHOSEN[make](rng) for make in rng.sample(list(_CHOSEN), 2)]
            if (number % 2 == 0) == (half == "logins"):
                yield from ((kind, path, template.replace("§", value), value) for value in values)
    for kind, special in SPECIAL_ROWS.items():
        dealt_special = rng.sample(special, len(special))
        for number, (make, path, template) in enumerate(dealt_special):
            values = [_SPECIAL[make](rng) for _ in range(2)]
            if (number % 2 == 0) == (half == "logins"):
                yield from ((kind, path, template.replace("§", value), value) for value in values)
