"""Recognise files of secrets by their names alone: they are skipped as a whole.

All names are compared in lower case. Names of programs and documents ("credentials.py", "token.rs", "secrets.md") never
count: such files are searched for secrets instead, like all others.
"""

import hashlib
import re
from collections.abc import Iterable
from fnmatch import translate

from cqm.index.secrets.model import Match
from cqm.index.text.globs import paths_matching

_KEYS = """
    id_rsa id_dsa id_ecdsa id_ed25519 id_xmss id_ecdsa_sk id_ed25519_sk id_rsa[._-]* id_ed25519[._-]* id_ecdsa[._-]*
    *[._-]rsa *[._-]ed25519 ssh_host_*_key master.key keytab krb5cc_* *.pem *.key *.priv *.private *.p8 *.p12 *.pfx
    *.pkcs8 *.pkcs12 *.jks *.jceks *.bks *.keystore *.kdb *.kdbx *.ppk *.gpg *.pgp *.asc *.skr *.keychain
    *.keychain-db *.keytab *.ovpn *.agekey *.mobileprovision *.psafe3 *.opvault *.pvk *.snk *.rdp wg[0-9]*.conf
    wg-*.conf application_default_credentials.json *vault[_-]pass*.txt *vault[_-]token*.txt *vault[_-]key*.txt
"""
"""Private keys, stores of keys, and settings containing a key."""

_PUBLIC = """
    *.pub public.* public[_-]key.* *[._-]public.* pub.* pubkey.* publickey.* *[._-]pubkey.* cert.* *[._-]cert.*
    certs.* certificate.* ca.pem cacert.pem *[._-]ca.pem ca-*.pem *[._-]cacert.pem chain.pem fullchain.pem
    *[._-]chain.pem *[._-]bundle.pem
"""
"""Names of keys and certificates meant to be public."""

_SETTINGS = """
    .env .env[._~-]* .envrc .envrc[._~-]* *.env *.env~ *.env.bak *.env.backup *.env.old *.env.orig *.env.save
    *.env.sw? *.env.tmp *.env.copy *.env.local *.env.enc .flaskenv .dev.vars .dev.vars[._~-]* env.local env.prod
    env.production secret secrets .secret .secrets .secret.* .secrets.* secret.* secrets.* *.secrets.json
    *.secrets.y*ml *.secrets.toml *.secret.json *.secret.y*ml secrets[._-]*.y*ml secrets[._-]*.json
    secrets[._-]*.toml .*creds .creds.* creds creds.* credential credentials .credential .credentials credentials.*
    credential.* .credentials.* *[._-]credentials.json *[._-]credentials.csv *[._-]credentials.y*ml
    credentials[._-]*.json credentials[._-]*.csv passwords passwords.* passwd .passwd shadow shadow- gshadow
    gshadow- master.passwd api_keys.* apikeys.* api-keys.* token token.json .token .tokens *.token access_token
    auth_token *.secrets chap-secrets* pap-secrets* sasl_passwd* sasl-passwd* *.pgpass .erlang.cookie
    local.settings.json appsettings.*secret*.json usersecrets.json config.secret.*
"""
"""Settings of programs with their secrets in separate files."""

_CLIENTS = """
    .netrc _netrc .netrc.* .authinfo .git-credentials .gitcookies .pypirc .pgpass pgpass.conf .my.cnf .mylogin.cnf
    .htpasswd* htpasswd .htdigest* .dockercfg .dockerconfigjson *.dockerconfigjson .docker-config.json .s3cfg
    .s3cfg.* .boto .passwd-s3fs .databrickscfg .snowsql .msmtprc .fetchmailrc .mbsyncrc .offlineimaprc .ldaprc
    .smbcredentials .vault-token .vault[_-]pass* vault[_-]pass* .vault[_-]key* vault[_-]key* .vault[_-]token*
    vault[_-]token* .vaultpass* vaultpass* ansible[_-]vault[_-]pass* .ansible[_-]vault* kubeconfig kubeconfig[._-]*
    .kubeconfig .kubeconfig.* *.kubeconfig *[._-]kubeconfig *[._-]kubeconfig.y*ml kube[_-]config kube[_-]config.*
    bootstrap-kubelet.conf known_tokens.csv talosconfig *.tfstate *.tfstate.* *.tfvars *.tfvars.*
    credentials.tfrc.json .terraformrc terraform.rc client[_-]secret*.json clientsecret*.json
    service[_-]account*.json serviceaccount*.json *[_-]service[_-]account*.json *firebase-adminsdk*.json
    firebase[_-]admin*.json gcp[_-]key*.json gcloud[_-]key*.json gcp-credentials*.json
    application_default_credentials.json google-services.json googleservice-info.plist access_tokens.db
    accesstokens.json azureprofile.json msal_token_cache.* rclone.conf .rclone.conf filezilla.xml sitemanager.xml
    recentservers.xml winscp.ini ngrok.y*ml .ngrok.y*ml wpa_supplicant*.conf *.nmconnection .vnc_passwd .vncpasswd
    auth.json.bak .cargo-credentials* .gem_credentials .npmrc.* .yarnrc.bak kaggle.json .claude.json
"""
"""Login files of clients of services."""

