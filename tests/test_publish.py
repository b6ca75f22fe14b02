"""Publishing to a local server that speaks the Hub's API: what goes, what mustn't, faults, and loading back."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from canlegalrag import publish
from canlegalrag.benchmark import load
from canlegalrag.build import build
from canlegalrag.errors import BenchmarkError, InputError
from canlegalrag.hub import repository as hub_module
from canlegalrag.publish import plan, push

# The client uploads large files in a way that its own library frowns upon.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

CARD = "---\ntitle: a Space\nsdk: gradio\napp_file: app.py\n---\n\n# A Space\n"
ROOT = Path(__file__).parents[1]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with a Space and two metrics."""
    for folder in ("space", "metrics/one", "metrics/two"):
        (tmp_path / folder / "examples").mkdir(parents=True)
        (tmp_path / folder / "README.md").write_text(CARD)
        (tmp_path / folder / "app.py").write_text(f"print('{folder} é')\n")
        (tmp_path / folder / "requirements.txt").write_text("canlegalrag\n")
        (tmp_path / folder / "examples" / "run.jsonl").write_text("")
        (tmp_path / folder / "__pycache__").mkdir()
        (tmp_path / folder / "__pycache__" / "app.pyc").write_bytes(b"\0")
        (tmp_path / folder / ".gradio").mkdir()
        (tmp_path / folder / ".gradio" / "cache").write_text("x")
        (tmp_path / folder / "half.tmp").write_text("x")
    (tmp_path / "metrics" / "README.md").write_text("not a metric")
    (tmp_path / "metrics" / "__pycache__").mkdir()
    return tmp_path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("clone")
    build(load("sample"), root / "hf_dataset")
    return root


# The plan


def test_a_plan_lists_what_would_go(clone: Path) -> None:
    (found,) = plan("space", clone, "org/name")
    assert [path for path, _, _ in found.files] == ["README.md", "app.py", "examples/run.jsonl", "requirements.txt"]
    assert found.repo_type == "space" and found.repo == "org/name"
    assert found.total == sum(p.stat().st_size for p in clone.glob("space/*.*") if p.suffix != ".tmp" and p.is_file())
    assert found.message.startswith("space (canlegalrag 0.")
    assert found.files[2][2] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_each_metric_is_a_space_of_its_own(clone: Path) -> None:
    assert [(p.repo, p.repo_type, len(p.files)) for p in plan("metrics", clone, "org")] == [
        ("org/one", "space", 4),
        ("org/two", "space", 4),
    ]


def test_the_clones_own_metrics_can_be_published() -> None:
    found = plan("metrics", ROOT, "org")
    names = {path.name for path in (ROOT / "metrics").iterdir() if (path / "app.py").exists()}
    assert {p.repo for p in found} == {f"org/{name}" for name in names}
    for one in found:
        assert f"{one.repo.split('/')[1]}.py" in [path for path, _, _ in one.files]


def test_the_clones_own_dataset_can_be_published() -> None:
    (found,) = plan("dataset", ROOT, "org/name")
    assert {"README.md", "manifest.json", "data/queries.parquet"} <= {path for path, _, _ in found.files}
    assert load("sample").fingerprint[:16] in found.message


@pytest.mark.parametrize(
    ("what", "repo", "fault"),
    [
        ("model", "org/name", "one of space, dataset, metrics"),
        ("space", "name", "--repo owner/name"),
        ("metrics", "org/name", "--repo owner"),
        ("dataset", "org/name", "no such folder.*--root"),
        ("space", "own er/name", "is no name of a repository"),  # said by the dry run, not first by the push
        ("space", "org/..", "is no name of a repository"),
        ("space", "/", "is no name of a repository"),
        ("metrics", "", "is no name of a repository"),
        ("metrics", "..", "is no name of a repository"),
    ],
)
def test_misuse(what: str, repo: str, fault: str, clone: Path) -> None:
    with pytest.raises(InputError, match=fault):
        plan(what, clone, repo)


def token(start: str) -> str:
    """What looks like a token; put together here, so that no scanner stumbles over this file."""
    return start + "a1B2c3D4e5" * 4


