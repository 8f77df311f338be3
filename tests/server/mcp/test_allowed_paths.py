"""Which paths a client may name, and what a refusal says."""

from pathlib import Path

import pytest

from cqm.server.errors import PathRefusedError
from cqm.server.mcp.allowed_paths import ClientRoots, Guard, make_guard, roots_of_uris


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "project").resolve()
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("pass\n")
    return folder


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path.resolve() / "secret.txt"
    file.write_text("secret\n")
    return file


def admitted(guard: Guard, path: str | None, *named: Path) -> Path:
    return guard.admit(path, ClientRoots(named))[0]


def test_a_path_below_a_granted_root_is_admitted(project: Path) -> None:
    guard = make_guard([project])
    assert guard.admit(str(project / "src" / "app.py")) == (project / "src" / "app.py", project)


def test_a_relative_path_starts_at_the_root_that_has_it(project: Path, tmp_path: Path) -> None:
    other = tmp_path.resolve() / "other"
    other.mkdir()
    assert admitted(make_guard([other, project]), "src/app.py") == project / "src" / "app.py"


def test_no_path_means_the_only_root(project: Path) -> None:
    assert admitted(make_guard([project]), None) == project
    assert admitted(make_guard([project]), "  ") == project


def test_no_path_among_several_roots_asks_which(project: Path, tmp_path: Path) -> None:
    with pytest.raises(PathRefusedError, match=r"one of: .*project, "):
        make_guard([project, tmp_path]).admit(None)


def test_a_refusal_names_the_path_the_roots_and_the_way_to_allow_it(project: Path, secret: Path) -> None:
    with pytest.raises(PathRefusedError) as refusal:
        make_guard([project]).admit(str(secret))
    for part in (str(secret), str(project), "--root", "cqm.yml", "MCP roots"):
        assert part in str(refusal.value)
    with pytest.raises(PathRefusedError) as over_http:
        make_guard([project], ask_clients=False).admit(str(secret))
    assert "--http" in str(over_http.value)
    assert "MCP roots" not in str(over_http.value)


@pytest.mark.parametrize("path", ["../secret.txt", "src/../../secret.txt", "/", "..", "~", "src\0"])
def test_no_spelling_leads_out_of_the_roots(project: Path, secret: Path, path: str) -> None:
    assert secret.exists()
    with pytest.raises(PathRefusedError):
        make_guard([project]).admit(path)


def test_a_link_that_leads_out_of_the_roots_is_refused(project: Path, secret: Path) -> None:
    (project / "link.txt").symlink_to(secret)
    (project / "folder").symlink_to(secret.parent)
    for path in ("link.txt", "folder", "folder/secret.txt", str(project / "link.txt")):
        with pytest.raises(PathRefusedError, match="outside"):
            make_guard([project]).admit(path)