_HISTORIES = """
    .bash_history* .zsh_history* .sh_history* .ksh_history* .ash_history* .fish_history* fish_history* .zhistory
    .histfile .history .python_history* .psql_history* .mysql_history* .mariadb_history* .sqlite_history*
    .rediscli_history* .node_repl_history* .irb_history* .irb-history* .pry_history* .php_history* .rhistory
    .scala_history* .mongo_history* .mongosh_history* mongosh_repl_history .dbshell .mongorc.js .lesshst .viminfo
    .julia_history .duckdb_history .influx_history .cqlsh_history .pgadmin_histfile .wget-hsts
    consolehost_history.txt *_repl_history
"""
"""Histories of typed commands, including passwords."""

_IN_FOLDERS = """
    .docker/config.json .kube/* .aws/credentials .aws/config .aws/sso/* .aws/cli/* .azure/msal* .gcloud/*
    gcloud/*.json .oci/config .oci/*.pem .bluemix/* .doctl/* .fly/* .terraform.d/* .config/gh/* .config/hub
    .config/glab-cli/* .config/gcloud/* .config/rclone/* .config/op/* .config/doctl/* .config/fly/* .config/sops/*
    .config/netlify/* .config/stripe/* .config/heroku/* .config/hcloud/* .config/configstore/* .config/filezilla/*
    .config/composer/auth.json .config/containers/auth.json .config/ngrok/* .composer/auth.json .env/* .envs/*
    .secret/* .secrets/* .cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml
    .m2/settings-security.xml .gradle/gradle.properties .jfrog/* .snowsql/config .snowflake/* .dbt/profiles.yml
    .dbt/profiles.yaml .vault/* .chef/*.pem .password-store/* .electrum/* .bitcoin/* .ethereum/keystore/*
    .local/share/keyrings/* .purple/accounts.xml .subversion/auth/* .streamlit/secrets.toml .huggingface/token
    .cache/huggingface/* .kaggle/* .codex/auth.json .vercel/auth.json .netlify/config.json wireguard/*.conf
    usersecrets/*/secrets.json etc/shadow etc/gshadow .putty/sessions/* .irssi/config .local/share/fish/fish_history
"""
"""Names which are secret only in their folders; "*" also stands for folders below."""

_SUFFIXES = """
    py pyi pyx rs go js mjs cjs jsx ts mts cts tsx java kt kts scala groovy rb php c h cc cpp cxx hpp hh m mm swift
    cs fs vb lua pl pm r jl dart ex exs erl hs clj cljs ml mli sql sh bash zsh fish ps1 bat cmd html htm css scss
    less vue svelte md mdx rst adoc txt tex ipynb proto graphql tf bicep cmake nim zig d v st scad sol el lisp svg
"""
"""Endings of the names of programs and documents."""
_SOURCE = frozenset(_SUFFIXES.split())
_ODD = ("history", "vault")
"""Parts of table names with such a suffix and without a dot at the beginning."""

_EXAMPLE = re.compile(r"(?:^|[._-])(?:examples?|samples?|templates?|tmpl|tpl|dist|schema|defaults?|stub)(?:[._-]|$)")
"""Matches files meant to be shared: ".env.example", "prod.tfvars.sample"."""


def _any_of(tables: Iterable[str], before: str = "") -> re.Pattern[str]:
    globs = [glob for table in tables for glob in table.split()]
    return re.compile(before + "(?:" + "|".join(translate(glob) for glob in globs) + ")")


