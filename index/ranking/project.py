"""Questions about a project itself, such as its licence or its CI, and the files that answer them in every ecosystem.

A question is about the project only if all of its words are of one topic: "license header check" asks about code.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from cqm.index.text.terms import WORD, stem

_TEXT = r"(\.(md|mdx|rst|txt|adoc|org|markdown|rdoc))?$"
"""Endings of documents."""
_MOST_WORDS = 12
"""Of a question about a project; a longer text tells of more."""


@dataclass(frozen=True, slots=True)
class Files:
    """Files that answer a topic.

    Attributes:
        paths: pattern of their paths.
        says: pattern of a line that is the answer; None where the whole file is.
    """

    paths: re.Pattern[str]
    says: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that people ask of every project.

    Attributes:
        name: of the topic.
        ways: to ask for it: each is groups of words, of which a question has one each.
        words: all that a question may have beside words like "how" and "the", stemmed.
        names: words that ask for it alone, as in "license".
        files: the best first.
        is_of_code: whether code may answer it as well.
    """

    name: str
    ways: tuple[tuple[frozenset[str], ...], ...]
    words: frozenset[str]
    names: frozenset[str]
    files: tuple[Files, ...]
    is_of_code: bool = False


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


_ANY = _stems(
    "project projects repository repo codebase library app application tool package crate gem file files list show find see"
    " get tell give locate located define defined declare declared specify specified state stated setup configure"
    " configured configuration config setting settings live kept stored described describe documented documentation docs"
    " current currently whole full all exactly exact please needed information place way name their its"
)
"""Words of any of these questions."""


def _files(*rows: str | tuple[str, str]) -> tuple[Files, ...]:
    pairs = [(row, "") if isinstance(row, str) else row for row in rows]
    flags = re.IGNORECASE
    return tuple(
        Files(re.compile(rf"(?:^|/){paths}", flags), re.compile(says, flags | re.MULTILINE) if says else None)
        for paths, says in pairs
    )


def _topic(
    name: str, ways: str, beside: str, *files: str | tuple[str, str], names: str = "", is_of_code: bool = False
) -> Topic:
    """Make a topic.

    Parameters:
        name: of it.
        ways: with ";" between them; groups have a blank between them, their words a "/".
        beside: further words.
        files: patterns of paths from a folder's name on, some with that of a line.
        names: words that ask for it alone.
        is_of_code: whether code may answer it as well.
    """
    groups = tuple(tuple(_stems(group.replace("/", " ")) for group in way.split()) for way in ways.split(";"))
    words = _ANY.union(_stems(beside), *(group for way in groups for group in way))
    return Topic(name, groups, words, _stems(names), _files(*files), is_of_code)


_README = rf"readme{_TEXT}"
_WORKFLOWS = r"(?:\.github|\.gitea|\.forgejo)/workflows/"
_CONTRIBUTING = rf"(?:contributing|hacking|develop(?:ing|ment|ers?)){_TEXT}"
_MAKE = (
    r"(?:GNUmakefile|Makefile|justfile|Taskfile\.ya?ml|Rakefile|Thorfile|Earthfile|noxfile\.py|tasks\.py|magefile\.go)$"
)
_MANIFEST = (
    r"(?:pyproject\.toml|setup\.(?:cfg|py)|package\.json|go\.mod|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?|composer\.json"
    r"|[^/]+\.(?:gemspec|cabal|podspec|rockspec|nimble|opam)|mix\.exs|Package\.swift|build\.(?:sbt|sc|mill)|pubspec\.yaml"
    r"|deps\.edn|project\.clj|rebar\.config|Project\.toml|DESCRIPTION|shard\.yml|build\.zig\.zon|vcpkg\.json|conanfile\.(?:py|txt)"
    r"|package\.yaml|dub\.json|Directory\.(?:Build|Packages)\.props|gradle\.properties|stack\.yaml|deno\.jsonc?)$"
)
_RUN_TESTS = (
    r"(?:\b(?:go|cargo|mix|dotnet|swift|sbt|stack|cabal|zig|npm|yarn|pnpm|bun|deno|composer|make|just|rake|gradle|gradlew|mvn"
    r"|mvnw|flutter|dart|nox|mill|bazel|lein|rails)\b[^\n]{0,40}?[ :](?:unit)?(?:tests?|check|verify|spec)\b)"
    r"|\b(?:pytest|tox|phpunit|rspec|ctest|busted)\b"
)
_HEADING = r"^(?:#{1,6}\s|=+\s|[\w ]{0,40}$\n[=~^-]{3,}).{0,40}"
_VERSION_HEAD = r"^\W{0,8}(?:version|release|v|[\w.@/-]{1,30} v?)?\s?\[?v?\d+\.\d+"


