"""Submissions as a whole: the three examples, and what unlucky and hostile visitors send."""

import hashlib
import io
import json
import os
import pickle
import threading
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from canlegalrag import load
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.submission import LIMITS, Checked, check, parts
from canlegalrag.submission.system_card import TEMPLATE
from canlegalrag.submission.tolerant import parse

EXAMPLES = Path(__file__).parents[2] / "space" / "examples"
SYSTEM = {"name": "A system", "authors": ["Somebody"], "licence": "MIT", "used": ["BM25"]}
LINE = '{"query_id": "b1-q1", "hits": [{"doc_id": "2019-bcsc-90104", "score": 1.5}]}\n'


@pytest.fixture(scope="module")
def sample() -> Benchmark:
    return load("sample")


def checked(folder: Path, sample: Benchmark, limits: Any = LIMITS, **files: Any) -> Checked:
    """Check files given by their names (`run_jsonl`), beside a sound card."""
    given: Mapping[str, Any] = {"system_json": json.dumps(SYSTEM), **files}
    for name, content in given.items():
        path = folder / name.replace("_", ".")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return check(parts(folder), sample, limits)


def lines(found: Checked) -> list[str]:
    return [str(problem) for problem in found.problems]


def expected(example: str) -> list[str]:
    """The problems of an example, one a line."""
    return (Path(__file__).parent / f"{example}.txt").read_text(encoding="utf-8").splitlines()


def test_the_good_example_has_no_problem(sample: Benchmark) -> None:
    found = check(parts(EXAMPLES / "good"), sample)
    assert lines(found) == []
    assert (found.count, found.fatal, len(found.digest)) == (0, False, 64)
    assert found.run.keys() == sample.queries.keys()
    assert {len(hits) for hits in found.run.values()} == {10}
    assert found.answers is not None and len(found.answers) == 16 and found.judged is None
    assert found.system is not None and found.system.url == "https://example.org/bm25l-over-passages"
    assert [str(note) for note in found.notes] == [
        "answers.jsonl: answers 16 of 64 queries: the other 48 score zero in measures of answers",
        "answers.jsonl: authorities cited: 16 verified",
    ]
    assert found.made["run"]["name"] == "run.jsonl"


def test_the_flawed_example_has_exactly_these_problems(sample: Benchmark) -> None:
    found = check(parts(EXAMPLES / "flawed"), sample)
    assert lines(found) == expected("flawed")
    assert (found.count, found.fatal) == (len(found.problems), False)
    assert len(found.run) == 55 and found.answers is not None and len(found.answers) == 7
    assert found.judged is not None and sorted(found.judged) == ["b1-q1", "b1-q6"]


def test_the_hopeless_example_has_exactly_these_problems(sample: Benchmark) -> None:
    found = check(parts(EXAMPLES / "hopeless"), sample)
    assert lines(found) == expected("hopeless")
    assert found.fatal and not found.run and not found.answers and not found.judged and found.system is None


def test_the_template_waits_to_be_filled_in(sample: Benchmark) -> None:
    found = check(parts(EXAMPLES / "template"), sample)
    assert "system.json: name: is the template's text: fill it in" in "\n".join(lines(found))
    assert found.fatal and found.system is None
    explained = (EXAMPLES / "template" / "README.txt").read_text(encoding="utf-8")
    for name in parse((EXAMPLES / "template" / "system.json").read_text(encoding="utf-8")):
        assert f"\n  {name} " in explained


def test_a_file_of_50_megabytes_is_not_opened(tmp_path: Path, sample: Benchmark) -> None:
    (tmp_path / "system.json").write_text(json.dumps(SYSTEM))
    with (tmp_path / "run.jsonl").open("wb") as file:
        file.truncate(50_000_000)
    found = check(parts(tmp_path), sample)
    assert lines(found) == ["run.jsonl: is 50 MB, more than 20 MB: not read (send less)"]
    assert found.fatal


