"""The topics of questions about a project itself, in the order of trying."""

from collections.abc import Sequence
from functools import lru_cache

from cqm.index.ranking.project import Topic, stemmed, topic
from cqm.index.text.terms import WORD

_MOST_WORDS = 12
"""Longest question about a project, in words; a longer text is about more."""
_TEXT = r"(?:\.(?:md|mdx|rst|txt|adoc|org|markdown|rdoc))?$"
_README = rf"readme{_TEXT}"
_GUIDE = rf"(?:contributing|hacking|develop(?:ing|ment|ers?)){_TEXT}"
_DOCUMENT = rf"(?:readme|contributing|hacking|docs/[^/]+){_TEXT}"
_WORKFLOWS = r"(?:\.github|\.gitea|\.forgejo)/workflows/"
_MAKE = (
    r"(?:GNUmakefile|Makefile|justfile|Taskfile\.ya?ml|Rakefile|Thorfile|Earthfile|noxfile\.py|tasks\.py|magefile\.go)$"
)
_GRADLE = r"build\.gradle(?:\.kts)?"
_SCALA = r"build\.(?:sbt|sc|mill)"
_SETUP = r"setup\.(?:cfg|py)"
_MANIFEST = (
    rf"(?:pyproject\.toml|{_SETUP}|package\.json|go\.mod|Cargo\.toml|pom\.xml|{_GRADLE}|composer\.json|mix\.exs|{_SCALA}"
    r"|[^/]+\.(?:gemspec|cabal|podspec|rockspec|nimble|opam)|Package\.swift|pubspec\.yaml|deps\.edn|project\.clj"
    r"|rebar\.config|Project\.toml|DESCRIPTION|shard\.yml|build\.zig\.zon|vcpkg\.json|conanfile\.(?:py|txt)"
    r"|package\.yaml|dub\.json|Directory\.(?:Build|Packages)\.props|gradle\.properties|stack\.yaml|deno\.jsonc?)$"
)
_RUN_TESTS = (
    r"(?:\b(?:go|cargo|mix|dotnet|swift|sbt|stack|cabal|zig|npm|yarn|pnpm|bun|deno|composer|make|just|rake|gradlew?|mvnw?"
    r"|flutter|dart|nox|mill|bazel|lein|rails)\b[^\n]{0,40}?[ :](?:unit)?(?:tests?|check|verify|spec)\b)"
    r"|\b(?:pytest|tox|phpunit|rspec|ctest|busted)\b|manage\.py test"
)
_VERSION_HEAD = r"^\W{0,8}(?:version|release|v|[\w.@/-]{1,30} v?)?\s?\[?v?\d+\.\d+"


def _heading(words: str) -> str:
    """Return the pattern of a heading with some words, in the marks of Markdown, AsciiDoc and reStructuredText."""
    return rf"^(?:#{{1,6}}|=+)\s.{{0,40}}(?:{words})|^.{{0,40}}(?:{words}).{{0,40}}\n[=~^-]{{3,}}$"


def _supported(languages: str, *files: str | tuple[str, str]) -> Topic:
    """Make the topic of a language's versions supported by a project."""
    group = languages.replace(" ", "/")
    asked = "support/require/minimum/minimal/oldest/compatible/need/target/run/which/what/it"
    beside = "lowest min least js language runtime compiler earliest still newer older range compatibility requirement"
    ways = (f"{group} version {asked}", f"{group} minimum/oldest")
    return topic(ways, beside, *files)


def _in_readme(language: str) -> tuple[str, str]:
    return _README, rf"\b{language}\W{{0,4}}(?:version\s*)?(?:>=?|v|version)?\s?\d+(?:\.\d+)?"


