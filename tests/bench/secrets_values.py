"""Values of secrets in the form that their services give them, of random characters: none opens anything."""

import base64
import json
import string
from collections.abc import Callable
from random import Random

_B62 = string.ascii_letters + string.digits
_B64 = _B62 + "+/"
_URL = _B62 + "-_"
_HEX = "0123456789abcdef"
_LOWER = string.ascii_lowercase + string.digits
_UPPER = string.ascii_uppercase + string.digits
_PASSWORD = _B62 + "!#%*+-.^_~"
_WORDS = ("orchid", "falcon", "copper", "meadow", "violet", "thunder", "maple", "walnut", "harbor", "ginger")


def of(rng: Random, alphabet: str, length: int) -> str:
    """Random characters."""
    return "".join(rng.choices(alphabet, k=length))


def mixed(rng: Random, alphabet: str, length: int) -> str:
    """The same with a digit in it at least, as nearly every real one has."""
    value = of(rng, alphabet, length)
    return value if any(it.isdigit() for it in value) else mixed(rng, alphabet, length)


def password(rng: Random) -> str:
    """A password of the kinds that people and generators choose."""
    word = rng.choice(_WORDS)
    return rng.choice(
        (
            mixed(rng, _PASSWORD, rng.randint(12, 20)),
            mixed(rng, _B62, rng.randint(12, 24)),
            f"{word.capitalize()}{rng.choice('!#*')}{rng.randint(10, 9999)}",
            f"{word}-{rng.choice(_WORDS)}-{rng.randint(10, 99)}",
        )
    )


def b64(rng: Random, count: int) -> str:
    """Random bytes in base64."""
    return base64.b64encode(rng.randbytes(count)).decode()


def jwt(rng: Random) -> str:
    """A signed token."""
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": of(rng, "0123456789", 10), "iat": 1_700_000_000})
    encoded = [base64.urlsafe_b64encode(json.dumps(it).encode()).decode().rstrip("=") for it in parts]
    return ".".join([*encoded, of(rng, _URL, 43)])


def pem(rng: Random, label: str = "RSA PRIVATE KEY", lines: int = 12) -> str:
    """A private key, on lines."""
    body = "\n".join(of(rng, _B64, 64) for _ in range(lines))
    tail = of(rng, _B64, 38) + "=="
    return f"-----BEGIN {label}-----\n{body}\n{tail}\n-----END {label}-----"


def crypt(rng: Random) -> str:
    """A hashed password."""
    return rng.choice(
        (
            f"$2y$10${of(rng, _B62 + './', 53)}",
            f"$6${of(rng, _B62, 16)}${of(rng, _B62 + './', 86)}",
            f"$apr1${of(rng, _B62, 8)}${of(rng, _B62 + './', 22)}",
        )
    )


def uuid(rng: Random) -> str:
    """A random UUID."""
    return "-".join(of(rng, _HEX, count) for count in (8, 4, 4, 4, 12))


def _row(prefix: str, alphabet: str, length: int, suffix: str = "") -> Callable[[Random], str]:
    return lambda rng: prefix + mixed(rng, alphabet, length) + suffix