def _supported(languages: str, *files: str | tuple[str, str]) -> Topic:
    """Make the topic of the versions of a language that a project supports."""
    group = languages.replace(" ", "/")
    asked = "support/require/minimum/minimal/oldest/compatible/need/target/run/which/what/it"
    ways = f"{group} version {asked};{group} minimum/oldest"
    beside = (
        "lowest min support required least js language runtime compiler earliest still newer older range compatibility"
    )
    return _topic(f"supported {languages.partition(' ')[0]}", ways, beside, *files)


def _in_readme(language: str) -> tuple[str, str]:
    return _README, rf"{language}\W{{0,4}}(?:version\s*)?(?:>=?|v|version)?\s?\d+(?:\.\d+)?"


TOPICS = (
    _topic(
        "changelog",
        "changelog;change log;release note;history release/project;changed/change between version/release"
        ";last/latest/newest/recent release/version change/changed/new/added/add/note/fixed/include/included",
        "last latest newest recent most breaking notes new it version versions release releases",
        (rf"(?:changelog|changes|history|news|releases?|release[-_]?notes){_TEXT}", _VERSION_HEAD),
        (rf"[^/]*(?:changelog|release[-_]?notes)[^/]*{_TEXT}", _VERSION_HEAD),
        names="changelog",
    ),
    _topic(
        "license",
        "license/licence/licensed/licensing/copying",
        "under released release distributed mit apache bsd gpl mozilla isc open source type kind term text copyright legal",
        r"(?:licen[cs]e|copying|unlicense)(?:[-_.][\w.-]+)?$",
        (_MANIFEST, r"licen[cs]e"),
        names="license licence",
    ),
    _topic(
        "vulnerabilities",
        "vulnerability report/reporting/disclose/disclosure;security policy;security report/reporting issue/bug/problem"
        ";responsible disclosure",
        "security issue privately responsibly bug problem policy",
        rf"security{_TEXT}",
        (rf"(?:readme|contributing|docs/[^/]+){_TEXT}", _HEADING + r"(?:security|vulnerabilit)"),
    ),
    _topic("conduct", "code conduct", "community", rf"code[-_]of[-_]conduct{_TEXT}"),
    _topic(
        "maintainers",
        "maintainer;maintain/maintained project/this/it/who/code/repository;author who/project/library"
        ";wrote/written who this/it/project;owner code;codeowner;responsible project/repository;contributor who",
        "list author authors core main owner owners people team contact developer created lead",
        rf"(?:maintainers|maintenance|owners){_TEXT}",
        r"codeowners$",
        rf"(?:authors|contributors|credits){_TEXT}",
        (_MANIFEST, r"^[^\n]{0,30}\b(?:authors?|maintainers?|contributors|developers?)\b|POM_DEVELOPER"),
        (_README, _HEADING + r"(?:maintain|authors?|owners?|credits|people|\bteam\b)"),
    ),
    _topic(
        "contributing",
        "contribute/contributing/contribution/contributor guide/guideline/rule/how/i/we/project/instruction"
        ";pull request i/we/how/guideline/submit",
        "guide pull request patch change changes code start rules contributors open make create send",
        rf"contributing{_TEXT}",
        rf"(?:hacking|develop(?:ing|ment|ers?)){_TEXT}",
        (rf"(?:readme|docs/[^/]+){_TEXT}", _HEADING + r"contribut"),
        rf"pull_request_template{_TEXT}",
        names="contributing",
    ),
    _topic(
        "docker",
        "dockerfile;docker image/build/built/run/compose/container/setup/start/it/project/configuration;container setup/build",
        "image build built run start container i locally base development with in",
        r"(?:[^/]*\.)?(?:Dockerfile|Containerfile)(?:\.[^/]*)?$",
        r"(?:docker-)?compose(?:\.[\w-]+)?\.ya?ml$",
        (rf"(?:readme|docs/[^/]+){_TEXT}", _HEADING + "docker"),
        r"\.devcontainer/[^/]+$",
        names="dockerfile",
    ),
    _topic(
        "style",
        "lint/linter/linting which/configuration/config/configured/setup/project/i/we"
        ";code style/formatting/formatter/formatted/convention;style guide/checker;static analysis which/project/i/we/configured"
        ";formatter code/which",
        "rule rules run setting use format formatting style code check checks checker how tool enforced enforce guide i we",
        r"\.pre-commit-config\.ya?ml$",
        r"(?:\.?eslintrc(?:\.\w+)?|eslint\.config\.\w+|biome\.jsonc?|\.oxlintrc\.json|\.jshintrc|\.stylelintrc[^/]*|tslint\.json)$",
        r"(?:\.golangci\.(?:ya?ml|toml|json)|\.?rustfmt\.toml|\.?clippy\.toml|\.rubocop\.yml|\.standard\.yml|\.clang-(?:format|tidy)"
        r"|\.php-cs-fixer(?:\.dist)?\.php|phpcs\.xml(?:\.dist)?|pint\.json|\.?(?:ruff|flake8|pylintrc)(?:\.toml)?|\.hlint\.yaml"
        r"|\.formatter\.exs|\.credo\.exs|\.scalafmt\.conf|\.scalafix\.conf|\.swiftlint\.ya?ml|\.swiftformat|checkstyle[^/]*\.xml"
        r"|detekt[^/]*\.yml|stylecop\.json|[^/]+\.ruleset|analysis_options\.yaml|\.?stylua\.toml|\.luacheckrc|fourmolu\.yaml"
        r"|\.ktlint|\.shellcheckrc|\.yamllint[^/]*)$",
        r"(?:\.prettierrc(?:\.\w+)?|prettier\.config\.\w+|phpstan\.neon(?:\.dist)?|psalm\.xml|mypy\.ini)$",
        (
            r"(?:pyproject\.toml|setup\.cfg|tox\.ini)$",
            r"^\[(?:tool[.:])?(?:ruff|black|flake8|pylint|isort|pycodestyle)",
        ),
        (r"package\.json$", r"\"(?:eslint|lint|prettier|format|standard|xo)[\w:-]*\"\s*:"),
        (r"(?:pom\.xml|build\.gradle(?:\.kts)?)$", "spotless|checkstyle|ktlint|spring-javaformat|errorprone|detekt"),
        r"\.editorconfig$",
    ),
    _topic(
        "hooks",
        "pre commit hook;git hook",
        "run",
        r"\.pre-commit-config\.ya?ml$",
        r"\.husky/[^/]+$",
        r"lefthook\.ya?ml$",
    ),
    _topic(
        "updates",
        "dependabot;renovate;dependency update/updated/updates automatic/automatically/bot/automated",
        "update updates bot dependencies",
        r"dependabot\.ya?ml$",
        r"\.?renovate(?:rc)?\.json5?$",
        r"\.scala-steward\.conf$",
        names="dependabot renovate",
    ),
    _topic(
        "templates",
        "template issue/pull",
        "request bug report github",
        r"(?:\.github|\.gitlab)/[^/]*(?:issue|pull_request|merge_request)_template.*$",
    ),
    _topic(
        "release",
        "release/publish/published/releasing process/made/make/it/project/publish/published/we/i/automated/cut/done/script/workflow/new/steps"
        ";packaged publish/release it/this/project/we/i/how;deploy project/it/i/we",
        "build built packaged registry pypi npm maven crates rubygems hackage nuget central versions releases to github tag",
        rf"releas(?:ing|e|es)(?:[-_]?(?:process|checklist|guide|steps|instructions))?{_TEXT}",
        r"\.?goreleaser\.ya?ml$",
        rf"{_WORKFLOWS}[^/]*(?:release|publish)[^/]*$",
        (rf"(?:contributing|hacking|develop(?:ing|ment)|docs/contributing){_TEXT}", _HEADING + "releas"),
        (_MAKE, r"(?:^|task :?)(?:release|publish|upload)\b"),
        (
            _MANIFEST,
            r"\[build-system\]|maven-publish|maven-release-plugin|\"(?:release|publish|prepublish\w*)\"\s*:|^\s*publish|PublishModule|def package",
        ),
    ),
    _topic(
        "tests",
        "test/suite/spec run/execute/i/we",
        "unit integration local locally suite my changes change tests command commands how single start",
        (_CONTRIBUTING, _RUN_TESTS),
        (_README, _RUN_TESTS),
        (
            rf"(?:build|building|install|docs/(?:contributing|development|building)|AGENTS|CLAUDE|scripts/readme){_TEXT}",
            _RUN_TESTS,
        ),
        (_MAKE, r"^[ \t]*(?:\.PHONY.*)?(?:test|check|tests|spec|task :?test|desc .*test)\w*\b|TestTask|RSpec::Core"),
        (r"(?:package|composer)\.json$", r"\"(?:tests?|phpunit|test:unit)\"\s*:"),
        (r"(?:tox\.ini|pyproject\.toml|setup\.cfg)$", r"\[tool[.:](?:tox|pytest)|\[testenv|\[tool:pytest|tox\.env"),
        r"(?:scripts?|bin|tools)/(?:run[-_]?)?tests?(?:\.(?:sh|py|rb|ps1|js|bash|cmd|bat))?$",
        r"(?:phpunit\.xml(?:\.dist)?|\.rspec|pytest\.ini)$",
        (rf"{_WORKFLOWS}[^/]*(?:test|ci|build|check)[^/]*$", _RUN_TESTS),
        (r"(?:mix\.exs|build\.(?:sc|sbt|mill|gradle|gradle\.kts|zig|ps1)|pom\.xml|CMakeLists\.txt)$", r"\btest"),
    ),
    _topic(
        "build",
        "build/built/compile/compiled/building it/this/project/we/i/source/instruction/system/configured",
        "source from package packaged instruction steps binary release it step steps command script system tool locally scratch configuration",
        rf"(?:build|building|install|compiling){_TEXT}",
        (_README, _HEADING + r"(?:\bbuild(?:ing)?\b|compil)"),
        (_CONTRIBUTING, _HEADING + r"(?:\bbuild(?:ing)?\b|compil)"),
        r"(?:GNUmakefile|Makefile|justfile|Taskfile\.ya?ml|CMakeLists\.txt|meson\.build|configure\.ac|build\.(?:sbt|sc|mill|zig|ps1|sh)"
        r"|build\.gradle(?:\.kts)?|pom\.xml|BUILD\.bazel|Earthfile|cake\.cs|build\.cake)$",
        (r"package\.json$", r"\"build[\w:-]*\"\s*:"),
        r"(?:rollup|webpack|vite|tsup|esbuild|rolldown)\.config\.\w+$",
        (r"pyproject\.toml$", r"\[build-system\]"),
        r"(?:setup\.(?:py|cfg)|Cargo\.toml|[^/]+\.(?:gemspec|cabal|podspec)|mix\.exs|Package\.swift|Directory\.Build\.props|go\.mod)$",
    ),
    _topic(
        "ci",
        "ci;continuous integration;github action/workflow;gitlab pipeline;travis;jenkins;appveyor;circleci"
        ";job/workflow/pipeline run pull/push/commit/merge;workflow run test",
        "continuous integration pipeline workflow job action github gitlab run test tests build request pull push commit every each"
        " check merge main branch matrix automatically here yaml yml setup on",
        rf"{_WORKFLOWS}(?:[^/]*[-_.])?(?:ci|tests?|build|check|main|continuous[-_]integration|actions|push|linux)(?:[-_.][^/]*)?\.ya?ml$",
        r"(?:\.gitlab-ci\.ya?ml|\.travis\.ya?ml|\.?azure-pipelines(?:[^/]*)\.ya?ml|\.circleci/config\.ya?ml|\.?appveyor\.ya?ml|Jenkinsfile"
        r"|bitbucket-pipelines\.ya?ml|\.drone\.ya?ml|\.cirrus\.ya?ml|\.buildkite/[^/]+|\.woodpecker\.ya?ml|\.builds/[^/]+|cloudbuild\.yaml)$",
        rf"{_WORKFLOWS}[^/]+\.ya?ml$",
        names="ci",
    ),
    _supported(
        "python python3 cpython pypy",
        (r"(?:pyproject\.toml|setup\.(?:cfg|py))$", r"requires-python|python_requires|^\s*python\s*="),
        r"\.python-version$",
        _in_readme("python"),
    ),
    _supported(
        "node nodejs npm",
        (r"package\.json$", r"\"node\"\s*:"),
        r"(?:\.nvmrc|\.node-version)$",
        _in_readme(r"node(?:\.js|js)?"),
    ),
    _supported("typescript", (r"package\.json$", r"\"typescript\"\s*:"), _in_readme("typescript")),
    _supported("php", (r"composer\.json$", r"\"php\"\s*:"), _in_readme("php")),
    _supported(
        "ruby jruby truffleruby",
        (r"[^/]+\.gemspec$", "required_ruby_version"),
        r"\.ruby-version$",
        (r"Gemfile$", r"^\s*ruby\b"),
        _in_readme("ruby"),
    ),
    _supported(
        "java jdk jvm jre openjdk",
        (r"pom\.xml$", r"<(?:maven\.compiler\.(?:release|source|target)|java\.version|release|source|jdk\.version)>"),
        (
            r"(?:build\.gradle(?:\.kts)?|libs\.versions\.toml)$",
            r"(?:source|target)Compatibility|jvmTarget|JavaVersion|JavaLanguageVersion|options\.release|jvmToolchain",
        ),
        _in_readme("(?:java|jdk|jvm)"),
    ),
    _supported(
        "kotlin",
        (r"(?:libs\.versions\.toml|build\.gradle(?:\.kts)?)$", r"kotlin[^\n]{0,60}\d\.\d"),
        _in_readme("kotlin"),
    ),
    _supported("go golang", (r"go\.mod$", r"^go \d"), _in_readme(r"\bgo(?:lang)?")),
    _supported(
        "rust rustc msrv",
        (r"Cargo\.toml$", r"rust-version"),
        r"rust-toolchain(?:\.toml)?$",
        (r"\.?clippy\.toml$", "msrv"),
        _in_readme("rustc?"),
    ),
    _supported(
        "elixir erlang otp",
        (r"mix\.exs$", r"elixir:"),
        (r"rebar\.config$", "minimum_otp"),
        _in_readme("(?:elixir|otp|erlang)"),
    ),
    _supported(
        "haskell ghc cabal", (r"(?:[^/]+\.cabal|package\.yaml)$", r"tested-with|base\s*[><^]"), _in_readme("ghc")
    ),
    _supported("scala", (r"build\.(?:sbt|sc|mill)$", r"scalaVersions?\b|val scala\w*\s*="), _in_readme("scala")),
    _supported(
        "swift ios macos xcode",
        (r"Package(?:@[\w.-]+)?\.swift$", r"swift-tools-version|platforms\s*:"),
        (r"[^/]+\.podspec$", r"swift_versions?|deployment_target"),
        _in_readme("(?:swift|ios|macos|xcode)"),
    ),
    _supported(
        "net dotnet csharp netstandard framework",
        (r"(?:Directory\.Build\.props|[^/]+\.(?:cs|fs|vb)proj)$", r"<TargetFrameworks?(?:Version)?>"),
        r"global\.json$",
        _in_readme(r"\.net(?:\s(?:core|standard|framework))?"),
    ),
    _supported("dart flutter", (r"pubspec\.yaml$", r"^\s*(?:sdk|flutter):"), _in_readme("(?:dart|flutter)")),
    _supported("lua luajit", (r"[^/]+\.rockspec$", r"lua\s*[><=]"), _in_readme("lua(?:jit)?")),
    _supported("zig", (r"build\.zig\.zon$", "minimum_zig_version"), _in_readme("zig")),
    _topic(
        "dependencies",
        "dependency list/version/project/external/party/declared/defined/listed/specified/managed/pinned/it/this/what/which/runtime"
        ";depend what/which/library/libraries/package/project/it"
        ";external/party library/libraries/package/module/dependency",
        "third party external library libraries packages modules versions runtime direct required require development dev managed"
        " listed pinned use used import",
        r"(?:libs\.versions\.toml|Directory\.Packages\.props|Gemfile|requirements(?:[-_.]\w+)?\.(?:txt|in)|Pipfile|environment\.ya?ml|Podfile|Cartfile)$",
        (
            _MANIFEST,
            r"dependenc|\"(?:require|imports)\"\s*:|^require\b|build-depends|ivyDeps|def deps|PackageReference|add_(?:runtime_)?dependency"
            r"|install_requires|\bdeps:|libraryDependencies|^\s*(?:implementation|api)\b|\.package\(",
        ),
        (r"(?:[^/]+\.(?:cs|fs)proj|packages\.config)$", r"<PackageReference|<package "),
        (r"(?:CMakeLists\.txt|meson\.build)$", r"find_package|dependency\("),
        names="dependencies",
    ),
    _topic(
        "entry",
        "entry point/main;entrypoint;main function/method/file/program/entry;program/execution start/begin where",
        "main program application executable binary command line cli execution point start",
        (r"(?:cmd/[^/]+/)?main\.go$", r"^func main\("),
        (r"(?:src/|crates/[^/]+/(?:src/)?|src/bin/[^/]*)?main\.rs$", r"^\s*(?:pub )?(?:async )?fn main\("),
        (r"(?:__main__|main|manage|app|cli|run)\.py$", r"__name__ == .__main__|__main__"),
        (r"(?:app/)?Main\.hs$", r"^main\b"),
        (
            r"(?:Main|[^/]*Application|[^/]*App)\.(?:java|kt|scala)$",
            r"\bvoid main\(|fun main\(|def main\(|extends App\b",
        ),
        (r"Program\.(?:cs|fs|vb)$", r"Main\(|\bapp\.Run\(|EntryPoint"),
        (r"main\.(?:c|cc|cpp|cxx|m|swift|zig|dart|kt|scala|jl)$", r"\bmain\b|@main"),
        (r"(?:pyproject\.toml|setup\.(?:cfg|py))$", r"\[project\.scripts\]|\[tool\.poetry\.scripts\]|console_scripts"),
        (r"package\.json$", r"\"(?:bin|main|exports)\"\s*:"),
        r"(?:src/)?index\.[cm]?[jt]s$",
        r"config\.ru$",
        is_of_code=True,
    ),
    _topic(
        "environment",
        "environment variable;env var/variable",
        "read used use example sample which required local",
        r"\.env\.(?:example|sample|template|dist|defaults?)$",
        is_of_code=True,
    ),
    _topic(
        "documentation",
        "documentation/docs build/built/hosted/published/site",
        "website api generate",
        r"(?:mkdocs\.ya?ml|\.readthedocs\.ya?ml|book\.toml|docusaurus\.config\.\w+|\.?typedoc\.json|\.jazzy\.yaml|_config\.yml|antora\.yml)$",
        r"docs?/(?:source/)?conf\.py$",
        rf"{_WORKFLOWS}[^/]*(?:docs?|pages|site)[^/]*$",
    ),
)
"""The first topic with all words of a question is meant."""

_HEADS = frozenset[str]().union(*(group for topic in TOPICS for way in topic.ways for group in way))


@lru_cache(maxsize=256)
def _fitting(words: frozenset[str], content: frozenset[str]) -> Topic | None:
    return next((it for it in TOPICS if content <= it.words and _is_asked(it, words)), None)


def _is_asked(topic: Topic, words: frozenset[str]) -> bool:
    return any(all(not group.isdisjoint(words) for group in way) for way in topic.ways)


def topic_of(text: str, content: Sequence[str]) -> Topic | None:
    """Return what a question asks of the project itself; None for a question about its code.

    Parameters:
        text: of the question.
        content: its words in lower case, without those like "how" and "the".
    """
    own = frozenset(map(stem, content)) if len(content) <= _MOST_WORDS else frozenset[str]()
    if _HEADS.isdisjoint(own):
        return None
    words = WORD.findall(text.lower())
    if len(words) == 1:
        return next((it for it in TOPICS if own <= it.names), None)
    return _fitting(frozenset(map(stem, words)), own)
