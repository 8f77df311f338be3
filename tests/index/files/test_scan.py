import os
import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cqm.index.files.scan import FoundFile, read_file, scan
from cqm.index.model.errors import ScanError, UnreadableFileError
from cqm.index.model.options import ScanOptions
from cqm.index.model.query import SkipReason

pytestmark = pytest.mark.processes

DEFAULT = ScanOptions()


def write(root: Path, *paths: str, text: str = "text\n") -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def kept(root: Path, options: ScanOptions = DEFAULT, below: list[str] | None = None) -> list[str]:
    return [file.path for file in scan(root, options, below) if file.skip is None]


def skipped(root: Path, options: ScanOptions = DEFAULT, below: list[str] | None = None) -> dict[str, SkipReason]:
    return {file.path: file.skip for file in scan(root, options, below) if file.skip is not None}


def test_files_come_in_order_with_their_size_and_time(tmp_path: Path) -> None:
    write(tmp_path, "b.py", "a/z.py", "a.py")
    (tmp_path / "b.py").write_bytes(b"12345")
    os.utime(tmp_path / "b.py", ns=(1, 1_234_567_890_123_456_789))
    files = list(scan(tmp_path, DEFAULT))
    assert [file.path for file in files] == ["a.py", "a/z.py", "b.py"]
    assert files[2] == FoundFile("b.py", 5, 1_234_567_890_123_456_789)


def test_dot_folders_and_folders_with_names_of_outputs_are_source(tmp_path: Path) -> None:
    paths = [
        ".github/workflows/ci.yml",
        ".storybook/main.ts",
        "bin/tool.py",
        "build/make.py",
        "build_tools/x.py",
        "builder/x.py",
        "coverage/x.py",
        "deps/x.py",
        "dist/x.py",
        "distribution/x.py",
        "env/x.py",
        "external/x.py",
        "lib/x.py",
        "obj/x.py",
        "out/x.py",
        "packages/x.py",
        "target/x.py",
        "third_party/x.py",
        "vendor/own/x.py",
        "venv/x.py",
    ]
    write(tmp_path, *paths)
    assert kept(tmp_path) == paths
    assert skipped(tmp_path) == {}


@pytest.mark.parametrize(
    ("evidence", "folder", "reason"),
    [
        ("", "node_modules", SkipReason.VENDORED),
        ("", "web/node_modules", SkipReason.VENDORED),
        ("vendor/modules.txt", "vendor", SkipReason.VENDORED),
        ("vendor/autoload.php", "vendor", SkipReason.VENDORED),
        (".venv/pyvenv.cfg", ".venv", SkipReason.VENDORED),
        ("my-env/pyvenv.cfg", "my-env", SkipReason.VENDORED),
        ("Pods/Manifest.lock", "Pods", SkipReason.VENDORED),
        ("mix.lock", "deps", SkipReason.VENDORED),
        ("", "__pycache__", SkipReason.BUILD_OUTPUT),
        ("", ".next", SkipReason.BUILD_OUTPUT),
        ("Cargo.toml", "target", SkipReason.BUILD_OUTPUT),
        ("sub/pom.xml", "sub/target", SkipReason.BUILD_OUTPUT),
        ("cache/CACHEDIR.TAG", "cache", SkipReason.BUILD_OUTPUT),
        ("make/CMakeCache.txt", "make", SkipReason.BUILD_OUTPUT),
        ("", ".ssh", SkipReason.SECRET),
    ],
)
def test_a_folder_that_a_tool_filled_is_one_entry(
    tmp_path: Path, evidence: str, folder: str, reason: SkipReason
) -> None:
    write(tmp_path, "src/app.py", f"{folder}/a.py", f"{folder}/deep/b.py")
    if evidence:
        write(tmp_path, evidence)
    assert {path: why for path, why in skipped(tmp_path).items() if why is not SkipReason.LOCK_FILE} == {folder: reason}
    assert "src/app.py" in kept(tmp_path)
    assert not [path for path in kept(tmp_path) if path.startswith(f"{folder}/")]
    assert skipped(tmp_path, below=[f"{folder}/deep/b.py"]) == {folder: reason}
    assert {"a.py", "deep/b.py"} <= {*kept(tmp_path / folder)}, "who names the folder wants it"


