"""Every folder in metrics/ is a complete `evaluate` module: it loads offline, and its card's example is true."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parents[1]
FOLDERS = sorted(path for path in (HOME / "metrics").glob("*") if path.is_dir() and not path.name.startswith("_"))

# evaluate and datasets read their cache folders on import, so each check runs in a process of its own.
RUN_CARD = """
import doctest, sys
failed, tried = doctest.testfile(sys.argv[1], module_relative=False, encoding="utf-8")
print(f"{tried} examples, {failed} wrong")
sys.exit(bool(failed) or not tried)
"""
ODDITIES = """
import evaluate
metric = evaluate.load("metrics/canlegalrag_retrieval")
metric.add(prediction=["a"], reference=["a"])
metric.add_batch(predictions=[[]], references=[["a"]])
print(metric.compute(measures="mrr", grades=[[1], [2]]))
print(metric.compute(predictions=[["a"]], references=[[]], measures="mrr"))
for wrong in ({"a": 2}, {"a"}, "a", [1], [None], None, (i for i in "a"), ["\\ud800"]):
    for given in ({"references": [wrong], "predictions": [["a"]]}, {"references": [["a"]], "predictions": [wrong]}):
        try:
            print("taken:", given, metric.compute(**given))
        except ValueError as error:
            print(str(error).partition(" (")[0])
gold = {"references": [["a"]]}
for given in ({"predictions": [["a"]]}, gold, {"predictions": (i for i in [["a"]]), **gold}):
    try:
        print("taken:", given, metric.compute(**given))
    except ValueError as error:
        print(str(error).partition(" (")[0])
for grades in ([[1e300]], [[10**19]], [None], 5):
    try:
        print("taken:", grades, metric.compute(predictions=[["a"]], grades=grades, **gold))
    except ValueError as error:
        print(str(error).partition(" (")[0])
try:
    metric.add(prediction=["a"])
except ValueError as error:
    print(str(error).partition(" (")[0])
