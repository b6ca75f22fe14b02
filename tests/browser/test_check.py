"""Tab 2 in a browser: the three examples, own and hostile files, entering, and eight visitors at once."""

import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from canlegalrag import load
from canlegalrag.submission import check, parts

EXAMPLES = Path(__file__).resolve().parents[2] / "space" / "examples"
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
FORMULA = "x < y & =HYPERLINK(1) **b** [l](javascript:alert(3))"
"""What a name may hold: no tag."""


def submission(name: str) -> list[dict[str, object]]:
    """A good submission by another name, small enough to be checked in a moment."""
    about = json.loads((EXAMPLES / "good" / "system.json").read_text(encoding="utf-8")) | {"name": name}
    run = (EXAMPLES / "good" / "run.jsonl").read_bytes()
    return [upload("system.json", json.dumps(about).encode()), upload("run.jsonl", run)]


def upload(name: str, data: bytes) -> dict[str, object]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def problems(visitor) -> list[str]:
    """What the table of problems says, row by row."""
    rows = visitor.page.locator("#problems [role=row]:has([role=gridcell])")
    rows.first.wait_for()
    return [row.inner_text() for row in rows.all()]


@pytest.mark.parametrize(
    ("example", "said", "listed"),
    [
        ("A good example", "No problems: it can be entered.", "answers 16 of 64 queries"),
        ("A flawed one", " problems: it can be entered, but what is listed is left out.", "did you mean"),
        ("A hopeless one", "4 problems: it can't be entered until the fatal ones are mended.", "empty ZIP archive"),
        ("Template", " problems: it can't be entered until the fatal ones are mended.", "run"),
    ],
)
def test_the_examples(visit, picture, example: str, said: str, listed: str) -> None:
    """The Space and the command line say the same of them."""
    visitor = visit()
    visitor.tab("Check and submit")
    visitor.button(example).click()
    folder = EXAMPLES / example.removeprefix("A ").split()[0].lower()
    checked = check(parts(folder), load("sample"))
    line = visitor.said("check-status")
    assert said in line and (checked.count == 0 or line.startswith(f"{checked.count} problem"))
    assert any(listed in row for row in problems(visitor))
    assert visitor.page.locator("#submit").is_enabled() == ("can be entered" in visitor.said("check-status"))
    if example == "A flawed one":
        picture(visitor, "check")


def test_downloads(visit) -> None:
    visitor = visit()
    visitor.check(*submission("Downloads"))
    with visitor.page.expect_download() as waiting:
        visitor.page.get_by_text("Scores as JSON").click()
    assert json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))["retrieval"]["measures"]["ndcg@10"]
    with visitor.page.expect_download() as waiting:
        visitor.page.get_by_text("All queries as CSV").click()
    assert len(Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()) >= 65


def test_own_files_are_entered_once_and_stand_on_the_board_as_text(visit, space) -> None:
    visitor = visit()
    before = len(space.entries)
    name = f"Own {FORMULA}"
    assert visitor.check(*submission(name)).startswith("No problems")
    assert len(space.entries) == before  # nothing is kept before the button is pressed
    for file in (space.folder / "uploads").rglob("run.jsonl"):
        file.unlink()  # as the server does after a while: a visitor may read the scores at leisure
    visitor.page.locator("#submit").click()
    assert visitor.said("submit-status").startswith(f"{name} is entered as ")
    again = visit()
    again.check(*submission(name))
    again.page.locator("#submit").click()
    assert "was entered before, with the very same files" in again.said("submit-status")
    assert len(space.entries) == before + 1
    assert "someone@example.org" not in space.entries[-1].read_text(encoding="utf-8")
    again.tab("Leaderboard")
    again.table.filter(has_text="Own x < y & =HYPERLINK(1) **b** [l]").first.wait_for()


def test_files_stay_as_they_are_while_they_are_checked(visit) -> None:
    """What is said of a submission is said of the files that lie there, and so are forgotten with them."""
    visitor = visit(slowed=4)
    visitor.tab("Check and submit")
    visitor.page.locator("#files input[type=file]").set_input_files(submission("First"))
    visitor.page.locator("#files .file-preview tr").nth(1).wait_for()
    area = visitor.page.locator("#submission")
    with visitor.held() as waiting:
        visitor.button("Check").press("Enter")
        visitor.until(lambda: waiting)
        assert area.evaluate("area => area.inert")
    visitor.page.locator("#check-status .said", has_text="No problems").wait_for()
    visitor.page.wait_for_function("document.activeElement.id === 'check-button'")
    assert not area.evaluate("area => area.inert")
    for example in ("A good example", "A hopeless one"):
        with visitor.held() as waiting:
            visitor.button(example).click()
            visitor.until(lambda: waiting)
            assert area.evaluate("area => area.inert")
        visitor.idle()
        assert not area.evaluate("area => area.inert")
    assert visitor.page.locator("#submit").is_visible()
    visitor.page.locator("#files").get_by_label("Clear").click()
    visitor.page.locator("#check-status .said", has_text="Press Check.").wait_for()
    assert not visitor.page.locator("#submit").is_visible()


