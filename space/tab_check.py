"""Tab 2: check a submission, see its problems and scores, take them away, and enter it on the leaderboard."""

from pathlib import Path
from typing import Any

import check_tables
import gradio as gr
from gradio.processing_utils import save_bytes_to_cache
from gradio.utils import get_upload_folder
from listening import FORGET, HOLD, RELEASE, on, said, status
from place import BENCHMARK, STORE

from canlegalrag import files, submission
from canlegalrag.errors import InputError
from canlegalrag.leaderboard.cards import harmless
from canlegalrag.wording import many

Held = tuple[list[str], dict[str, Any] | None]
"""Which files were checked, and what would be entered: None where it can't be."""
EXAMPLES = {"template": "Template", "good": "A good example", "flawed": "A flawed one", "hopeless": "A hopeless one"}
_ENDINGS = sorted({Path(name).suffix for names in submission.PARTS.values() for name in names})
_TELL = """A submission is `system.json` (who and what) and `run.jsonl` or a TREC run (`run.trec`), with
`answers.jsonl` and `verdicts.jsonl` where there are answers. Nothing is kept or shown to others unless you press
Submit; then the scores and `system.json` without its contact are public. `canlegalrag check FOLDER` says the same
on your machine."""


def _verdict(checked: submission.Checked) -> str:
    count = many(checked.count, "problem")
    if checked.fatal:
        return f"{count}: it can't be entered until the fatal ones are mended. What is sound is scored below."
    listed = (
        f"{count}: it can be entered, but what is listed is left out."
        if checked.count
        else "No problems: it can be entered."
    )
    return listed


def check(given: list[str] | None) -> tuple[Any, ...]:
    """Check and score what was uploaded."""
    if not given:
        raise InputError("files", "there are none", "choose some, or press an example")
    checked = submission.check(submission.parts(map(Path, given)), BENCHMARK)
    scores = submission.evaluate(checked, BENCHMARK)
    entry = None if checked.fatal else submission.entry(checked, scores, BENCHMARK)
    return (
        (_which(given), entry),
        said(_verdict(checked)),
        check_tables.problems(checked),
        gr.Column(visible=True),
        "\n".join(f"- {harmless(note, 1000)}" for note in scores["notes"]),
        check_tables.scores_table(scores),
        check_tables.groups(scores),
        check_tables.worst(scores),
        _kept("scores.json", files.dumps(scores, indent=1)),
        _kept("queries.csv", submission.csv(scores["worst"])),
        gr.Button(interactive=entry is not None),
        "",
    )


def _which(given: list[str] | None) -> list[str]:
    """Files by their paths in Gradio's cache, whose folders are named after what they hold."""
    return sorted(given or ())


def _kept(name: str, text: str) -> Any:
    """A file to download, in the cache that Gradio empties by itself."""
    data = text.encode()
    return gr.DownloadButton(value=save_bytes_to_cache(data, name, get_upload_folder()), interactive=True)


def submit(checked: Held | None, given: list[str] | None) -> tuple[str, Any]:
    """Enter what was checked, as long as it is what lies there."""
    if checked is None or checked[1] is None:
        raise InputError("submission", "nothing was checked", "press Check first")
    if checked[0] != _which(given):
        raise InputError("submission", "other files were checked than those that lie here now", "press Check again")
    entry = checked[1]
    name = entry["system"]["name"]
    if STORE.add(entry):
        line = f"{name} is entered as {entry['id']}. See the leaderboard."
    else:
        line = f"{name} was entered before, with the very same files, as {entry['id']}: nothing was stored."
    return said(line), gr.Button(interactive=False)


def build(examples: Path) -> None:
    """The tab's layout."""
    checked = gr.State(None, time_to_live=3600)
    gr.Markdown(_TELL)
    with gr.Column(elem_id="submission"):
        with gr.Row():
            buttons = {k: gr.Button(label, size="sm", min_width=140, elem_id=k) for k, label in EXAMPLES.items()}
        given = gr.File(
            file_count="multiple", file_types=_ENDINGS, label="Files of a submission", height=180, elem_id="files"
        )
        go = gr.Button("Check", variant="primary", elem_id="check-button")
    line = status("check-status")
    with gr.Column(visible=False) as found:
        problems = gr.Dataframe(
            label="Problems and notes",
            interactive=False,
            wrap=True,
            column_widths=["90px", "220px", "420px", "380px"],
            max_height=360,
            elem_id="problems",
        )
        with gr.Row():
            enter = gr.Button("Submit to the leaderboard", variant="primary", interactive=False, elem_id="submit")
            as_json = gr.DownloadButton("Scores as JSON", interactive=False)
            as_csv = gr.DownloadButton("All queries as CSV", interactive=False)
        entered = status("submit-status")
        notes = gr.Markdown()
        scores = gr.Dataframe(label="Scores with 95 % intervals", interactive=False, max_height=420, elem_id="scores")
        with gr.Accordion("By persona, province and variant", open=False):
            groups = gr.Dataframe(label="Scores by group of queries", interactive=False, max_height=420)
        with gr.Accordion("Queries, the worst first", open=True):
            worst = gr.Dataframe(
                label="Queries",
                interactive=False,
                wrap=True,
                column_widths=["90px", "420px", *["110px"] * 10],
                max_height=420,
            )
    outputs = [checked, line, problems, found, notes, scores, groups, worst, as_json, as_csv, enter, entered]
    how = {"group": "check", "show_progress_on": line}

    def release(event: Any) -> None:
        for ended in (event.then, event.failure):  # `then` passes by what Gradio refuses, as when its queue is full
            ended(js=RELEASE)

    release(on(go.click, check, given, outputs, js=HOLD, **how))
    for name, button in buttons.items():
        there = [str(path) for path in sorted((examples / name).iterdir()) if path.is_file()]
        shown = on(button.click, lambda there=there: there, None, given, group="search", js=HOLD)
        shown.failure(js=RELEASE)
        release(on(shown.then, check, given, outputs, **how))
    for changed in (given.upload, given.delete, given.clear):
        changed(js=FORGET, outputs=[line, found, enter, entered])
    release(on(enter.click, submit, [checked, given], [entered, enter], group="check", js=HOLD))