def test_a_build_by_gradle_is_told_from_a_source_folder_of_its_name(tmp_path: Path) -> None:
    write(tmp_path, "app/build.gradle.kts", "app/build/tmp/x.txt", "tool/build/tmp/x.py")
    assert skipped(tmp_path) == {"app/build": SkipReason.BUILD_OUTPUT}


def test_a_cmake_build_inside_its_source_folder_is_source(tmp_path: Path) -> None:
    write(tmp_path, "lib/CMakeCache.txt", "lib/CMakeLists.txt", "lib/a.c")
    assert "lib/a.c" in kept(tmp_path)


def test_the_options_bring_back_what_tools_wrote(tmp_path: Path) -> None:
    write(tmp_path, "node_modules/a.js", "__pycache__/b.py", "yarn.lock", "app.min.js")
    assert kept(tmp_path, ScanOptions(include_vendored=True)) == ["node_modules/a.js"]
    assert kept(tmp_path, ScanOptions(include_generated="all")) == ["__pycache__/b.py", "app.min.js"]
    assert kept(tmp_path, ScanOptions(include_lock_files=True)) == ["yarn.lock"]


def test_lock_files_are_skipped_by_name(tmp_path: Path) -> None:
    write(tmp_path, "package-lock.json", "Cargo.lock", "sub/go.sum", "lock.py", "flock.lock")
    assert skipped(tmp_path) == dict.fromkeys(["Cargo.lock", "package-lock.json", "sub/go.sum"], SkipReason.LOCK_FILE)
    assert kept(tmp_path) == ["flock.lock", "lock.py"]


def test_secrets_are_skipped_by_name_and_their_examples_are_not(tmp_path: Path) -> None:
    secret = [
        ".aws/credentials",
        ".docker/config.json",
        ".env",
        ".env.local",
        ".env.production",
        ".envrc",
        ".git-credentials",
        ".netrc",
        "certificate/server.key",
        "certificate/server.pem",
        "client_secret_123.json",
        "credentials.json",
        "id_ed25519",
        "keys/release.keystore",
        "prod.env",
        "prod.tfvars",
        "secrets.yml",
        "service-account.json",
        "store.p12",
        "terraform.tfstate",
    ]
    public = [
        ".aws/task-definition.json",
        ".env.example",
        ".env.local.example",
        ".env.sample",
        ".env.template",
        "credentials.py",
        "environment.py",
        "id_ed25519.pub",
        "keyboard.py",
        "prod.tfvars.example",
        "secrets.py",
        "src/env.d.ts",
    ]
    write(tmp_path, *secret, *public)
    assert skipped(tmp_path) == dict.fromkeys(secret, SkipReason.SECRET)
    assert kept(tmp_path) == public


def test_no_option_brings_secrets_back(tmp_path: Path) -> None:
    write(tmp_path, ".env", ".ssh/config")
    write(tmp_path, ".cqmignore", text="!.env\n")
    options = ScanOptions(include_generated="all", include_vendored=True, include_lock_files=True, use_gitignore=False)
    assert kept(tmp_path, options) == [".cqmignore"]
    assert kept(tmp_path / ".env") == []


@pytest.mark.fault("1 GB file")
def test_a_file_over_the_size_limit_is_skipped(tmp_path: Path) -> None:
    write(tmp_path, "small.py", text="x" * 100)
    write(tmp_path, "large.py", text="x" * 101)
    assert skipped(tmp_path, ScanOptions(max_file_bytes=100)) == {"large.py": SkipReason.TOO_LARGE}
    write(tmp_path, "changes.md", text="# One\n" + "x" * 300)
    write(tmp_path, "large.md", text="# One\n" + "x" * 500)
    assert skipped(tmp_path, ScanOptions(max_file_bytes=100)) == {
        "large.py": SkipReason.TOO_LARGE,
        "large.md": SkipReason.TOO_LARGE,
    }