BAD = {
    "a token": (
        lambda f: (f / "config.py").write_text(f"TOKEN = '{token('hf' + '_')}'"),
        "config.py: holds what looks",
    ),
    "another": (lambda f: (f / "x.json").write_text(token("sk" + "-")), "x.json: holds what looks"),
    "in UTF-16": (lambda f: (f / "x.txt").write_text(token("hf" + "_"), "utf-16"), r"x\.txt: holds what looks"),
    "a key": (lambda f: (f / "x").write_text("-----BEGIN RSA PRIVATE" + " KEY-----"), "x: holds what looks"),
    "an env": (lambda f: (f / ".env").write_text(""), r"\.env: looks like a secret"),
    "prod.env": (lambda f: (f / "prod.env").write_text(""), r"prod\.env: looks like a secret"),
    "secrets": (lambda f: (f / "examples/secrets.toml").write_text(""), r"examples/secrets\.toml: looks like a secret"),
    "pem": (lambda f: (f / "me.pem").write_text(""), r"me\.pem: looks like a secret"),
    "a link": (lambda f: (f / "data").symlink_to(f.parent), "data: is a link out"),
    "a linked file": (lambda f: (f / "etc").symlink_to("/etc/hostname"), "etc: is a link out"),
    "a link within": (lambda f: (f / "more").symlink_to(f / "examples"), "more: is no file"),
    "a link to nothing": (lambda f: (f / "gone").symlink_to(f / "nothing"), "gone: is no file"),
    "a pipe": (lambda f: os.mkfifo(f / "pipe"), "pipe: is no file"),
    "large": (lambda f: (f / "model.bin").write_bytes(b"0" * 10_000_001), r"model\.bin: has more than 10,000,000"),
    "name": (lambda f: (f / "a\nb").write_text(""), "has a name that"),
    "no card": (lambda f: (f / "README.md").unlink(), r"README\.md: is missing"),
    "no front": (lambda f: (f / "README.md").write_text("# Space"), r"README\.md: doesn't begin with front matter"),
    "open front": (lambda f: (f / "README.md").write_text("---\nsdk: gradio\n"), "doesn't begin with front matter"),
    "empty front": (lambda f: (f / "README.md").write_text("---\n\n---\n"), "doesn't begin with front matter"),
    "other sdk": (lambda f: (f / "README.md").write_text("---\nsdk: docker\n---\n"), "doesn't say `sdk: gradio`"),
    "no app": (lambda f: (f / "app.py").unlink(), r"app\.py: is missing"),
    "no requirements": (lambda f: (f / "requirements.txt").unlink(), r"requirements\.txt: is missing"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_mustnt_be_published(name: str, clone: Path) -> None:
    spoil, fault = BAD[name]
    spoil(clone / "space")
    with pytest.raises(InputError, match=fault) as caught:
        plan("space", clone, "org/name")
    assert "a1B2c3D4e5" not in str(caught.value)


def test_all_faults_are_named_at_once(clone: Path) -> None:
    for n in range(30):
        (clone / "space" / f"{n}.pem").write_text("")
    (clone / "space" / "app.py").unlink()
    with pytest.raises(InputError) as caught:
        plan("space", clone, "org/name")
    lines = str(caught.value).splitlines()
    assert len(lines) == 23 and "app.py" in lines[1] and lines[21] == "  … and 11 more"


def test_a_card_with_windows_line_ends_and_a_mark(clone: Path) -> None:
    (clone / "space" / "README.md").write_bytes(b"\xef\xbb\xbf" + CARD.replace("\n", "\r\n").encode())
    assert plan("space", clone, "org/name")


def test_a_dataset_must_be_what_its_manifest_says(built: Path, tmp_path: Path) -> None:
    import shutil

    for name, spoil in {
        "hf_dataset.py": lambda f: (f / "hf_dataset.py").write_text("print()"),
        "stray": lambda f: (f / "data" / "stray.parquet").write_bytes(b"PAR1"),
        "changed": lambda f: (f / "data" / "qrels.parquet").write_bytes(b"PAR1"),
        "missing": lambda f: (f / "data" / "qrels.parquet").unlink(),
        "no manifest": lambda f: (f / "manifest.json").unlink(),
    }.items():
        shutil.copytree(built / "hf_dataset", tmp_path / name / "hf_dataset")
        spoil(tmp_path / name / "hf_dataset")
        with pytest.raises((InputError, BenchmarkError)):
            plan("dataset", tmp_path / name, "org/name")


# The push


@pytest.fixture(scope="module")
def wire():
    pytest.importorskip("huggingface_hub", reason="the Hub's client comes with the extra hub")
    spec = importlib.util.spec_from_file_location("local_hub", Path(__file__).with_name("hub.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules["local_hub"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def hub(wire, monkeypatch: pytest.MonkeyPatch):
    from huggingface_hub import constants

    server = wire.Hub()
    address = server.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "ENDPOINT", server.url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address)
    monkeypatch.setenv("HF_TOKEN", wire.WRITER)
    monkeypatch.setattr(hub_module, "sleep", lambda seconds: None)
    yield server
    server.close()


def there(found) -> dict[str, bytes]:
    return {path: (found.folder / path).read_bytes() for path, _, _ in found.files}


def test_a_push_creates_and_a_second_one_does_nothing(hub, clone: Path) -> None:
    (found,) = plan("space", clone, "org/name")
    done = push(found)
    repo = hub.repos["space", "org/name"]
    assert {".gitattributes": repo.files[".gitattributes"]} | there(found) == repo.files
    assert repo.sdk == "gradio" and not repo.private
    assert done.url == f"{hub.url}/spaces/org/name" and done.commit == repo.head
    assert done.uploaded == tuple(path for path, _, _ in found.files) and done.left == ()
    assert repo.commits[-1][1] == found.message
    again = push(found)
    assert (again.commit, again.uploaded) == (None, ()) and len(repo.commits) == 2


def test_only_what_differs_is_sent_and_only_prune_deletes(hub, clone: Path) -> None:
    push(plan("space", clone, "org/name")[0])
    repo = hub.repos["space", "org/name"]
    (clone / "space" / "app.py").write_text("print('new')\n")
    (clone / "space" / "examples" / "run.jsonl").unlink()
    found = plan("space", clone, "org/name")[0]
    done = push(found)
    assert done.uploaded == ("app.py",) and done.deleted == () and done.left == ("examples/run.jsonl",)
    assert "examples/run.jsonl" in repo.files
    pruned = push(found, prune=True)
    assert pruned.uploaded == () and pruned.deleted == ("examples/run.jsonl",) and pruned.left == ()
    assert {".gitattributes": repo.files[".gitattributes"]} | there(found) == repo.files
    assert len(repo.commits) == 4 and push(found, prune=True).commit is None


def test_large_files_are_known_by_their_checksums(hub, built: Path) -> None:
    (found,) = plan("dataset", built, "org/name")
    done = push(found)
    repo = hub.repos["dataset", "org/name"]
    assert {".gitattributes": repo.files[".gitattributes"]} | there(found) == repo.files
    assert len(hub.large) == sum(path.endswith(".parquet") for path in done.uploaded) > 5
    sent = hub.count("PUT", "/lfs/")
    assert push(found).commit is None and hub.count("PUT", "/lfs/") == sent
    assert found.message.startswith("canlegalrag-sample, fingerprint ")


def test_somebody_else_commits_in_between(hub, clone: Path) -> None:
    (found,) = plan("space", clone, "org/name")
    repo = hub.add("org/name", "space")
    hub.before_commit = lambda: hub.put(repo, "theirs.txt", b"kept")
    done = push(found)
    assert repo.files["theirs.txt"] == b"kept" and done.left == ("theirs.txt",)
    assert [message for _, message, _ in repo.commits] == ["initial commit", "by hand: theirs.txt", found.message]


@pytest.mark.parametrize("then", ["drop", "lost", 502])
@pytest.mark.parametrize("word", ["/commit/", "/repos/create", "/tree/"])
def test_a_broken_connection(hub, wire, clone: Path, word: str, then) -> None:
    hub.faults.append(wire.Fault(word, then))
    (found,) = plan("space", clone, "org/name")
    done = push(found)
    repo = hub.repos["space", "org/name"]
    assert {".gitattributes": repo.files[".gitattributes"]} | there(found) == repo.files
    assert len(repo.commits) == 2
    assert done.uploaded == tuple(path for path, _, _ in found.files)


def test_an_upload_that_breaks_off_is_tried_again(hub, wire, built: Path, monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    (found,) = plan("dataset", built, "org/name")
    hub.faults.append(wire.Fault("/lfs/", 500, times=8, method="PUT"))
    push(found)
    assert there(found).items() <= hub.repos["dataset", "org/name"].files.items()


def test_private(hub, clone: Path) -> None:
    (found,) = plan("space", clone, "org/name")
    push(found, private=True)
    assert hub.repos["space", "org/name"].private
    assert push(found, private=True).commit is None
    hub.add("org/open", "space")
    (other,) = plan("space", clone, "org/open")
    with pytest.raises(InputError, match="is there already, and public"):
        push(other, private=True)
    assert len(hub.repos["space", "org/open"].commits) == 1


def test_tokens(hub, wire, clone: Path, monkeypatch) -> None:
    (found,) = plan("space", clone, "org/name")
    wrong = "hf_" + "x" * 34
    for given, fault in ((wrong, "check HF_TOKEN"), (wire.READER, "HF_TOKEN may write")):
        with pytest.raises(InputError, match=fault) as caught:
            push(found, token=given)
        assert given not in str(caught.value)
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    with pytest.raises(InputError, match="HF_TOKEN: isn't set"):
        push(found)
    assert not hub.repos


def test_what_changed_since_the_plan_isnt_pushed(hub, clone: Path) -> None:
    (found,) = plan("space", clone, "org/name")
    (clone / "space" / "app.py").write_text("print('changed')\n")
    with pytest.raises(InputError, match="has changed since it was planned"):
        push(found)
    assert not hub.count("POST", "/commit/")


def test_a_card_that_the_hub_doesnt_take(hub, clone: Path) -> None:
    (clone / "space" / "README.md").write_text(CARD + "BROKEN")
    (found,) = plan("space", clone, "org/name")
    with pytest.raises(InputError, match=r"Invalid metadata in README\.md"):
        push(found)


LOAD = """
import json, sys, warnings
from datasets import load_dataset, get_dataset_config_names
rows = load_dataset(sys.argv[1], "queries", split="test")
print(json.dumps({"rows": rows.to_list(), "configs": get_dataset_config_names(sys.argv[1])}, default=str))
"""


@pytest.mark.parametrize("private", [False, True])
def test_what_was_published_loads(hub, wire, built: Path, tmp_path: Path, private: bool) -> None:
    pytest.importorskip("datasets", reason="datasets comes with the extra metrics")
    (found,) = plan("dataset", built, "org/sample")
    push(found, private=private)
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))}
    environment |= {
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(tmp_path),
        "HF_HUB_DISABLE_XET": "1",
        "HF_TOKEN": wire.READER,
    }
    environment |= {"HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    command = [sys.executable, "-c", LOAD, "org/sample"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert [row["_id"] for row in told["rows"]] == list(load("sample").queries)
    assert {"queries", "corpus", "qrels"} <= set(told["configs"])
    code = "import sys, canlegalrag; b = canlegalrag.load(sys.argv[1]); print(b.fingerprint, b.revision)"
    command = [sys.executable, "-c", code, "org/sample"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    head = hub.repos["dataset", "org/sample"].head
    assert done.stdout.split() == [load("sample").fingerprint, head]


# The command


def call(*arguments, **environment) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from canlegalrag.cli import main; main()", "publish", *map(str, arguments)]
    everything = os.environ | {"PYTHONIOENCODING": "utf-8"} | environment
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=everything, timeout=300)


def test_the_command_is_a_dry_run(clone: Path) -> None:
    done = call("metrics", "--repo", "org", "--root", clone, HF_HUB_OFFLINE="1")
    assert done.returncode == 0, done.stderr
    assert "examples/run.jsonl" in done.stdout and "space org/two" in done.stdout
    assert "org/one: 4 files, " in done.stderr and "commit: one (canlegalrag 0." in done.stderr
    assert done.stderr.endswith("Nothing was sent: that takes --push\n")
    told = json.loads(call("space", "--repo", "org/name", "--root", clone, "--json").stdout)
    assert told[0]["repo"] == "org/name" and len(told[0]["files"]) == 4
    assert call("space", "--repo", "name", "--root", clone).returncode == 2
    (clone / "space" / ".env").write_text("x")
    done = call("space", "--repo", "org/name", "--root", clone, "--push")
    assert done.returncode == 2 and ".env: looks like a secret" in done.stderr


def test_the_command_pushes(hub, wire, clone: Path) -> None:
    online = {"HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "0", "HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_XET": "1"}
    done = call("metrics", "--repo", "org", "--root", clone, "--push", "--private", **online)
    assert done.returncode == 0, done.stderr
    assert f"{hub.url}/spaces/org/two: 4 files sent, 0 deleted\n" in done.stderr
    assert hub.repos["space", "org/one"].private
    done = call("metrics", "--repo", "org", "--root", clone, "--push", "--json", **online)
    assert [one["commit"] for one in json.loads(done.stdout)] == [None, None]
    done = call("metrics", "--repo", "org", "--root", clone, "--push", **online | {"HF_TOKEN": "hf_wrong"})
    assert done.returncode == 1 and "check HF_TOKEN" in done.stderr and "Traceback" not in done.stderr
    done = call("metrics", "--repo", "org", "--root", clone, "--push", **online | {"HF_HUB_OFFLINE": "1"})
    assert done.returncode == 1 and "unset HF_HUB_OFFLINE" in done.stderr


def test_what_is_published_is_said_in_one_place() -> None:
    assert {name for name in publish.WHAT.values() if name != "space"} <= {p.name for p in ROOT.iterdir()}