print(metric.compute(predictions=[["a"], ["b"]], references=[["a"], []], measures="mrr judged@5"))
print(metric.compute(predictions=[["é", "é", "😀"]], references=[["😀"]], measures=["mrr", "paper_mrr"]))
"""


@pytest.fixture
def python(tmp_path):
    """Run a script in a fresh interpreter, offline, with caches of its own, from the repository's root."""
    pytest.importorskip("evaluate", reason="evaluate is not installed: pip install 'canlegalrag[metrics]'")
    env = os.environ | {"HF_HOME": str(tmp_path), "HF_MODULES_CACHE": str(tmp_path / "modules")}
    env |= {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1", "PYTHONUTF8": "1"}

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=HOME,
            env=env,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    return run


def test_there_are_modules():
    assert [folder.name for folder in FOLDERS if folder.name == "canlegalrag_retrieval"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_the_example_of_the_card_is_true(folder, python):
    done = python("-c", RUN_CARD, str(folder / "README.md"))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_the_folder_is_a_space(folder):
    card = (folder / "README.md").read_text(encoding="utf-8")
    front = re.match(r"---\n(.*?)\n---\n", card, re.DOTALL)
    assert front, "the card needs YAML front matter"
    for line in ("sdk: gradio", "app_file: app.py", "- evaluate", "- metric"):
        assert line in front[1].splitlines()
    for heading in ("What it measures", "How to use it", "Inputs", "Outputs", "Limits", "Citation"):
        assert re.search(rf"^#+ {heading}$", card, re.MULTILINE), heading
    requirements = (folder / "requirements.txt").read_text(encoding="utf-8").split()
    assert "canlegalrag" in requirements and any(r.startswith("evaluate") for r in requirements)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_the_module_is_thin(folder):
    tree = ast.parse((folder / f"{folder.name}.py").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert all(len(node.names) == 1 for node in imports), "evaluate's scanner wants one import a line"
    roots = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).split(".")[0] for node in imports
    }
    assert roots <= {"evaluate", "datasets", "canlegalrag"}
    # evaluate takes the first subclass of Metric that it finds, imported ones too.
    assert sum(isinstance(node, ast.ClassDef) for node in tree.body) == 1
    # A list of alternatives in features would turn a dict into its keys.
    schemas = [node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "features"]
    assert schemas and not any(isinstance(schema, ast.List) for schema in schemas)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_the_app_compiles_and_calls_the_library(folder):
    tree = ast.parse((folder / "app.py").read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert "gradio" in imported and any(name.startswith("canlegalrag.") for name in imported)
    # A loaded module fails under threads, and evaluate's own widget fails on Gradio 6.
    assert not any(name.split(".")[0] == "evaluate" for name in imported)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_the_app_builds(folder, python):
    pytest.importorskip("gradio", reason="gradio is not installed: pip install gradio")
    script = "import runpy, sys; assert runpy.run_path(sys.argv[1], run_name='app')['demo']"
    done = python("-c", script, str(folder / "app.py"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_retrieval_takes_nothing_that_evaluate_would_bend(python):
    done = python("-c", ODDITIES)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "{'mrr': 0.5, 'n': 2, 'skipped': 0}",
        "{'mrr': None, 'n': 0, 'skipped': 1}",
        "references of query 0: a dict stands where a list should",
        "predictions of query 0: a dict stands where a list should",
        "references of query 0: a set stands where a list should",
        "predictions of query 0: a set stands where a list should",
        "references of query 0: a str stands where a list should",
        "predictions of query 0: a str stands where a list should",
        "references of query 0: 1 is not a string",
        "predictions of query 0: 1 is not a string",
        "references of query 0: None is not a string",
        "predictions of query 0: None is not a string",
        "references of query 0: None stands where a list should",
        "predictions of query 0: None stands where a list should",
        "references of query 0: a generator stands where a list should",
        "predictions of query 0: a generator stands where a list should",
        r"references of query 0: '\ud800' holds half a surrogate pair, which no file can",
        r"predictions of query 0: '\ud800' holds half a surrogate pair, which no file can",
        "references: None stands where a list should",
        "predictions: None stands where a list should",
        "predictions: a generator stands where a list should",
        "qrels, query '0', document 'a': grade 1e+300 is beyond ±2147483647",
        "qrels, query '0', document 'a': grade 10000000000000000000 is beyond ±2147483647",
        "grades of query 0: None stands where a list should",
        "grades: a int stands where a list should",
        "references of query 0: None stands where a list should",
        "{'mrr': 1.0, 'judged@5': 0.5, 'n': 1, 'skipped': 1, 'judged@5_n': 2, 'judged@5_skipped': 0}",
        "{'mrr': 0.5, 'paper_mrr': 0.5, 'n': 1, 'skipped': 0}",
    ]


SPAN_ODDITIES = """
import evaluate
metric = evaluate.load("metrics/canlegalrag_spans")
row = lambda doc, start, end, **more: {"doc_id": doc, "start": start, "end": end, **more}
gold = [[row("cuad/A || B: 1%20.txt", 0, 100)], [row("é😀", 5, 15)]]
print(metric.compute(predictions=[[], []], references=gold, k=1))
print(metric.compute(predictions=[[]], references=[[]], k=1))
found = [[row("cuad/A || B: 1%20.txt", 0, 50, score=0.5)], [row("é😀", 5, 15, score=0.5), row("e😀", 5, 15, score=0.1)]]
print(metric.compute(predictions=found, references=gold, k=[1, 2])["recall@2"])
metric.add(prediction=found[0], reference=gold[0])
metric.add_batch(predictions=found[1:], references=gold[1:])
result = metric.compute(k=2, datasets=["b", "a"], mode="reference")
print(result["by_dataset"]["b"]["recall"], result["macro"]["recall@2"], result["macro"]["precision"])
wrong = [row("a", 1.5, 3), row("a", "1", 3), row("a", True, 3), row("a", 3, 3), row("a", 4, 3), row("a", -1, 3)]
wrong += [row(1, 0, 3), row(None, 0, 3), {"doc_id": "a", "start": 0}, "a", None]
wrong += [row("\\ud800", 0, 1), row("a", 0, 2**40)]
for one in wrong:
    try:
        print("taken:", metric.compute(predictions=[[gold[0][0], one]], references=gold[:1]))
    except ValueError as error:
        print(str(error).partition(" (")[0])
both = {"predictions": found, "references": gold}
short, bare = {**both, "predictions": found[:1]}, {"predictions": [found[0][0]], "references": gold[:1]}
odd = ({**both, "k": 0}, {**both, "datasets": ["a"]}, {**both, "mode": "x"})
for given in ({"predictions": found}, {"references": gold}, short, bare, *odd):
    try:
        print("taken:", metric.compute(**given))
    except ValueError as error:
        print(str(error).partition(" (")[0])
"""


def test_spans_takes_nothing_that_evaluate_would_bend(python):
    done = python("-c", SPAN_ODDITIES)
    assert done.returncode == 0, done.stderr
    nothing = "'wrong_document_rate{}': None, 'retrieved_characters{}': 0.0"
    lines = done.stdout.splitlines()
    assert lines[:4] == [
        f"{{'precision@1': 0.0, 'recall@1': 0.0, 'f1@1': 0.0, {nothing.format('@1', '@1')}, 'n': 2, 'skipped': 0, "
        "'wrong_document_rate@1_n': 0, 'wrong_document_rate@1_skipped': 2, "
        f"'precision': 0.0, 'recall': 0.0, 'f1': 0.0, {nothing.format('', '')}}}",
        f"{{'precision@1': None, 'recall@1': None, 'f1@1': None, {nothing.format('@1', '@1')}, 'n': 0, 'skipped': 1, "
        "'retrieved_characters@1_n': 1, 'retrieved_characters@1_skipped': 0, "
        f"'precision': None, 'recall': None, 'f1': None, {nothing.format('', '')}}}",
        "0.75",  # 50 of 100, 10 of 10
        "0.5 0.75 0.75",
    ]
    where = "predictions of query 0, spans[1]:"
    assert lines[4:] == [
        f"{where} offset 1.5 is not a whole number from 0 to 2147483647",
        f"{where} offset '1' is not a whole number from 0 to 2147483647",
        f"{where} offset True is not a whole number from 0 to 2147483647",
        f"{where} 3 to 3 is empty",
        f"{where} 4 to 3 is reversed",
        f"{where} offset -1 is not a whole number from 0 to 2147483647",
        f"{where} document 1 is not a string",
        f"{where} document None is not a string",
        f"{where} {{'doc_id': 'a', 'start': 0}} is no span",
        f"{where} 'a' is no span",
        f"{where} None is no span",
        rf"{where} document '\ud800' holds half a surrogate pair, which no file can",
        f"{where} offset 1099511627776 is not a whole number from 0 to 2147483647",
        "references: None stands where a list should",
        "predictions: None stands where a list should",
        "predictions: 1 rankings for 2 lists of references",
        "predictions of query 0: a dict stands where a list should",
        "k: 0 is not a whole number from 1",
        "datasets: 1 names for 2 queries",
        "mode: 'x' is not known",
    ]


CLAIM_ODDITIES = """
import evaluate
metric = evaluate.load("metrics/canlegalrag_claims")
says = "The landlord must return the deposit."
few = "accuracy coverage"
print(metric.compute(predictions=[says, "I can't answer that."], references=[says, says], measures=few))
print(metric.compute(predictions=[says], contexts=[[]], measures="groundedness"))
metric.add(prediction=says, reference=says)
metric.add_batch(predictions=[says], references=[None])
print(metric.compute(measures="accuracy"))
print(metric.compute(predictions=[], references=[], measures="accuracy"))
line = {"query_id": "q1", "asked": ["accuracy"], "claims": [], "reference": None, "chars": 3}
print(metric.compute(verdicts=[line], measures="accuracy answer_chars"))
print(metric.compute(verdicts=[line], benchmark="sample", measures="accuracy_upper"))
both, odd = {"predictions": [says], "references": [says]}, ["a"] * 2
wrong = [{}, {"predictions": says, "references": says}, {"predictions": {says}}, {"predictions": [1]}]
wrong += [{"predictions": ["\\ud800"]}, {"predictions": [None]}, {**both, "references": odd}, {"references": [says]}]
wrong += [{"predictions": [says]}, {**both, "contexts": [says]}, {**both, "contexts": odd}, {**both, "judge": "x"}]
wrong += [{**both, "measures": "groundedness"}, {**both, "judge": "offline/lexicon"}, {**both, "verdicts": [line]}]
wrong += [{"verdicts": [line], "judge": "offline/lexical"}, {"verdicts": line}, {"verdicts": [line, line]}]
wrong += [{"verdicts": "no such file"}, {"verdicts": [{**line, "chars": float("nan")}]}]
for given in wrong:
    try:
        print("taken:", metric.compute(**given))
    except ValueError as error:
        print(str(error).partition(" (")[0])
print(metric.compute(**both, measures="accuracy"))  # nothing of what was refused is left behind
"""


def test_claims_takes_nothing_that_evaluate_would_bend(python):
    done = python("-c", CLAIM_ODDITIES)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    lexical = "'judge': 'offline/lexical'}"
    right = f"{{'accuracy': 1.0, 'accuracy_n': 1, 'n': 1, 'skipped': 0, {lexical}"
    assert lines == [
        # The second answer declines: no claims, so no accuracy, and it covers nothing.
        f"{{'accuracy': 1.0, 'accuracy_n': 1, 'coverage': 0.5, 'coverage_n': 2, 'n': 1, 'skipped': 1, {lexical}",
        f"{{'groundedness': 0.0, 'groundedness_n': 1, 'n': 1, 'skipped': 0, {lexical}",  # nothing supports nothing
        f"{{'accuracy': 1.0, 'accuracy_n': 1, 'n': 1, 'skipped': 1, {lexical}",
        f"{{'accuracy': None, 'accuracy_n': 0, 'n': 0, 'skipped': 0, {lexical}",
        "{'accuracy': None, 'accuracy_n': 0, 'answer_chars': 3.0, 'answer_chars_n': 1, 'n': 0, 'skipped': 1, "
        "'judge': None}",
        "{'accuracy_upper': 0.0, 'accuracy_upper_n': 64, 'n': 64, 'skipped': 0, 'judge': None}",
        "Evaluation module cache file doesn't exist. Please make sure that you call `add` or `add_batch` at least once "
        "before calling `compute`.",
        "predictions: a str stands where a list should",
        "predictions: a set stands where a list should",
        "predictions: 1 is not a string",
        r"predictions: '\ud800' holds half a surrogate pair, which no file can",
        "predictions: None is not a string",
        "references: 2 for 1 predictions",
        "predictions: None stands where a list should",
        "answers: there is nothing to judge them by",
        "contexts of query 0: a str stands where a list should",
        "contexts: 2 for 1 predictions",
        "judge 'x': is not written provider/model",
        "measure 'groundedness': needs groundedness",
        "offline/lexicon: is no judge",
        "verdicts: predictions, references can't be given beside them",
        "verdicts: judge can't be given beside them",
        "verdicts: a dict stands where a list should",
        "verdicts[1]: query_id: query 'q1' stands in the file twice",
        "no such file: can't be read: No such file or directory",
        "verdicts[0]: not JSON: Out of range float values are not JSON compliant",
        right,
    ]
