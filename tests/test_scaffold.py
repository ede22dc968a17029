"""The scaffold: what `mlxtpl new` and `copier copy` write, and what `copier update` keeps."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from copier import run_copy, run_update
from hypothesis import given, settings
from hypothesis import strategies as st

from mlxtpl import gpu_images, yamlio
from mlxtpl.errors import ScaffoldError
from mlxtpl.gotypes import go_scalar
from mlxtpl.package import data_path
from mlxtpl.pipeline import render
from mlxtpl.scaffold import new_project, questions
from mlxtpl.yamldump import dump

TEMPLATE = data_path("copier.yml").parent
BASE = {"project": "vision", "registry": "registry.example.com:5000/team"}
CHOICES: dict[str, tuple[Any, Any]] = {
    "distributed": (False, True),
    "infiniband": (False, True),
    "zone": ("", "h100"),
    "pull_secret": ("", "harbor"),
    "pvc": ("", "train-data"),
    "gpus": (1, 4),
    "driver": ("", "535.129"),
}
MATRIX = [
    {**BASE, **dict(zip(CHOICES, each, strict=True))}
    for each in itertools.product(*CHOICES.values())
    if each[0] or not each[1]  # InfiniBand joins nodes
    if each[1] is not bool(each[2]) or not each[0]  # nodes that work together are of one zone
]
MORE = {"nodes": 3, "ttl": "36h", "mount_path": "/mnt/data", "infiniband_zone": "ib-1", "project_name": "my-bert-2"}


def git(folder: Path, *words: str) -> str:
    """Run git as somebody."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"]
    answer = subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True)
    return answer.stdout


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template in a directory without git."""
    folder = tmp_path_factory.mktemp("plain")
    shutil.copy(TEMPLATE / "copier.yml", folder)
    shutil.copytree(TEMPLATE / "scaffold", folder / "scaffold", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def repository(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository of the template, tagged v0.1.0."""
    folder = tmp_path_factory.mktemp("template")
    shutil.copytree(plain, folder, dirs_exist_ok=True)
    git(folder, "init", "-q")
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-qm", "v1")
    git(folder, "tag", "v0.1.0")
    return folder


def rendered(project: Path, name: str) -> str:
    """What `mlxtpl render` writes for a values file of the project; the rules are asked."""
    path = project / "values" / f"{name}.yaml"
    source = yamlio.read_source(path)._replace(directory=str(path.parent))
    manifest, warnings = render([source])
    assert warnings == []
    return dump(manifest)


def content(project: Path) -> dict[str, str]:
    """Every file of a project."""
    files = [path for path in project.rglob("*") if path.is_file() and ".git" not in path.relative_to(project).parts]
    return {str(path.relative_to(project)): path.read_text("utf-8") for path in files}


def test_there_are_at_least_48_combinations() -> None:
    """Of the answers that change the structure of a manifest."""
    assert len(MATRIX) >= 48


@pytest.mark.parametrize("answers", MATRIX, ids=lambda each: "-".join(str(each[name]) for name in CHOICES))
def test_manifests_are_what_render_writes(answers: dict[str, Any], plain: Path, tmp_path: Path) -> None:
    """Byte for byte, and by both ways of starting a project; lint finds no error and no warning in them."""
    more = answers if answers["zone"] else {**answers, **MORE}
    off = {"nodes": "distributed", "infiniband": "distributed", "infiniband_zone": "infiniband", "mount_path": "pvc"}
    asked = {name: value for name, value in more.items() if name not in off or more[off[name]]}
    new_project(tmp_path / "new", asked, defaults=True)
    run_copy(str(plain), tmp_path / "copied", data=asked, defaults=True, quiet=True)
    for name in ("dev", "prod"):
        assert (tmp_path / "new/manifests" / f"{name}.yaml").read_text("utf-8") == rendered(tmp_path / "new", name)
    ours, copied = content(tmp_path / "new"), content(tmp_path / "copied")
    assert "_commit: v0.1.0" in ours.pop(".copier-answers.yml")
    assert f"_src_path: {plain}" in copied.pop(".copier-answers.yml")
    assert ours == copied