_OF_PEOPLE = (
    topic(
        # changelog
        (
            *("changelog", "change log", "release note", "history release/project"),
            "change between version/release",
            "last/latest/newest/recent release/version change/new/added/add/note/fixed/include",
        ),
        "last latest newest recent most breaking new it versions releases history",
        (rf"(?:changelog|changes|history|news|releases?|release[-_]?notes){_TEXT}", _VERSION_HEAD),
        (rf"[^/]*(?:changelog|release[-_]?notes)[^/]*{_TEXT}", _VERSION_HEAD),
        names="changelog",
    ),
    topic(
        # license
        ("license/licence/licensing",),
        "under released release distributed mit apache bsd gpl mozilla isc open source type kind term text copyright",
        r"(?:licen[cs]e|copying|unlicense)(?:[-_.][\w.-]+)?$",
        (_MANIFEST, r"licen[cs]e"),
        names="license licence",
    ),
    topic(
        # vulnerabilities
        ("vulnerability report/reporting/disclose/disclosure", "security policy", "security report/reporting"),
        "security issue privately responsibly bug problem policy",
        rf"security{_TEXT}",
        (_DOCUMENT, _heading("security|vulnerabilit")),
    ),
    # conduct
    topic(("code conduct",), "community", rf"code[-_]of[-_]conduct{_TEXT}"),
    topic(
        # maintainers
        (
            *("maintainer", "maintain project/this/it/who/code/repository", "author who/project/library"),
            *("wrote/written who/this/it/project", "owner code", "codeowner", "responsible project/repository"),
            "contributor who",
        ),
        "author authors core main owner owners people team contact developer created lead code",
        rf"(?:maintainers|maintenance|owners){_TEXT}",
        r"codeowners$",
        rf"(?:authors|contributors|credits){_TEXT}",
        (_MANIFEST, r"^[^\n]{0,30}\b(?:authors?|maintainers?|contributors|developers?)\b|POM_DEVELOPER"),
        (_README, _heading(r"maintain|authors?\b|owners?\b|credits|people|\bteam\b")),
    ),
    topic(
        # contributing
        (
            "contribute/contributing/contribution/contributor guide/guideline/rule/how/i/we/project/instruction",
            "pull request i/we/how/guideline/submit",
        ),
        "guide pull request patch change changes code start rules open make create send",
        rf"contributing{_TEXT}",
        rf"(?:hacking|develop(?:ing|ment|ers?)){_TEXT}",
        (_DOCUMENT, _heading("contribut")),
        rf"pull_request_template{_TEXT}",
        names="contributing",
    ),
    topic(
        # templates
        ("template issue/pull",),
        "request bug report github",
        r"(?:\.github|\.gitlab)/[^/]*(?:issue|pull_request|merge_request)_template.*$",
    ),
)
_OF_TOOLS = (
    topic(
        # docker
        ("dockerfile", "docker image/build/run/compose/container/start/it/project", "container setup/build"),
        "image build built run start container i locally base development with in",
        r"(?:[^/]*\.)?(?:Dockerfile|Containerfile)(?:\.[^/]*)?$",
        r"(?:docker-)?compose(?:\.[\w-]+)?\.ya?ml$",
        (_DOCUMENT, _heading("docker")),
        r"\.devcontainer/[^/]+$",
        names="dockerfile",
    ),
    topic(
        # style
        (
            "lint/linter/linting which/configuration/config/configured/setup/project/i/we",
            *("code style/formatting/formatter/formatted/convention", "style guide/checker", "formatter code/which"),
            "static analysis which/project/i/we/configured",
        ),
        "rule run setting use format formatting style code check checker how tool enforced enforce guide i we",
        r"\.pre-commit-config\.ya?ml$",
        r"(?:\.?eslintrc(?:\.\w+)?|eslint\.config\.\w+|biome\.jsonc?|\.oxlintrc\.json|\.jshintrc|tslint\.json"
        r"|\.golangci\.(?:ya?ml|toml|json)|\.?rustfmt\.toml|\.?clippy\.toml|\.rubocop\.yml|\.standard\.yml|pint\.json"
        r"|\.clang-(?:format|tidy)|\.php-cs-fixer(?:\.dist)?\.php|phpcs\.xml(?:\.dist)?|\.?(?:ruff|flake8|pylintrc)(?:\.toml)?"
        r"|\.hlint\.yaml|fourmolu\.yaml|\.formatter\.exs|\.credo\.exs|\.scalafmt\.conf|\.scalafix\.conf|\.swiftlint\.ya?ml"
        r"|\.swiftformat|checkstyle[^/]*\.xml|detekt[^/]*\.yml|stylecop\.json|[^/]+\.ruleset|analysis_options\.yaml"
        r"|\.?stylua\.toml|\.luacheckrc|\.ktlint|\.shellcheckrc|\.yamllint[^/]*)$",
        r"(?:\.prettierrc(?:\.\w+)?|prettier\.config\.\w+|phpstan\.neon(?:\.dist)?|psalm\.xml|mypy\.ini)$",
        (rf"(?:pyproject\.toml|{_SETUP}|tox\.ini)$", r"^\[(?:tool[.:])?(?:ruff|black|flake8|pylint|isort|pycodestyle)"),
        (r"package\.json$", r"\"(?:eslint|lint|prettier|format|standard|xo)[\w:-]*\"\s*:"),
        (rf"(?:pom\.xml|{_GRADLE})$", "spotless|checkstyle|ktlint|spring-javaformat|errorprone|detekt"),
        r"\.editorconfig$",
    ),
    topic(
        # hooks
        ("pre commit hook", "git hook"),
        "commit run",
        *(r"\.pre-commit-config\.ya?ml$", r"\.husky/[^/]+$", r"lefthook\.ya?ml$"),
    ),
    topic(
        # updates
        ("dependabot", "renovate", "dependency update automatic/automatically/bot/automated"),
        "update bot dependencies",
        *(r"dependabot\.ya?ml$", r"\.?renovate(?:rc)?\.json5?$", r"\.scala-steward\.conf$"),
        names="dependabot renovate",
    ),
    topic(
        # release
        (
            "release/publish process/made/make/it/project/publish/we/i/automated/cut/done/script/workflow/new/step",
            *("packaged publish/release it/this/project/we/i/how", "deploy project/it/i/we"),
        ),
        "build built packaged registry pypi npm maven crates rubygems hackage nuget central versions to github tag",
        rf"releas(?:ing|e|es)(?:[-_]?(?:process|checklist|guide|steps|instructions))?{_TEXT}",
        r"\.?goreleaser\.ya?ml$",
        rf"{_WORKFLOWS}(?:release|publish)\.ya?ml$",
        rf"{_WORKFLOWS}[^/]*(?:release|publish)[^/]*$",
        (_DOCUMENT, _heading("releas")),
        (_MAKE, r"(?:^|task :?)(?:release|publish|upload)\b"),
        (
            _MANIFEST,
            (
                r"\[build-system\]|maven-publish|maven-release-plugin|\"(?:release|publish|prepublish\w*)\"\s*:|^\s*publish"
                r"|PublishModule|def package"
            ),
        ),
    ),
    topic(
        # tests
        ("test/suite/spec run/execute/i/we",),
        "unit integration local locally suite my changes tests command how single start",
        (_GUIDE, _RUN_TESTS),
        (_README, _RUN_TESTS),
        (rf"(?:build|building|install|docs/(?:development|building)|AGENTS|CLAUDE){_TEXT}", _RUN_TESTS),
        (_MAKE, r"^[ \t]*(?:\.PHONY.*)?(?:test|check|spec|task :?test|desc .*test)\w*\b|TestTask|RSpec::Core"),
        (r"(?:package|composer)\.json$", r"\"(?:tests?|phpunit|test:unit)\"\s*:"),
        (rf"(?:tox\.ini|pyproject\.toml|{_SETUP})$", r"\[tool[.:](?:tox|pytest)|\[testenv|\[tool:pytest|tox\.env"),
        r"(?:scripts?|bin|tools)/(?:run[-_]?)?tests?(?:\.(?:sh|py|rb|ps1|js|bash|cmd|bat))?$",
        r"(?:phpunit\.xml(?:\.dist)?|\.rspec|pytest\.ini)$",
        (rf"{_WORKFLOWS}[^/]*(?:test|ci|build|check)[^/]*$", _RUN_TESTS),
        (rf"(?:mix\.exs|{_SCALA}|{_GRADLE}|build\.(?:zig|ps1)|pom\.xml|CMakeLists\.txt)$", r"\btest"),
    ),
    topic(
        # build
        ("build/built/compile/building it/this/project/we/i/source/instruction/system/configured",),
        "source from package packaged instruction binary release it step command script system tool locally scratch",
        rf"(?:build|building|install|compiling){_TEXT}",
        (_README, _heading(r"\bbuild(?:ing)?\b|compil")),
        (_GUIDE, _heading(r"\bbuild(?:ing)?\b|compil")),
        rf"(?:GNUmakefile|Makefile|justfile|Taskfile\.ya?ml|CMakeLists\.txt|meson\.build|configure\.ac|{_SCALA}|{_GRADLE}"
        r"|build\.(?:zig|ps1|sh)|pom\.xml|BUILD\.bazel|Earthfile|cake\.cs|build\.cake)$",
        (r"package\.json$", r"\"build[\w:-]*\"\s*:"),
        r"(?:rollup|webpack|vite|tsup|esbuild|rolldown)\.config\.\w+$",
        (r"pyproject\.toml$", r"\[build-system\]"),
        rf"(?:{_SETUP}|Cargo\.toml|[^/]+\.(?:gemspec|cabal|podspec)|mix\.exs|Package\.swift|Directory\.Build\.props|go\.mod)$",
    ),
    topic(
        # ci
        (
            *("ci", "continuous integration", "github action/workflow", "gitlab pipeline"),
            *("travis", "jenkins", "appveyor", "circleci"),
            *("job/workflow/pipeline run pull/push/commit/merge", "workflow run test"),
        ),
        "pipeline workflow job action github gitlab run test build request pull push commit every each check merge main"
        " branch matrix automatically here yaml yml on",
        rf"{_WORKFLOWS}(?:[^/]*[-_.])?(?:ci|tests?|build|check|main|continuous[-_]integration|actions|push|linux)"
        r"(?:[-_.][^/]*)?\.ya?ml$",
        r"(?:\.gitlab-ci\.ya?ml|\.travis\.ya?ml|\.?azure-pipelines[^/]*\.ya?ml|\.circleci/config\.ya?ml|\.?appveyor\.ya?ml"
        r"|Jenkinsfile|bitbucket-pipelines\.ya?ml|\.drone\.ya?ml|\.cirrus\.ya?ml|\.buildkite/[^/]+|\.woodpecker\.ya?ml"
        r"|\.builds/[^/]+|cloudbuild\.yaml)$",
        rf"{_WORKFLOWS}[^/]+\.ya?ml$",
        names="ci",
    ),
    topic(
        # documentation
        ("documentation/docs build/built/hosted/published/site",),
        "website api generate",
        r"(?:mkdocs\.ya?ml|\.readthedocs\.ya?ml|book\.toml|docusaurus\.config\.\w+|\.?typedoc\.json|\.jazzy\.yaml"
        r"|_config\.yml|antora\.yml)$",
        r"docs?/(?:source/)?conf\.py$",
        rf"{_WORKFLOWS}[^/]*(?:docs?|pages|site)[^/]*$",
    ),
)
_OF_LANGUAGES = (
    _supported(
        "python python3 cpython pypy",
        (rf"(?:pyproject\.toml|{_SETUP})$", r"requires-python|python_requires|^\s*python\s*="),
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
            rf"(?:{_GRADLE}|libs\.versions\.toml)$",
            r"(?:source|target)Compatibility|jvmTarget|JavaVersion|JavaLanguageVersion|options\.release|jvmToolchain",
        ),
        _in_readme("(?:java|jdk|jvm)"),
    ),
    _supported("kotlin", (rf"(?:libs\.versions\.toml|{_GRADLE})$", r"kotlin[^\n]{0,60}\d\.\d"), _in_readme("kotlin")),
    _supported("go golang", (r"go\.mod$", r"^go \d"), _in_readme("go(?:lang)?")),
    _supported(
        "rust rustc msrv",
        (r"Cargo\.toml$", "rust-version"),
        r"rust-toolchain(?:\.toml)?$",
        (r"\.?clippy\.toml$", "msrv"),
        _in_readme("rustc?"),
    ),
    _supported(
        "elixir erlang otp",
        *((r"mix\.exs$", "elixir:"), (r"rebar\.config$", "minimum_otp"), _in_readme("(?:elixir|otp|erlang)")),
    ),
    _supported(
        "haskell ghc cabal", (r"(?:[^/]+\.cabal|package\.yaml)$", r"tested-with|base\s*[><^]"), _in_readme("ghc")
    ),
    _supported("scala", (rf"{_SCALA}$", r"scalaVersions?\b|val scala\w*\s*="), _in_readme("scala")),
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
        _in_readme(r"net(?:\s(?:core|standard|framework))?"),
    ),
    _supported("dart flutter", (r"pubspec\.yaml$", r"^\s*(?:sdk|flutter):"), _in_readme("(?:dart|flutter)")),
    _supported("lua luajit", (r"[^/]+\.rockspec$", r"lua\s*[><=]"), _in_readme("lua(?:jit)?")),
    _supported("zig", (r"build\.zig\.zon$", "minimum_zig_version"), _in_readme("zig")),
)
_OF_PROGRAM = (
    topic(
        # dependencies
        (
            "dependency list/version/project/external/party/declare/define/specified/managed/pinned/it/this/what/which",
            *("depend what/which/library/package/project/it", "external/party library/package/module/dependency"),
        ),
        "third party external library packages modules versions runtime direct require dev use import listed",
        r"(?:libs\.versions\.toml|Directory\.Packages\.props)$",
        (
            _MANIFEST,
            (
                r"dependenc|\"(?:require|imports)\"\s*:|^require\b|build-depends|ivyDeps|def deps|PackageReference"
                r"|install_requires|add_(?:runtime_)?dependency|\bdeps:|libraryDependencies|\.package\("
                r"|^\s*(?:implementation|api)\b"
            ),
        ),
        r"(?:Gemfile|requirements\.(?:txt|in)|Pipfile|environment\.ya?ml|Podfile|Cartfile)$",
        r"requirements[-_.]\w+\.(?:txt|in)$",
        (r"(?:[^/]+\.(?:cs|fs)proj|packages\.config)$", r"<PackageReference|<package "),
        (r"(?:CMakeLists\.txt|meson\.build)$", r"find_package|dependency\("),
        names="dependencies",
    ),
    topic(
        # entry
        (
            *("entry point/main", "entrypoint", "main function/method/file/program/entry"),
            "program/execution start/begin where",
        ),
        "main program application executable binary command line cli execution point start",
        (r"(?:cmd/[^/]+/)?main\.go$", r"^func main\("),
        (r"(?:src/|crates/[^/]+/(?:src/)?|src/bin/[^/]*)?main\.rs$", r"^\s*(?:pub )?(?:async )?fn main\("),
        r"__main__\.py$",
        (r"(?:main|manage|app|cli|run)\.py$", "^if __name__ == .__main__"),
        (r"(?:app/)?Main\.hs$", r"^main\b"),
        (
            r"(?:Main|[^/]*Application|[^/]*App)\.(?:java|kt|scala)$",
            r"\bvoid main\(|fun main\(|def main\(|extends App\b",
        ),
        (r"Program\.(?:cs|fs|vb)$", r"Main\(|\bapp\.Run\(|EntryPoint"),
        (r"main\.(?:c|cc|cpp|cxx|m|swift|zig|dart|kt|scala|jl)$", r"\bmain\b|@main"),
        (rf"(?:pyproject\.toml|{_SETUP})$", r"\[project\.scripts\]|\[tool\.poetry\.scripts\]|console_scripts"),
        (r"package\.json$", r"\"(?:bin|main|exports)\"\s*:"),
        r"(?:src/)?index\.[cm]?[jt]s$",
        r"config\.ru$",
        is_of_code=True,
    ),
    topic(
        # environment
        ("environment variable", "env var/variable"),
        "read use example sample which required local",
        r"\.env\.(?:example|sample|template|dist|defaults?)$",
        is_of_code=True,
    ),
)

TOPICS = (*_OF_PEOPLE, *_OF_TOOLS, *_OF_LANGUAGES, *_OF_PROGRAM)
_HEADS = frozenset[str]().union(*(group for it in TOPICS for way in it.ways for group in way))


def topic_of(text: str, content: Sequence[str]) -> Topic | None:
    """Return the topic of a question about the project itself; None for a question about its code.

    Parameters:
        content: its words in lower case, without those like "how" and "the".
    """
    own = stemmed(" ".join(content)) if len(content) <= _MOST_WORDS else frozenset[str]()
    if _HEADS.isdisjoint(own):
        return None
    words = WORD.findall(text.lower())
    return _asked(own, own if len(words) == 1 else stemmed(" ".join(words)), is_name=len(words) == 1)


@lru_cache(maxsize=256)
def _asked(own: frozenset[str], words: frozenset[str], *, is_name: bool) -> Topic | None:
    if is_name:
        return next((it for it in TOPICS if own <= it.names), None)
    return next((it for it in TOPICS if own <= it.words and it.is_asked(words)), None)
