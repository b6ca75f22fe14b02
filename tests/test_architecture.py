"""The house: floors, light imports, small files. Walks the imports with `ast`."""

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "canlegalrag"
FLOORS = (
    ("types",),
    ("errors", "near", "disk", "wording"),
    ("text_rules", "citations", "plain"),
    ("text",),
    ("protocols", "files", "chunking", "measures"),
    ("layouts", "retrievers", "calls", "records", "judging", "contexts"),
    ("benchmark", "backends", "hub"),
    ("recipes", "submission", "build", "publish", "charts", "tables", "calibration"),
    ("pipeline", "reproduction", "price_report", "span_report", "claim_report", "audit_page"),
    ("report", "leaderboard", "exploring"),
    ("experiment", "terminal"),
    ("cli",),
)
"""A module imports only from lower floors; modules of one package may import each other."""
HEAVY = {"datasets", "evaluate", "faiss", "gradio", "huggingface_hub", "numba", "openai", "pandas", "plotly", "scipy"}
HEAVY |= {"sentence_transformers", "tokenizers", "torch", "transformers"}
MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(("canlegalrag", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


def floor(module: str) -> int:
    part = module.split(".")[1]
    return next(n for n, names in enumerate(FLOORS) if part in names)


def imported(tree: ast.AST) -> list[str]:
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            names += [f"{module}.{alias.name}" for alias in node.names] if module == "canlegalrag" else [module]
    return names


def at_top(tree: ast.Module) -> ast.Module:
    """The module without its functions and without what only a type checker reads."""
    skipped = (ast.FunctionDef, ast.AsyncFunctionDef, ast.If)
    kept = [n for n in tree.body if not isinstance(n, skipped)]
    inside = [n for c in kept if isinstance(c, ast.ClassDef) for n in c.body if not isinstance(n, skipped)]
    return ast.Module([n for n in kept if not isinstance(n, ast.ClassDef)] + inside, [])


def test_every_module_stands_on_a_floor() -> None:
    parts = {name_of(path).split(".")[1] for path in MODULES if path.parent != SOURCE or path.stem != "__init__"}
    assert parts <= {name for names in FLOORS for name in names}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_down(path: Path) -> None:
    module = name_of(path)
    if module == "canlegalrag":
        return
    for name in imported(ast.parse(path.read_text(encoding="utf-8"))):
        if name.startswith("canlegalrag.") and name != "canlegalrag.__version__":
            same_package = name.split(".")[1] == module.split(".")[1]
            assert same_package or floor(name) < floor(module), f"{module} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_heavy_libraries_are_imported_inside_functions(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    heavy = {name.split(".")[0] for name in imported(at_top(tree))} & HEAVY
    assert not heavy
    never = {name.split(".")[0] for name in imported(tree)} & {"evaluate", "gradio"}
    assert not never


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_each_file_says_what_it_is_for_and_is_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    assert text.count("\n") <= 400
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            assert (node.end_lineno or 0) - first.lineno < 50, f"{name_of(path)}.{node.name}"


@pytest.mark.parametrize("folder", ["hf_dataset", "metrics", "baselines", "space"])
def test_shop_windows_hold_thin_adapters_only(folder: str) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        ours = {n for n in imported(tree) if n.split(".")[0] in {"hf_dataset", "metrics", "baselines", "space"}}
        assert not ours, path
        assert path.read_text(encoding="utf-8").count("\n") <= 150, path


def run_python(code: str) -> str:
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    return done.stdout


def test_import_is_light() -> None:
    """What is loaded, rather than how long it takes, which a busy machine decides; `benchmarks/` has the time."""
    loaded = set(run_python("import sys, canlegalrag; print(*sys.modules)").split())
    assert not {"numpy", "pyarrow", "typer", "rich"} & loaded
    loaded = set(run_python("import sys, canlegalrag.cli; print(*sys.modules)").split())
    assert not ({"numpy", "pyarrow"} | HEAVY) & loaded


def test_loading_the_sample_needs_the_core_only() -> None:
    loaded = set(run_python("import sys, canlegalrag; canlegalrag.load('sample'); print(*sys.modules)").split())
    assert not HEAVY & loaded


def test_the_version_has_one_home() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    import canlegalrag

    assert f"version: {canlegalrag.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {canlegalrag.__version__}" in (ROOT / "CHANGELOG.md").read_text()