def test_files_stay_as_they_are_while_they_are_entered(visit) -> None:
    """What is said of a submission that is entered isn't said of another, nor keeps that one from being entered."""
    visitor = visit()
    visitor.check(*submission("Entered and left"))
    area = visitor.page.locator("#submission")
    with visitor.held() as waiting:
        visitor.page.locator("#submit").dblclick()
        visitor.until(lambda: waiting)
        assert area.evaluate("area => area.inert")
    assert visitor.said("submit-status").startswith("Entered and left is entered as ")
    visitor.idle()
    assert not area.evaluate("area => area.inert")


@pytest.mark.parametrize("button", ["Check", "A good example", "Submit to the leaderboard"])
def test_files_are_free_again_when_the_server_refuses(visit, button: str) -> None:
    """As it does when its queue is full."""
    visitor = visit()
    visitor.check(*submission("Refused"))
    full = json.dumps({"detail": "Queue is full. Max size is 64 and size is 64."})
    visitor.page.route("**/queue/join*", lambda route: route.fulfill(status=503, body=full))
    visitor.button(button).click()
    visitor.page.get_by_text("busy").first.wait_for()
    visitor.page.wait_for_function("!document.querySelector('#submission').inert")
    visitor.page.unroute_all()
    visitor.faults[:] = [fault for fault in visitor.faults if "503" not in fault]
    visitor.does(lambda: visitor.button("Check").click())
    visitor.page.locator("#check-status .said", has_text="No problems").wait_for()


def test_markup_in_every_field_is_refused_and_shown_as_text(visit) -> None:
    about = dict.fromkeys(("name", "licence", "url", "contact", SCRIPT), SCRIPT)
    about |= {"authors": [SCRIPT], "used": [SCRIPT]}
    run = {"query_id": SCRIPT, "passages": [{"doc_id": SCRIPT, "score": 1}]}
    visitor = visit()
    visitor.check(upload("system.json", json.dumps(about).encode()), upload("run.jsonl", json.dumps(run).encode()))
    assert any("<script>alert(1)</script>" in row for row in problems(visitor))
    assert not visitor.page.locator("#submit").is_enabled()
    assert visitor.page.locator("img[src=x]").count() == 0  # and `visit` saw no dialog


def test_a_zip_by_another_name(visit) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../../etc/passwd", "x")
    visitor = visit()
    said = visitor.check(*submission("Zip")[:1], upload("run.jsonl", packed.getvalue()))
    assert said.startswith("1 problem:") and "fatal" in said
    assert any("ZIP archive, whatever its name says" in row for row in problems(visitor))
    assert not visitor.page.locator("#submit").is_enabled()


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_other_encodings(visit, encoding: str) -> None:
    line = '{"query_id": "b1-q1", "passages": [{"doc_id": "é", "score": 1}]}\n'
    visitor = visit()
    visitor.check(*submission("Encoded")[:1], upload("run.jsonl", line.encode(encoding)))
    assert any("run.jsonl" in row and "UTF-8" in row for row in problems(visitor))


def test_a_file_of_50_megabytes_is_refused(visit, tmp_path) -> None:
    huge = tmp_path / "run.jsonl"
    with huge.open("wb") as file:
        file.truncate(50_000_000)
    visitor = visit()
    visitor.tab("Check and submit")
    visitor.page.locator("#files input[type=file]").set_input_files(huge)
    visitor.page.get_by_text(re.compile("exceed the maximum allowed size")).first.wait_for()
    # The client's own words for it: the upload that it asks the progress of is gone.
    visitor.faults[:] = [fault for fault in visitor.faults if fault != "Response" and "404" not in fault]


def test_eight_visitors_enter_the_same_at_once(visit, space) -> None:
    before = len(space.entries)
    visitors = [visit() for _ in range(8)]
    files = submission("Eight visitors")
    for visitor in visitors:
        visitor.tab("Check and submit")
        visitor.page.locator("#files input[type=file]").set_input_files(files)
    for visitor in visitors:
        visitor.page.locator("#files .file-preview tr").nth(1).wait_for()
    for visitor in visitors:
        visitor.button("Check").click()
    for visitor in visitors:
        visitor.page.locator("#check-status .said", has_text="No problems").wait_for()
    for visitor in visitors:
        visitor.page.locator("#submit").click()
    said = [visitor.said("submit-status") for visitor in visitors]
    assert sorted("was entered before" in line for line in said) == [False] + 7 * [True]
    assert len(space.entries) == before + 1


def test_a_stranger_gets_no_other_files(space) -> None:
    """Neither the app's, nor the machine's, nor the store's; and no API beyond what the page uses."""
    entry = space.folder / "submissions" / "hidden.json"
    for path in (EXAMPLES.parent / "app.py", Path("/etc/passwd"), entry, EXAMPLES / ".." / "place.py"):
        assert space.status(f"gradio_api/file={path}") in {403, 404}
    assert space.status("gradio_api/call/search") in {403, 404, 405}
    assert space.status("monitoring") in {403, 404}