_IS_KEY, _IS_PUBLIC, _IS_CREDENTIALS = _any_of([_KEYS]), _any_of([_PUBLIC]), _any_of([_SETTINGS, _CLIENTS])
_IS_HISTORY, _IS_IN_FOLDER = _any_of([_HISTORIES]), _any_of([_IN_FOLDERS], "(?:.*/)?")
_IS_ENVIRONMENT = re.compile(r"\.env\.|\.dev\.vars\.")


def is_secret_path(path: str) -> bool:
    """Whether a file's name, or its name in its folder, marks it as secret."""
    low = path.lower()
    name = low.rpartition("/")[2]
    suffix = name.rpartition(".")[2]
    # Most files of most trees: no table contains such a name.
    if suffix in _SOURCE and "/." not in f"/{low}" and not any(part in name for part in _ODD):
        return False
    is_example = bool(_EXAMPLE.search(name))
    if _IS_HISTORY.match(name):
        return True
    if _IS_KEY.match(name):
        return not _IS_PUBLIC.match(name)
    if "/" in low and _IS_IN_FOLDER.match(low):
        return not is_example
    is_source = suffix in _SOURCE and not _IS_ENVIRONMENT.match(name)
    return not (is_example or is_source) and bool(_IS_CREDENTIALS.match(name))


def is_allowed_path(path: str, globs: tuple[str, ...]) -> bool:
    """Whether one of the user's globs exempts a file."""
    return bool(globs) and bool(paths_matching(globs, [path]))


_TOKEN = re.compile(
    r"gh[pousr]_\w{30,}|github_pat_\w{20,}|A[KS]IA[A-Z2-7]{16}|gl(?:pat|rt)-[\w-]{18,}|xox[abprs]-[\w-]{10,}"
    r"|xapp-\d-[\w-]{20,}|[rs]k_(?:live|test)_\w{20,}|sk-[\w-]{20,}|AIza[\w-]{33,}|hf_\w{30,}|npm_\w{34,}|pypi-[\w-]{40,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}|\d{8,10}:AA[\w-]{33}|shp(?:at|ss|ca)_[0-9a-f]{32}"
    r"|d[op][opr]_v1_[0-9a-f]{60,}|dapi[0-9a-f]{32}|key-[0-9a-f]{32}|NRAK-[A-Z0-9]{27}|whsec_\w{24,}|GOCSPX-[\w-]{28}"
    r"|gsk_\w{40,}|glsa_\w{32,}|figd_[\w-]{36,}|hv[sbr]\.[\w-]{24,}|AGE-SECRET-KEY-1\w{50,}|pat\w{14}\.[0-9a-f]{60,}"
)
"""Tokens in a name. The library isn't asked: loading it takes too long only to list files."""
_LEAST = 20
"""Characters of the shortest path with a token; one with an assignment has a mark."""
_SUFFIX = re.compile(r"\.[A-Za-z]{1,5}\Z")
"""The end of a file's name. After another dot a password may go on."""
_MARKS = re.compile("[=:]")


def shown_path(path: str) -> str:
    """Return a path without the secrets in its names: "a/[secret 3f2a91c0].txt"; the same path if there are none."""
    matches = _secrets_in(path)
    if not matches:
        return path
    # Two such files must not have one name. The hash of the whole path tells nothing of a short password in it.
    code = hashlib.blake2b(path.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    parts, place = [], 0
    for match in sorted(matches, key=lambda it: it.start):
        if match.end > place:
            parts += [path[place : max(place, match.start)], f"[secret {code}]"]
            place = match.end
    return "".join([*parts, path[place:]])


def _secrets_in(path: str) -> list[Match]:
    found = [Match("token", *it.span()) for it in _TOKEN.finditer(path)] if len(path) >= _LEAST else []
    if _MARKS.search(path):
        start = 0
        for part in path.split("/"):
            if _MARKS.search(part):
                found += [Match(it.kind, start + it.start, start + it.end) for it in _assigned_in(part)]
            start += len(part) + 1
    return found


def _assigned_in(name: str) -> list[Match]:
    # Their patterns take longer to compile than a usual tree to list, and few names have a mark.
    from cqm.index.secrets.assignments import assigned
    from cqm.index.secrets.names import ANCHORS, anchors, places_of

    stem = _SUFFIX.sub("", name)
    low = stem.encode("ascii", "replace").decode("ascii").lower()
    named = sorted(anchors(stem, low, {word: places_of(low, word) for word in ANCHORS}))
    return list(assigned(stem, named, ".env"))