def test_all_files_together_have_a_limit(tmp_path: Path, sample: Benchmark) -> None:
    limits = replace(LIMITS, file_bytes=1000, total_bytes=1200)
    found = checked(tmp_path, sample, limits, run_jsonl=LINE + " " * 800, answers_jsonl=" " * 900)
    assert lines(found) == ["files: are 1.9 kB together, more than 1.2 kB: not read (send less)"]
    assert not found.run and found.digest == ""


def test_a_million_short_lines_are_one_kind_of_problem(tmp_path: Path, sample: Benchmark) -> None:
    found = checked(tmp_path, sample, run_jsonl="{}\n" * 1_000_000, answers_jsonl='{"query_id": "b1-q1", "text": 7}\n')
    said = lines(found)
    what = "run.jsonl: has more than 200,000 lines: the rest isn't read (rank 1,000 documents a query at most)"
    assert said[0] == what and found.fatal
    assert 'run.jsonl:1: query_id: is missing: left out ("query_id": "…")' in said
    assert "run.jsonl: …: 199,980 more lines without a usable query_id" in said
    assert 'answers.jsonl:1: text: 7 is not a string ("text": "…")' in said
    assert found.count == 200_000 + 1 + 2  # the lines, the limit, and what is wrong with the answers
    assert len(said) <= LIMITS.shown