def answered(tmp_path: Path, **data: Any) -> str:
    """The error that these answers give; "" when there is none."""
    try:
        new_project(tmp_path / "new", {**BASE, **data}, defaults=True)
    except ScaffoldError as error:
        assert not (tmp_path / "new").exists()
        return str(error.problems[0].where) + ": " + error.problems[0].message
    return ""


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"job": "on"}, "job: is not accepted"),
        ({"job": "null"}, "job: is not accepted"),
        ({"job": "y"}, "job: is not accepted"),
        ({"job": "My_Job"}, "job: is not accepted: lower-case letters, digits and -"),
        ({"job": "a" * 47}, "job: is not accepted"),
        ({"job": "1a"}, "job: is not accepted"),
        ({"project_name": "no"}, "project_name: is not accepted"),
        (
            {"project": "p-vision"},
            "project: is not accepted: lower-case letters, digits and -, at most 61, without the p-",
        ),
        ({"registry": "https://example.com"}, "registry: is not accepted: such as registry.example.com/team"),
        ({"registry": "{{ 1 }}"}, "registry: is not accepted"),
        ({"image": "train:1.0"}, "image: is not accepted"),
        ({"distributed": True}, "zone: is not accepted: nodes that work together are of one zone"),
        (
            {"distributed": True, "infiniband": True, "zone": "a"},
            "zone: is not accepted: with InfiniBand, infiniband_zone",
        ),
        ({"zone": "1e3"}, "zone: is not accepted"),
        ({"zone": "a\nb: c"}, "zone: is not accepted"),
        ({"pull_secret": "dockerconfigjson={}"}, "pull_secret: is not accepted: the name of a Secret, not its content"),
        ({"pvc": "2024-01-01"}, "pvc: is not accepted"),
        ({"pvc": "d", "mount_path": "/usr"}, "mount_path: is not accepted"),
        ({"pvc": "d", "mount_path": "data"}, "mount_path: is not accepted"),
        ({"ttl": "3 weeks"}, "ttl: is not accepted: a number and one of w d h m"),
        ({"gpus": 0}, "gpus: is not accepted: 1 to 16"),
        ({"gpus": "eight"}, "gpus: must be a whole number"),
        ({"distributed": "perhaps"}, "distributed: must be true or false"),
        ({"distributed": True, "zone": "a", "nodes": 1}, "nodes: is not accepted: 2 to 512"),
        ({"infiniband": True}, "infiniband: is not accepted: InfiniBand joins several nodes"),
        ({"package": "import"}, "package: is not accepted"),
        ({"package": "my-train"}, "package: is not accepted"),
        ({"ci": "jenkins"}, "ci"),
        ({"driver": "535.129\n"}, "driver: is not accepted"),
        ({"driver": "470.57", "base_image": "24.06-py3"}, "base_image"),
        ({"base_image": "latest"}, "base_image"),
        ({"jobb": "x"}, "jobb: no question has this name"),
    ],
    ids=str,
)
def test_wrong_answers_write_nothing(answer: dict[str, Any], words: str, tmp_path: Path) -> None:
    """And the message names the question."""
    assert words in answered(tmp_path, **answer)


def test_required_answers(tmp_path: Path) -> None:
    """The project and the registry have no default that could be right."""
    with pytest.raises(ScaffoldError, match="must be answered"):
        new_project(tmp_path / "new", {"project": "vision"}, defaults=True)
    assert not (tmp_path / "new").exists()


def test_a_directory_with_files_stays_as_it_is(tmp_path: Path) -> None:
    """A project is never written over somebody's files."""
    (tmp_path / "train.py").write_text("mine", encoding="utf-8")
    with pytest.raises(ScaffoldError, match="is there already and not empty"):
        new_project(tmp_path, BASE, defaults=True)
    assert content(tmp_path) == {"train.py": "mine"}


@pytest.mark.parametrize("driver", ["450.80", "470.141", "525.60", "535.129.03", "535", "570.26", "580.65.06", "610"])
def test_base_images_are_judged_as_lint_judges_them(driver: str) -> None:
    """A choice can be taken exactly when the driver is known to run the image."""
    import jinja2

    question = questions(TEMPLATE)["base_image"]
    numbers = [int(each) for each in (driver + ".999999.999999").split(".")[:3]]
    known = [tag for tag in gpu_images.images() if tag >= "23.07"]  # Python 3.10, for which train.py is written
    assert [each["value"] for each in question["choices"].values()] == known[::-1]
    for choice in question["choices"].values():
        refused = jinja2.Template(choice["validator"]).render(driver_numbers=numbers)
        image = gpu_images.image_of(f"nvcr.io/nvidia/pytorch:{choice['value']}")
        assert image is not None
        runs = gpu_images.verdict(image, driver) in ("native", "minor-version", "forward-compat")
        assert (not refused) is runs, choice


def pattern(name: str) -> str:
    """The regular expression that an answer has to match."""
    found = re.search(r"regex_search\('(.*?)'\)", questions(TEMPLATE)[name]["validator"])
    assert found is not None
    return found[1].replace("\\\\", "\\")  # as Jinja reads it