def test_a_dump_may_be_larger_if_what_it_defines_is_not(tmp_path: Path) -> None:
    rows = "INSERT INTO a VALUES " + ", ".join(f"({n}, 'x')" for n in range(30)) + ";\n"
    write(tmp_path, "dump.sql", text=f"CREATE TABLE a (b int);\n{rows * 3}CREATE VIEW c AS SELECT 1;\n")
    write(tmp_path, "large.sql", text="CREATE TABLE a (b int);\n" * 9)
    write(tmp_path, "small.sql", text="INSERT INTO a VALUES (1);\n")
    options = ScanOptions(max_file_bytes=100)
    assert read_file(tmp_path, "large.sql", options).skip is SkipReason.TOO_LARGE
    assert "VALUES (1);" in read_file(tmp_path, "small.sql", options).text
    dump = read_file(tmp_path, "dump.sql", ScanOptions(max_file_bytes=240)).text.split("\n")
    assert (dump[0], dump[2:]) == ("CREATE TABLE a (b int);", ["", "", "CREATE VIEW c AS SELECT 1;", ""])
    assert skipped(tmp_path, ScanOptions(max_file_bytes=60)) == {"dump.sql": SkipReason.TOO_LARGE}


def test_a_description_of_an_interface_may_be_larger_than_other_data(tmp_path: Path) -> None:
    write(tmp_path, "api.json", text='{"components": "' + "x" * 300 + '",\n "openapi": "3.0.0", "paths": {}}')
    write(tmp_path, "data.json", text='{"rows": ["' + "x" * 300 + '"]}')
    options = ScanOptions(max_file_bytes=100)
    reasons = {name: read_file(tmp_path, name, options).skip for name in ("api.json", "data.json")}
    assert reasons == {"api.json": None, "data.json": SkipReason.TOO_LARGE}
    assert read_file(tmp_path, "api.json", ScanOptions(max_file_bytes=30)).skip is SkipReason.TOO_LARGE


def test_cqmignore_leaves_out_and_brings_back_what_git_ignores(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "b.log", "keep.log", "sub/c.py", "sub/d.py", "out/e.py")
    write(tmp_path, ".gitignore", text="*.log\nout/\n")
    write(tmp_path, ".cqmignore", text="!keep.log\n!out/\n")
    write(tmp_path, "sub/.cqmignore", text="c.py\n")
    assert [path for path in kept(tmp_path) if "ignore" not in path] == ["a.py", "keep.log", "out/e.py", "sub/d.py"]
    assert kept(tmp_path, below=["keep.log", "b.log", "sub/c.py", "out/e.py"]) == ["keep.log", "out/e.py"]


def test_cqmignore_of_a_folder_above_holds(tmp_path: Path) -> None:
    write(tmp_path, ".cqmignore", text="*.log\n")
    write(tmp_path, "project/a.py", "project/b.log")
    assert kept(tmp_path / "project") == ["a.py"]
    assert kept(tmp_path / "project", below=["b.log", "a.py"]) == ["a.py"]