def test_every_kind_is_shown_however_many_there_are(tmp_path: Path, sample: Benchmark) -> None:
    limits = replace(LIMITS, shown=12)
    run = "{}\n" * 50 + "x\n" * 50 + "7\n" * 50 + LINE
    said = lines(checked(tmp_path, sample, limits, run_jsonl=run))
    assert len(said) <= 12
    for kind in ("without a usable query_id", "aren't JSON", "aren't objects"):
        assert any("more lines" in line and kind in line for line in said)


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("../../run.jsonl", LINE)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (zipped(), "is a ZIP archive, whatever its name says: nothing is unpacked (upload the text itself)"),
        (pickle.dumps([1]), "is a pickle, whatever its name says: nothing is unpacked (upload the text itself)"),
        (b"\x1f\x8b\x08rest", "is a gzip file, whatever its name says: nothing is unpacked (upload the text itself)"),
        (b"PAR1\x15\x04", "is a Parquet file, whatever its name says: nothing is unpacked (upload the text itself)"),
        (b'{"a": "\0\0"}\n', "holds NUL bytes: a binary file (upload the text itself)"),
        (LINE.encode("utf-16-le"), "holds NUL bytes: UTF-16 without a byte order mark (write it as UTF-8)"),
        (b"\xff\xfe\x00\xd8x\x00", "isn't valid text in the encoding that its byte order mark names"),
        (b"", "is empty (see the template)"),
        (b"\n \n\t\n", "is empty (see the template)"),
        (b"\xef\xbb\xbf", "is empty (see the template)"),
        (b"b1-q1 Q0 2019-bcsc-90104 1 1.5 t\n", "holds lines of a TREC run (name it run.trec)"),
        (b'[{"query_id": "b1-q1"}]', "is a JSON array, not JSON Lines (write one object a line"),
        (b'{\n "query_id": "b1-q1"\n}\n', "is a JSON object over several lines, not JSON Lines"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_what_only_bears_the_name_is_refused_at_once(
    content: bytes, what: str, tmp_path: Path, sample: Benchmark
) -> None:
    found = checked(tmp_path, sample, run_jsonl=content)
    assert len(found.problems) == 1 and lines(found)[0].startswith(f"run.jsonl: {what}") and found.fatal


def test_utf_16_with_a_mark_and_utf_8_with_one_are_read(tmp_path: Path, sample: Benchmark) -> None:
    for encoding in ("utf-16", "utf-32", "utf-8-sig"):
        found = checked(tmp_path, sample, run_jsonl=LINE.encode(encoding))
        assert list(found.run) == ["b1-q1"] and not found.fatal
        noted = [n.what for n in found.notes]
        assert noted == ([] if encoding == "utf-8-sig" else [f"is {encoding.upper()}: read, but UTF-8 is the format"])


def test_windows_1252_is_named_by_line_and_the_other_lines_are_kept(tmp_path: Path, sample: Benchmark) -> None:
    other = LINE.replace("b1-q1", "b1-q2").replace('"query_id"', '"note": "Québec", "query_id"')
    found = checked(tmp_path, sample, run_jsonl=LINE.encode() + other.encode("windows-1252"))
    what = "run.jsonl:2: byte 0xe9 is not valid UTF-8, perhaps Windows-1252: left out"
    assert f"{what} (convert the file: iconv -f WINDOWS-1252 -t UTF-8)" in lines(found)
    assert list(found.run) == ["b1-q1"]


def test_deep_json_is_refused_by_line(tmp_path: Path, sample: Benchmark) -> None:
    deep = '{"a":' * 100_000 + "1" + "}" * 100_000
    hidden = '{"query_id": "b1-q2", "x": "' + "[" * 100 + '", "hits": [{"doc_id": "2019-bcsc-90104", "score": 1}]}'
    found = checked(tmp_path, sample, run_jsonl=f"{deep}\n{hidden}\n{LINE}")
    assert "run.jsonl:1: JSON is nested more than 50 deep (one flat object a line)" in lines(found)
    assert list(found.run) == ["b1-q2", "b1-q1"]  # brackets in a string nest nothing


def test_time_is_up(tmp_path: Path, sample: Benchmark) -> None:
    found = checked(tmp_path, sample, replace(LIMITS, seconds=0.0), run_jsonl=LINE)
    assert "run.jsonl:1: checking took more than 0 s: the rest isn't read (send less)" in lines(found)
    assert found.fatal


def test_no_folder_of_the_users_machine_is_shown(tmp_path: Path, sample: Benchmark) -> None:
    found = checked(tmp_path, sample, run_jsonl="x\n{}\n", answers_jsonl=b"\x80\x04N.", verdicts_jsonl="[]")
    assert found.problems
    assert str(tmp_path) not in repr(found)


def test_names_decide_what_is_what(tmp_path: Path) -> None:
    for name in ("System.JSON", "run.tsv", "run.jsonl", "Answers.jsonl", "README.md", ".hidden", "notes.docx"):
        (tmp_path / name).touch()
    (tmp_path / "verdicts.jsonl").mkdir()
    found = {role: path.name for role, path in parts(tmp_path).items()}
    assert found == {
        "system": "System.JSON",
        "run": "run.jsonl",
        "answers": "Answers.jsonl",
        "run.tsv": "run.tsv",
        "notes.docx": "notes.docx",
    }
    assert parts([tmp_path / "run.tsv"]) == {"run": tmp_path / "run.tsv"}
    with pytest.raises(InputError, match="no such folder"):
        parts(tmp_path / "none")
    with pytest.raises(InputError, match="is a file"):
        parts(tmp_path / "run.tsv")


def test_verdicts_that_are_not_the_file_that_was_made(tmp_path: Path, sample: Benchmark) -> None:
    row = '{"query_id": "b1-q1", "asked": [], "claims": [], "reference": null}\n'
    right = json.dumps({"sha256": hashlib.sha256(row.encode()).hexdigest()})
    said = "verdicts.jsonl: was changed since it was made: verdicts.jsonl.meta.json has another SHA-256 of it"
    record = tmp_path / "verdicts.jsonl.meta.json"
    (tmp_path / "answers.jsonl.meta.json").write_text("{}")
    digests = set()
    for content, changed in ((right, False), (json.dumps({"sha256": "0" * 64}), True), ("{", False), ("[1]", False)):
        record.write_text(content)
        found = checked(tmp_path, sample, run_jsonl=LINE, verdicts_jsonl=row)
        assert any(line.startswith(said) for line in lines(found)) == changed
        assert any("holds no SHA-256" in note.what for note in found.notes) == (
            len(content) < 5
        )  # says nothing of them
        digests.add(found.digest)
    assert len(digests) == 1  # it is no part of the submission


def test_files_that_are_no_part_are_named(tmp_path: Path, sample: Benchmark) -> None:
    found = checked(tmp_path, sample, run_jsonl=LINE, run_trec="", notes_docx="x")
    assert "run.trec: is a second file of run: not read (keep one file of run)" in lines(found) and found.fatal
    assert [n.where for n in found.notes] == ["notes.docx"]


def test_a_part_is_named_by_its_whole_name_and_given_once(tmp_path: Path, sample: Benchmark) -> None:
    """A file called `system` or `run` must not take the place of `system.json` or `run.jsonl`; nor a namesake."""
    for name in ("system.json", "run.jsonl"):
        (tmp_path / name).write_text(json.dumps(SYSTEM) if name == "system.json" else LINE)
    for name in ("system", "run", "answers", "verdicts"):
        (tmp_path / name).write_text("{}")
    found = parts(tmp_path)
    assert [found[role].name for role in ("system", "run")] == ["system.json", "run.jsonl"]
    assert "answers" not in found and len(found) == 6
    again = [tmp_path / name / "system.json" for name in "abc"]
    for path in again:
        path.parent.mkdir()
        path.write_text(json.dumps(SYSTEM))
    found = parts([*again, tmp_path / "run.jsonl"])
    assert sorted(map(str, found.values())) == sorted(map(str, [*again, tmp_path / "run.jsonl"]))
    told = [line for line in lines(check(found, sample)) if "second" in line]
    assert told == ["system.json: is a second file of system: not read (keep one file of system)"] * 2


HOSTILE = ["..\\..\\x\x1b[2J.jsonl", "=HYPERLINK(1).jsonl", "<script>.jsonl", "x" * 200 + ".jsonl"]


@pytest.mark.parametrize("name", HOSTILE, ids=["path", "formula", "tag", "long"])
def test_a_hostile_name_of_a_file_is_only_a_name(name: str, tmp_path: Path, sample: Benchmark) -> None:
    path = tmp_path / name
    path.write_text("x\n")
    (tmp_path / "system.json").write_text(json.dumps(SYSTEM))
    found = check({"system": tmp_path / "system.json", "run": path}, sample)
    for problem in found.problems:
        assert problem.where.isprintable() and "\\.." not in problem.where and len(problem.where) < 100


def test_missing_and_vanished_files(tmp_path: Path, sample: Benchmark) -> None:
    found = check({"run": tmp_path / "run.jsonl", "answers": tmp_path}, sample)
    assert lines(found)[:2] == [
        f"system.json: is missing ({TEMPLATE})",
        "run.jsonl: isn't there, or is no file (upload it again)",
    ]
    assert found.fatal and found.digest == ""
    assert check({}, sample).count == 2


def test_a_pipe_is_no_file(tmp_path: Path, sample: Benchmark) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    os.mkfifo(tmp_path / "run.jsonl")
    found = check({"run": tmp_path / "run.jsonl"}, sample)
    assert "run.jsonl: isn't there, or is no file (upload it again)" in lines(found)


def test_the_digest_is_of_the_contents(tmp_path: Path, sample: Benchmark) -> None:
    first = checked(tmp_path, sample, run_jsonl=LINE)
    (tmp_path / "run.jsonl").rename(tmp_path / "RUN.jsonl")
    again = check(parts(tmp_path), sample)
    assert again.digest == first.digest
    (tmp_path / "RUN.jsonl").unlink()
    other = checked(tmp_path, sample, run_jsonl=LINE.replace("1.5", "1.6"))
    assert other.digest != first.digest


def test_eight_visitors_with_the_same_upload(tmp_path: Path, sample: Benchmark) -> None:
    found: list[Checked] = []
    checked(tmp_path, sample, run_jsonl=LINE)
    threads = [threading.Thread(target=lambda: found.append(check(parts(tmp_path), sample))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len({one.digest for one in found}) == 1
    assert all(one == found[0] for one in found)