def test_a_root_that_is_a_link_admits_what_it_leads_to(project: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(project)
    assert admitted(make_guard([link]), str(link / "src")) == project / "src"
    assert admitted(make_guard([link]), str(project / "src")) == project / "src"


def test_a_folder_whose_name_only_begins_like_a_root_is_outside(project: Path) -> None:
    (project.parent / "project-secrets").mkdir()
    with pytest.raises(PathRefusedError, match="outside"):
        make_guard([project]).admit(str(project.parent / "project-secrets"))


def test_a_path_that_does_not_exist_is_told_apart_from_a_refused_one(project: Path, secret: Path) -> None:
    guard = make_guard([project])
    with pytest.raises(PathRefusedError, match="expected an existing file or folder"):
        guard.admit("src/none.py")
    with pytest.raises(PathRefusedError, match="outside"):
        guard.admit(str(secret.parent / "none.txt"))


def test_the_roots_of_a_client_count_beside_the_granted_ones(project: Path, tmp_path: Path) -> None:
    other = tmp_path.resolve() / "other"
    other.mkdir()
    assert make_guard([project]).roots(ClientRoots((other,))) == (project, other)
    assert admitted(make_guard([]), None, other) == other


def test_the_roots_of_a_client_that_comes_over_the_network_do_not_count(project: Path, secret: Path) -> None:
    guard = make_guard([project], ask_clients=False)
    with pytest.raises(PathRefusedError, match="outside"):
        guard.admit(str(secret), ClientRoots((secret.parent,)))
    assert guard.decides_alone(str(secret))


def test_the_working_folder_counts_when_nobody_grants_any(project: Path, tmp_path: Path) -> None:
    assert admitted(make_guard([], working=project), None) == project
    assert make_guard([], working=project).roots(ClientRoots((tmp_path,))) == (tmp_path,)


@pytest.mark.parametrize("folder", [Path("/"), Path.home()])
def test_the_home_folder_and_the_top_of_a_disk_are_never_roots_by_chance(folder: Path) -> None:
    with pytest.raises(PathRefusedError, match="--root"):
        make_guard([], working=folder).admit(None)
    assert make_guard([folder]).roots() == (folder.resolve(),)


def test_a_granted_root_that_does_not_exist_is_refused_until_it_does(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "none"
    guard = make_guard([root])
    with pytest.raises(PathRefusedError, match="none that is served does not exist"):
        guard.admit(None)
    root.mkdir()
    assert admitted(guard, None) == root


def test_a_granted_link_is_what_it_leads_to_now(project: Path, tmp_path: Path) -> None:
    other = tmp_path.resolve() / "other"
    other.mkdir()
    link = tmp_path / "current"
    link.symlink_to(project)
    guard = make_guard([link])
    assert admitted(guard, None) == admitted(guard, str(link)) == project
    link.unlink()
    link.symlink_to(other)
    assert admitted(guard, None) == admitted(guard, str(link)) == other
    with pytest.raises(PathRefusedError, match="outside the allowed folders"):
        guard.admit(str(project))


def test_a_link_of_a_project_that_is_switched_to_a_folder_outside_of_it_is_refused(project: Path, secret: Path) -> None:
    (project / ".git").mkdir()
    link = project / "current"
    link.symlink_to(project / "src")
    guard = make_guard([link])
    assert admitted(guard, None) == project / "src"
    link.unlink()
    link.symlink_to(secret.parent)
    with pytest.raises(PathRefusedError, match=rf"leads out of {project} now\. Serve {secret.parent} itself"):
        guard.admit(None)


def test_the_client_is_asked_only_when_its_answer_could_matter(project: Path, secret: Path) -> None:
    assert make_guard([project]).decides_alone("src/app.py")
    assert make_guard([project]).decides_alone(None)
    assert not make_guard([project]).decides_alone(str(secret))
    assert not make_guard([], working=project).decides_alone("src/app.py")


def test_the_nearest_root_is_told_for_nested_roots(project: Path) -> None:
    assert make_guard([project, project / "src"]).admit("src/app.py")[1] == project / "src"


def test_uris_become_folders_and_what_is_no_folder_here_is_left_out(project: Path) -> None:
    spaced = project / "with space & ü"
    spaced.mkdir()
    uris = [spaced.as_uri(), "https://example.com/x", "file://server/share", "file:///no/such/folder"]
    assert roots_of_uris(uris).folders == (spaced,)


@pytest.mark.parametrize(
    "path", ["a" * 5000, "a/" * 2500 + "b", "a\0b", "a\ud800b", "~nobody-of-this-name/x", "a\nb", "/" + "b" * 300]
)
def test_a_path_that_no_file_can_have_is_refused_in_one_short_line(tmp_path: Path, path: str) -> None:
    with pytest.raises(PathRefusedError) as caught:
        make_guard([tmp_path]).admit(path)
    assert len(caught.value.message) < 400 + len(str(tmp_path))
    assert caught.value.message.isprintable()


def test_a_uri_that_no_file_can_have_names_no_folder() -> None:
    assert not roots_of_uris(["file:///" + "a" * 5000, "file:///a%00b", "file:///%ff%fe", "file://[x/"]).folders


def test_a_server_started_inside_a_project_serves_all_of_it(project: Path) -> None:
    (project / ".git").mkdir()
    inside = project / "src"
    inside.mkdir(exist_ok=True)
    assert make_guard((), working=inside).roots() == (project,)
    assert make_guard((inside,), working=inside).roots() == (inside,)


def two_roots(project: Path) -> tuple[Guard, Path]:
    other = project.parent / "other"
    for folder in ("src", "project/src"):
        (other / folder).mkdir(parents=True)
    (other / "src" / "client.py").write_text("pass\n")
    return make_guard([other, project]), other


@pytest.mark.parametrize("path", ["src/app.py:20", "src/app.py:3-9", "src/app.py:3:14", "src/app.py#L3-L9"])
def test_lines_behind_a_path_are_of_its_file(project: Path, path: str) -> None:
    assert admitted(make_guard([project]), path) == project / "src" / "app.py"


@pytest.mark.parametrize("path", ["src/**", "src/*", "src/"])
def test_all_of_a_folder_is_the_folder(project: Path, path: str) -> None:
    assert admitted(make_guard([project]), path) == project / "src"


def test_a_file_whose_name_ends_like_lines_is_itself(project: Path) -> None:
    (project / "src" / "app.py:20").write_text("pass\n")
    assert admitted(make_guard([project]), "src/app.py:20") == project / "src" / "app.py:20"


def test_among_several_roots_the_name_of_one_is_that_root_although_another_has_such_a_folder(project: Path) -> None:
    guard, _ = two_roots(project)
    assert admitted(guard, "project") == project
    assert admitted(guard, "project/src/app.py") == project / "src" / "app.py"


def test_a_folder_that_several_roots_have_is_meant_in_each(project: Path) -> None:
    guard, other = two_roots(project)
    assert guard.places("src") == (str(other / "src"), str(project / "src"))
    assert guard.places("src/app.py") == (str(project / "src" / "app.py"),)
    assert guard.places("project/src") == ("project/src",)


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("othr", "other"),
        ("OTHER", "other"),
        ("other/scr", "other/src"),
        ("src/clint.py", "other/src/client.py"),
        ("project/src/ap.py", "project/src/app.py"),
    ],
)
def test_a_slip_in_a_path_is_told_the_nearest(project: Path, path: str, near: str) -> None:
    guard, _ = two_roots(project)
    with pytest.raises(PathRefusedError, match=rf"Did you mean {near}\? "):
        guard.admit(path)


def test_nothing_outside_of_the_roots_and_nothing_hidden_is_told_as_near(project: Path, secret: Path) -> None:
    (project / ".env").write_text("KEY=1\n")
    for path in ("../secrt.txt", str(secret)[:-1], ".en", "src/../../secret.tx"):
        with pytest.raises(PathRefusedError) as refusal:
            make_guard([project]).admit(path)
        assert "Did you mean" not in str(refusal.value)