def test_gitignore_holds_outside_of_a_repository_but_not_from_above_the_root(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", text="*\n")
    write(tmp_path, "project/a.py", "project/b.log", "project/sub/c.log", "project/sub/d.py")
    write(tmp_path, "project/.gitignore", text="*.log\n")
    assert kept(tmp_path / "project") == [".gitignore", "a.py", "sub/d.py"]
    assert kept(tmp_path / "project", below=["sub/c.log", "sub/d.py"]) == ["sub/d.py"]


def test_ignore_files_of_other_tools_do_not_count(tmp_path: Path) -> None:
    write(tmp_path, ".ignore", ".rgignore", text="*.py\n")
    write(tmp_path, "a.py")
    assert "a.py" in kept(tmp_path)


def test_exclude_wins_over_every_ignore_file(tmp_path: Path) -> None:
    write(tmp_path, ".cqmignore", text="!a.py\n!sub/\n")
    write(tmp_path, "a.py", "b.py", "sub/c.py", "deep/sub/d.py")
    options = ScanOptions(exclude=("a.py", "/sub/"))
    assert kept(tmp_path, options) == [".cqmignore", "b.py", "deep/sub/d.py"]
    assert kept(tmp_path, options, ["sub/c.py", "deep/sub/d.py"]) == ["deep/sub/d.py"]


@pytest.mark.parametrize("pattern", ["!a.py", "[z-a]", "{a"])
def test_an_exclude_pattern_that_cannot_work_is_refused_by_name(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(ScanError) as caught:
        scan(tmp_path, ScanOptions(exclude=(pattern,)))
    assert repr(pattern) in caught.value.message
    assert caught.value.remedy


@pytest.mark.fault("odd files")
def test_links_are_never_followed(tmp_path: Path) -> None:
    write(tmp_path, "outside/secret.py", "root/a/real.py")
    root = tmp_path / "root"
    (root / "file.py").symlink_to(tmp_path / "outside/secret.py")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "inner.py").symlink_to("a/real.py")
    (root / "dangling.py").symlink_to("nowhere")
    (root / "a/loop").symlink_to("..")
    assert kept(root) == ["a/real.py"]
    links = ["a/loop", "dangling.py", "file.py", "folder", "inner.py"]
    assert skipped(root) == dict.fromkeys(links, SkipReason.OUTSIDE_ROOT)
    below = ["folder/secret.py", "a/loop/a/real.py"]
    assert kept(root, below=below) == []
    assert skipped(root, below=below) == dict.fromkeys(["a/loop", "folder"], SkipReason.OUTSIDE_ROOT)
    for path in ("file.py", "folder/secret.py", "inner.py", "../outside/secret.py"):
        assert read_file(root, path, DEFAULT).skip is SkipReason.OUTSIDE_ROOT
        assert read_file(root, path, DEFAULT).text == ""


@pytest.mark.skipif(os.name != "nt", reason="only Windows has junctions")
def test_junctions_are_not_followed(tmp_path: Path) -> None:
    """To Windows they are folders, no links: one led out of the root, another to itself without end."""
    write(tmp_path, "outside/secret.py", "root/a/real.py")
    root = tmp_path / "root"
    for name, target in (("out", tmp_path / "outside"), ("a/loop", root)):
        subprocess.run(["cmd", "/c", "mklink", "/J", str(root / name), str(target)], check=True)
    assert kept(root) == ["a/real.py"]
    assert skipped(root) == dict.fromkeys(["a/loop", "out"], SkipReason.OUTSIDE_ROOT)
    assert skipped(root, below=["out/secret.py"]) == {"out": SkipReason.OUTSIDE_ROOT}


def test_a_link_as_the_root_is_the_folder_that_it_leads_to(tmp_path: Path) -> None:
    write(tmp_path, "real/a.py")
    (tmp_path / "link").symlink_to("real")
    assert kept(tmp_path / "link") == ["a.py"]
    assert read_file((tmp_path / "link").resolve(), "a.py", DEFAULT).text == "text\n"
    with pytest.raises(UnreadableFileError):
        # Whoever reads resolved the root before: it has become a link since.
        read_file(tmp_path / "link", "a.py", DEFAULT)


@pytest.mark.fault("odd files")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipes_and_sockets_are_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.py")
        assert skipped(tmp_path) == dict.fromkeys(["pipe.py", "socket.py"], SkipReason.NOT_A_FILE)
        assert read_file(tmp_path, "pipe.py", DEFAULT).skip is SkipReason.NOT_A_FILE


def test_odd_names_are_carried_or_reported(tmp_path: Path) -> None:
    write(tmp_path, "new\nline.py", "日本語.py", " space .py", "back\\slash.py")
    bad = os.fsencode(tmp_path) + b"/bad\xff.py"
    try:
        Path(os.fsdecode(bad)).write_text("text\n")
    except OSError:
        pytest.skip("this file system takes no such names")
    assert kept(tmp_path) == [" space .py", "back\\slash.py", "new\nline.py", "日本語.py"]
    assert skipped(tmp_path) == {"bad\\xff.py": SkipReason.UNDECODABLE}
    assert kept(tmp_path, below=["new\nline.py", "日本語.py"]) == ["new\nline.py", "日本語.py"]


def test_below_looks_at_nothing_else(tmp_path: Path) -> None:
    write(tmp_path, "a/b/c.py", "a/b/d.py", "a/e.py", "f.py", "a/b.py")
    assert kept(tmp_path, below=["a/b/c.py"]) == ["a/b/c.py"]
    assert kept(tmp_path, below=["a/b"]) == ["a/b/c.py", "a/b/d.py"]
    assert kept(tmp_path, below=["./a//b/", "f.py", "gone.py", "gone/too.py", "f.py/below"]) == [
        "a/b/c.py",
        "a/b/d.py",
        "f.py",
    ]
    assert kept(tmp_path, below=[]) == []
    assert kept(tmp_path, below=["../x", "..", "a/../../y", str(tmp_path / "f.py"), "/"]) == []
    assert kept(tmp_path, below=["."]) == kept(tmp_path, below=[""]) == kept(tmp_path)


def test_the_stores_of_version_control_and_our_own_are_no_part_of_the_tree(tmp_path: Path) -> None:
    write(tmp_path, "a.py", ".hg/store", ".svn/entries", ".cqm/index", "sub/.git/config", ".gitattributes")
    assert kept(tmp_path) == [".gitattributes", "a.py"]
    assert skipped(tmp_path) == {}
    assert kept(tmp_path, below=[".hg/store", ".cqm"]) == []


def test_a_single_file_can_be_the_root(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "b.py")
    (file,) = scan(tmp_path / "a.py", DEFAULT)
    assert (file.path, file.size, file.skip) == ("a.py", 5, None)
    assert read_file(tmp_path / "a.py", "a.py", DEFAULT).text == "text\n"


def test_a_root_that_is_missing_or_no_file_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for root in (tmp_path / "missing", Path(os.devnull), tmp_path / "loop"):
        with pytest.raises(ScanError, match=str(root)) as caught:
            scan(root, DEFAULT)
        assert caught.value.remedy


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A tree to be read as a user to whom permissions apply, which they don't to root."""
    if os.name != "posix":
        pytest.skip("permissions are others here")
    is_root = os.geteuid() == 0
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        root.chmod(0o755)
        write(root, "open/a.py", "closed/b.py", "closed.py", "open/c.py")
        # An index that was opened in this process has left it a mask by which others may read nothing.
        (root / "open").chmod(0o755)
        for path in root.glob("open/*"):
            path.chmod(0o644)
        (root / "closed").chmod(0)
        (root / "closed.py").chmod(0)
        if is_root:
            os.seteuid(65534)
        try:
            yield root
        finally:
            if is_root:
                os.seteuid(0)
            (root / "closed").chmod(stat.S_IRWXU)


@pytest.mark.fault("permission lost")
def test_what_may_not_be_read_is_reported_and_the_rest_goes_on(unprivileged: Path) -> None:
    assert kept(unprivileged) == ["closed", "closed.py", "open/a.py", "open/c.py"]
    for path in ("closed", "closed.py"):
        with pytest.raises(UnreadableFileError, match=f"^{path} cannot be read: Permission denied") as caught:
            read_file(unprivileged, path, DEFAULT)
        assert caught.value.remedy


@pytest.mark.fault("permission lost")
def test_a_root_that_may_not_be_read_is_refused(unprivileged: Path) -> None:
    with pytest.raises(ScanError, match="permission denied"):
        scan(unprivileged / "closed", DEFAULT)


@pytest.mark.fault("file vanishes")
def test_a_file_that_vanishes_between_scan_and_reading_is_reported_by_name(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match=r"^gone\.py cannot be read: No such file") as caught:
        read_file(tmp_path, "gone.py", DEFAULT)
    assert caught.value.retryable


def test_a_file_is_read_with_its_text_hash_and_time(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes("\ufeffé\r\n".encode())
    (tmp_path / "b.py").write_bytes("é\r\n".encode("utf-16"))
    one, other = (read_file(tmp_path, path, DEFAULT) for path in ("a.py", "b.py"))
    assert (one.text, one.encoding, one.size, one.skip) == ("é\r\n", "utf-8", 7, None)
    assert one.mtime_ns == (tmp_path / "a.py").stat().st_mtime_ns
    assert (other.text, len(other.content_hash)) == (one.text, 32)
    assert one.content_hash != other.content_hash
    (tmp_path / "a.py").touch()
    assert read_file(tmp_path, "a.py", DEFAULT).content_hash == one.content_hash


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.py", b"text\x00text", SkipReason.BINARY),
        ("a.png", b"\x89PNG\r\n\x1a\n\x00\x00", SkipReason.BINARY),
        ("a.py", b"\xff\xfea", SkipReason.UNDECODABLE),
        ("crd.yaml", b"# Code generated by x. DO NOT EDIT.\na: 1\n", SkipReason.GENERATED),
        ("requirements.txt", b"# This file is autogenerated by pip-compile\na==1\n", SkipReason.GENERATED),
        ("tool.lock", b"# @generated by tool\n", SkipReason.GENERATED),
        ("a.js", b"function a(){};" * 1000, SkipReason.MINIFIED),
        ("server.txt", b"-----BEGIN RSA PRIVATE KEY-----\nabc\n", SkipReason.SECRET),
        (".npmrc", b"//registry.example.org/:_authToken=npm_abc\n", SkipReason.SECRET),
        ("pip.conf", b"[global]\nindex-url = https://me:word@pypi.example.org\n", SkipReason.SECRET),
        ("large.py", b"x" * 20_001, SkipReason.TOO_LARGE),
    ],
)
def test_content_is_a_reason_to_skip(tmp_path: Path, name: str, data: bytes, reason: SkipReason) -> None:
    (tmp_path / name).write_bytes(data)
    read = read_file(tmp_path, name, ScanOptions(max_file_bytes=20_000))
    assert (read.skip, read.text, read.content_hash) == (reason, "", "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".npmrc", "registry=https://registry.example.org\n//r.example.org/:_authToken=${TOKEN}\n"),
        ("keys.py", "KEY = '''-----BEGIN RSA PRIVATE KEY-----'''\n"),
        ("public.txt", "-----BEGIN PUBLIC KEY-----\nabc\n"),
        ("empty.py", ""),
    ],
)
def test_content_that_only_resembles_a_secret_is_read(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, text=text)
    assert read_file(tmp_path, name, DEFAULT).skip is None