@settings(max_examples=100, deadline=None)
@given(st.data())
@pytest.mark.parametrize("name", ["project_name", "job", "zone", "infiniband_zone", "pull_secret", "pvc", "package"])
def test_no_accepted_name_needs_quotes(name: str, data: st.DataObject) -> None:
    """Else the manifests of a fresh project would not be what render writes."""
    text = data.draw(st.from_regex(r"\A[a-z0-9][-a-z0-9._]{0,8}\Z") | st.from_regex(pattern(name)))
    if re.search(pattern(name), text):
        assert dump([{"a": text}]) == f"a: {text}\n"
        assert yaml.safe_load(text) == text
        assert isinstance(go_scalar(text), str)


@pytest.mark.parametrize(
    "word", "on off yes no y n true false null 1e3 0x1f 0b1 0o7 1.5 2024-01-01 010 12 1_000 1e-3 0x1p-2".split()
)
def test_words_that_yaml_reads_as_something_else(word: str) -> None:
    """None is accepted as a name that stands alone in a manifest."""
    for name in ("job", "zone", "pull_secret", "pvc"):
        assert not re.search(pattern(name), word), name


def test_it_runs_no_code_and_every_file_is_a_template() -> None:
    """`copier copy` needs no --trust; nothing compiled is in it; conditions are in file names."""
    text = (TEMPLATE / "copier.yml").read_text("utf-8")
    assert not re.search(r"^_(tasks|migrations|jinja_extensions|secret_questions):", text, re.MULTILINE)
    files = [path for path in (TEMPLATE / "scaffold").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert [path for path in files if path.suffix != ".jinja"] == []


def test_what_is_compiled_or_ignored_is_not_copied(repository: Path, tmp_path: Path) -> None:
    """With a subdirectory Copier's own list of exclusions is empty; and no file of ours falls to it."""
    shutil.copytree(repository, tmp_path / "template", ignore=shutil.ignore_patterns(".git"))
    for junk in ("src/__pycache__/a.pyc", ".DS_Store", "b.pyc"):
        (tmp_path / "template/scaffold" / junk).parent.mkdir(exist_ok=True)
        (tmp_path / "template/scaffold" / junk).write_bytes(b"\0")
    run_copy(str(tmp_path / "template"), tmp_path / "new", data=BASE, defaults=True, quiet=True)
    files = content(tmp_path / "new")
    assert not [name for name in files if "pyc" in name or "DS_Store" in name]
    assert {".gitignore", ".dockerignore", ".pre-commit-config.yaml", ".github/workflows/ci.yml"} <= files.keys()


@pytest.mark.parametrize(
    ("ci", "file"), [("github", ".github/workflows/ci.yml"), ("gitlab", ".gitlab-ci.yml"), ("none", "")]
)
def test_ci(ci: str, file: str, tmp_path: Path) -> None:
    """One CI's file, or none."""
    new_project(tmp_path / "new", {**BASE, "ci": ci}, defaults=True)
    found = [name for name in content(tmp_path / "new") if name.startswith((".github", ".gitlab"))]
    assert found == ([file] if file else [])
    if file:
        assert yaml.safe_load((tmp_path / "new" / file).read_text("utf-8"))


def test_the_users_own_settings_of_copier_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project is made of its answers."""
    (tmp_path / "settings.yml").write_text("defaults: {ttl: 1d}\n", encoding="utf-8")
    monkeypatch.setenv("COPIER_SETTINGS_PATH", str(tmp_path / "settings.yml"))
    new_project(tmp_path / "new", BASE, defaults=True)
    assert "ttl: 3w" in (tmp_path / "new/values/_base.yaml").read_text("utf-8")


def change(path: Path, old: str, new: str) -> None:
    """Replace text that is there once."""
    text = path.read_text("utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def second(repository: Path, tmp_path: Path) -> Path:
    """The repository with a version 0.2.0: other memory, a new file, a renamed question, other manifests."""
    folder = tmp_path / "repository"
    git(tmp_path, "clone", "-q", str(repository), str(folder))
    (folder / "scaffold/NEW.md.jinja").write_text("{{ project }} {{ tag_owner }}\n", encoding="utf-8")
    change(folder / "scaffold/values/_base.yaml.jinja", "memory: 64Gi", "memory: 96Gi")
    change(folder / "scaffold/README.md.jinja", "`make help` lists the targets.", "`make help` lists all targets.")
    for name in ("values/_base.yaml.jinja", "manifests/dev.yaml.jinja", "manifests/prod.yaml.jinja"):
        path = folder / "scaffold" / name
        path.write_text(path.read_text("utf-8").replace("{{ registry }}", "{{ image_registry }}"), encoding="utf-8")
    for name in ("Makefile.jinja", "README.md.jinja", "README.ko.md.jinja"):
        path = folder / "scaffold" / name
        path.write_text(path.read_text("utf-8").replace("{{ registry }}", "{{ image_registry }}"), encoding="utf-8")
    text = (folder / "copier.yml").read_text("utf-8")
    text = text.replace(
        "\nregistry:\n", "\nimage_registry:\n  default: \"{{ registry | default('none.example.com') }}\"\n"
    )
    text = text.replace("not registry |", "not image_registry |")
    text += "\ntag_owner:\n  type: str\n  default: nobody\n"
    (folder / "copier.yml").write_text(text, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "v2")
    git(folder, "tag", "v0.2.0")
    return folder


def start(way: str, repository: Path, project: Path) -> None:
    """A project of v0.1.0 with what its people changed, committed."""
    answers = {**BASE, "pvc": "data"}
    if way == "new":
        new_project(project, answers, defaults=True, source=f"git+file://{repository}")
    else:
        source = f"git+file://{repository}"
        run_copy(source, project, data=answers, defaults=True, quiet=True, vcs_ref="v0.1.0")
    train = project / "src/my_train/train.py"
    train.write_text(train.read_text("utf-8") + "\n# ours\n", encoding="utf-8")
    change(project / "values/_base.yaml", "cpu: 8", "cpu: 12")
    change(project / "README.md", "# my-train\n", "# Our training\n")
    change(project / "manifests/dev.yaml", 'cpu: "8"', 'cpu: "12"')
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "ours")


@pytest.mark.parametrize("way", ["new", "copy"])
def test_update_keeps_what_people_changed(way: str, second: Path, tmp_path: Path) -> None:
    """Edits stay, what is new comes, rendered manifests are not merged, a renamed question keeps its answer."""
    project = tmp_path / "project"
    start(way, second, project)
    manifests = (project / "manifests/dev.yaml").read_text("utf-8")
    run_update(project, defaults=True, overwrite=True, quiet=True, vcs_ref="v0.2.0")
    files = content(project)
    assert files["src/my_train/train.py"].endswith("\n# ours\n")
    assert "cpu: 12" in files["values/_base.yaml"]
    assert files["README.md"].startswith("# Our training\n")
    assert "lists all targets" in files["README.md"]
    assert files["NEW.md"] == "vision nobody\n"
    assert files["manifests/dev.yaml"] == manifests
    answers = yaml.safe_load(files[".copier-answers.yml"])
    assert (answers["_commit"], answers["image_registry"]) == ("v0.2.0", BASE["registry"])
    assert "registry" not in answers
    # The edit of the same lines: both are there, marked.
    assert re.search(r"<<<<<<< .*cpu: 12.*=======.*96Gi.*>>>>>>> ", files["values/_base.yaml"], re.DOTALL)
    resolved = re.sub(
        r"<<<<<<<.*?>>>>>>> [^\n]*\n", "  cpu: 12\n  memory: 96Gi\n", files["values/_base.yaml"], flags=re.DOTALL
    )
    (project / "values/_base.yaml").write_text(resolved, encoding="utf-8")
    assert 'memory: "96Gi"' in rendered(project, "dev")


def mlxtpl(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command."""
    return subprocess.run(
        [sys.executable, "-Im", "mlxtpl", *words], capture_output=True, text=True, check=False, **options
    )


def test_the_command(tmp_path: Path) -> None:
    """Answers from a file, single ones over it."""
    (tmp_path / "answers.yaml").write_text("project: vision\nregistry: a.example.com\nci: none\n", encoding="utf-8")
    words = ["new", "here", "--data-file", "answers.yaml", "-d", "job=bert", "--defaults"]
    answer = mlxtpl(*words, cwd=tmp_path)
    assert (answer.returncode, answer.stdout) == (0, ""), answer.stderr
    assert answer.stderr == "here: a new project; its README.md says how to go on\n"
    assert "name: bert\n" in (tmp_path / "here/values/prod.yaml").read_text("utf-8")
    again = mlxtpl(*words, cwd=tmp_path)
    assert (again.returncode, again.stderr.splitlines()[0]) == (1, "error: new: here: is there already and not empty")


def test_without_a_terminal_it_says_how_to_answer(tmp_path: Path) -> None:
    """And writes nothing."""
    answer = mlxtpl("new", "here", cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert answer.returncode == 1
    assert "the questions need a terminal" in answer.stderr
    assert "--defaults" in answer.stderr
    assert list(tmp_path.iterdir()) == []


def test_questions_are_listed() -> None:
    """In the order in which they are asked, with what they default to."""
    answer = mlxtpl("new", ".", "--questions")
    names = [line.partition(":")[0] for line in answer.stdout.splitlines()]
    assert names[:4] == ["project_name", "project", "job", "distributed"]
    assert "source" not in names