TOKENS: dict[str, Callable[[Random], str]] = {
    "aws id": _row("AKIA", string.ascii_uppercase + "234567", 16),
    "github classic": _row("ghp_", _B62, 36),
    "github app": _row("ghs_", _B62, 36),
    "github fine-grained": lambda rng: f"github_pat_{of(rng, _B62, 22)}_{of(rng, _B62, 59)}",
    "gitlab": _row("glpat-", _B62, 20),
    "slack bot": lambda rng: "-".join(("xoxb", of(rng, "123456789", 12), of(rng, "123456789", 13), of(rng, _B62, 24))),
    "slack webhook": lambda rng: (
        f"https://hooks.slack.com/services/T{of(rng, _UPPER, 10)}/B{of(rng, _UPPER, 10)}/{of(rng, _B62, 24)}"
    ),
    "stripe": _row("sk_live_", _B62, 24),
    "stripe restricted": _row("rk_live_", _B62, 99),
    "sendgrid": lambda rng: f"SG.{of(rng, _URL, 22)}.{of(rng, _URL, 43)}",
    "npm": _row("npm_", _B62, 36),
    "pypi": lambda rng: "pypi-AgEIcHlwaS5vcmc" + of(rng, _URL, 150),
    "openai": lambda rng: f"sk-proj-{of(rng, _URL, 74)}T3BlbkFJ{of(rng, _URL, 74)}",
    "anthropic": lambda rng: f"sk-ant-api03-{of(rng, _URL, 93)}AA",
    "hugging face": lambda rng: "hf_" + of(rng, string.ascii_letters, 34),
    "google api": _row("AIza", _URL, 35),
    "jwt": jwt,
    "telegram": lambda rng: f"{of(rng, '123456789', 10)}:AA{of(rng, _URL, 33)}",
    "shopify": _row("shpat_", _HEX, 32),
    "digitalocean": _row("dop_v1_", _HEX, 64),
    "mailgun": _row("key-", _HEX, 32),
    "new relic": _row("NRAK-", _UPPER, 27),
    "postman": lambda rng: f"PMAK-{of(rng, _HEX, 24)}-{of(rng, _HEX, 34)}",
    "vault": _row("hvs.", _URL, 95),
    "age": _row("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
}
"""Tokens that are told by their form."""

OTHER_TOKENS: dict[str, Callable[[Random], str]] = {
    "artifactory": _row("AKCp", _B62, 69),
    "bitbucket": _row("ATBB", _B62, 32),
    "cargo": _row("cio", _B62, 32),
    "contentful": _row("CFPAT-", _URL, 43),
    "elevenlabs": _row("sk_", _HEX, 48),
    "firecrawl": _row("fc-", _HEX, 32),
    "google access": _row("ya29.", _URL, 120),
    "jina": _row("jina_", _B62, 60),
    "mapbox": lambda rng: f"sk.eyJ{of(rng, _B62, 80)}.{of(rng, _B62, 22)}",
    "netlify": _row("nfp_", _B62, 36),
    "notion": _row("ntn_", _B62, 46),
    "notion before": _row("secret_", _B62, 43),
    "resend": lambda rng: f"re_{of(rng, _B62, 8)}_{mixed(rng, _B62, 24)}",
    "sentry": lambda rng: f"sntrys_eyJ{of(rng, _B62, 80)}_{of(rng, _B62, 43)}",
    "tailscale": lambda rng: f"tskey-auth-{mixed(rng, _B62, 12)}CNTRL-{of(rng, _B62, 32)}",
    "tavily": _row("tvly-dev-", _B62, 32),
    "vercel": lambda rng: f"vercel_blob_rw_{mixed(rng, _B62, 16)}_{of(rng, _B62, 30)}",
}
"""Further ones, of which a stranger's audit found none."""

HELD_TOKENS: dict[str, Callable[[Random], str]] = {
    "aws temporary id": _row("ASIA", string.ascii_uppercase + "234567", 16),
    "github oauth": _row("gho_", _B62, 36),
    "github refresh": _row("ghr_", _B62, 36),
    "gitlab runner": _row("glrt-", _B62, 20),
    "slack user": lambda rng: "-".join(
        ("xoxp", of(rng, "123456789", 12), of(rng, "123456789", 12), of(rng, "123456789", 12), of(rng, _HEX, 32))
    ),
    "slack app": lambda rng: f"xapp-1-A{of(rng, _UPPER, 10)}-{of(rng, '123456789', 13)}-{of(rng, _HEX, 64)}",
    "stripe webhook": _row("whsec_", _B62, 32),
    "google oauth": _row("GOCSPX-", _URL, 28),
    "groq": _row("gsk_", _B62, 52),
    "databricks": _row("dapi", _HEX, 32),
    "linear": _row("lin_api_", _B62, 40),
    "grafana": lambda rng: f"glsa_{of(rng, _B62, 32)}_{of(rng, _HEX, 8)}",
    "figma": _row("figd_", _URL, 40),
    "airtable": lambda rng: f"pat{of(rng, _B62, 14)}.{of(rng, _HEX, 64)}",
    "supabase": _row("sbp_", _HEX, 40),
    "doppler": _row("dp.pt.", _B62, 43),
    "planetscale": _row("pscale_pw_", _URL, 43),
    "terraform": lambda rng: f"{of(rng, _B62, 14)}.atlasv1.{of(rng, _URL, 67)}",
    "square": _row("sq0atp-", _URL, 22),
    "mailchimp": _row("", _HEX, 32, "-us12"),
    "atlassian": lambda rng: f"ATATT3xFfGF0{of(rng, _URL, 171)}={of(rng, _UPPER, 8)}",
    "jwt": jwt,
}
"""The same for the part that no rule is tuned on."""

NAMED: dict[str, tuple[tuple[str, ...], Callable[[Random], str]]] = {
    "aws secret": (("aws_secret_access_key", "AWS_SECRET_KEY"), _row("", _B64, 40)),
    "azure storage": (("AccountKey", "AZURE_STORAGE_KEY"), lambda rng: b64(rng, 64)),
    "azure client": (("client_secret", "AZURE_CLIENT_SECRET"), lambda rng: f"{of(rng, _B62, 3)}8Q~{of(rng, _URL, 34)}"),
    "twilio": (("TWILIO_AUTH_TOKEN", "twilio_auth_token"), _row("", _HEX, 32)),
    "voyage": (("VOYAGE_API_KEY", "voyage_api_key"), _row("pa-", _URL, 43)),
    "datadog": (("DD_API_KEY", "datadog_api_key"), _row("", _HEX, 32)),
    "heroku": (("HEROKU_API_KEY", "heroku_api_key"), uuid),
    "django": (("SECRET_KEY", "DJANGO_SECRET_KEY"), _row("", _LOWER + "!@#%^&*(-_=+)", 50)),
    "rails": (("secret_key_base", "SECRET_KEY_BASE"), _row("", _HEX, 128)),
    "laravel": (("APP_KEY", "APP_KEY"), lambda rng: "base64:" + b64(rng, 32)),
    "wireguard": (("PrivateKey", "PresharedKey"), lambda rng: b64(rng, 32)),
    "password": (("password", "DB_PASSWORD"), password),
    "passwd": (("passwd", "smtp_passwd"), password),
    "api key": (("api_key", "apiKey"), _row("", _B62, 32)),
    "token": (("access_token", "authToken"), _row("", _URL, 40)),
}
"""Values that only their names tell: names for both parts."""

HELD_NAMED: dict[str, tuple[tuple[str, ...], Callable[[Random], str]]] = {
    "encryption key": (("encryption_key", "ENCRYPTION_KEY"), lambda rng: b64(rng, 32)),
    "signing secret": (("signing_secret", "SLACK_SIGNING_SECRET"), _row("", _HEX, 32)),
    "jwt secret": (("jwt_secret", "JWT_SECRET"), _row("", _B62, 48)),
    "root password": (("MYSQL_ROOT_PASSWORD", "rootPassword"), password),
    "admin pass": (("admin_pass", "ADMIN_PASS"), password),
    "passphrase": (("passphrase", "KEY_PASSPHRASE"), password),
    "consumer secret": (("consumer_secret", "consumerSecret"), _row("", _B62, 45)),
    "refresh token": (("refresh_token", "refreshToken"), _row("1//0", _URL, 60)),
    "webhook secret": (("webhook_secret", "WEBHOOK_SECRET"), _row("", _HEX, 40)),
    "cookie secret": (("cookie_secret", "COOKIE_SECRET"), _row("", _B62, 32)),
}
"""The same for the part that no rule is tuned on, beside those of `NAMED`."""