def test_generated_code_and_documents_are_read_unless_an_option_leaves_them_out(tmp_path: Path) -> None:
    write(tmp_path, "a.go", text="// Code generated by x. DO NOT EDIT.\n")
    write(tmp_path, "page.md", text="<!-- @generated -->\n")
    for name in ("a.go", "page.md"):
        assert read_file(tmp_path, name, DEFAULT).is_generated
        assert read_file(tmp_path, name, ScanOptions(include_generated="none")).skip is SkipReason.GENERATED
    write(tmp_path, "a_pb2.py")
    assert kept(tmp_path) == ["a.go", "a_pb2.py", "page.md"]
    assert skipped(tmp_path, ScanOptions(include_generated="none")) == {"a_pb2.py": SkipReason.GENERATED}


def test_all_that_tools_wrote_is_read_when_wanted(tmp_path: Path) -> None:
    write(tmp_path, "crd.yaml", text="# Code generated by x. DO NOT EDIT.\na: 1\n")
    read = read_file(tmp_path, "crd.yaml", ScanOptions(include_generated="all"))
    assert (read.skip, read.is_generated) == (None, True)


def test_notebooks_and_documents_may_be_larger_than_programs(tmp_path: Path) -> None:
    write(tmp_path, "a.ipynb", "a.org", "a.tex", "a.py", text="x" * 350)
    assert set(skipped(tmp_path, ScanOptions(max_file_bytes=100))) == {"a.py"}
    assert set(skipped(tmp_path, ScanOptions(max_file_bytes=50))) == {"a.py", "a.org", "a.tex"}
