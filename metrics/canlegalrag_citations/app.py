"""The Space: an answer checked citation by citation, by the same functions that the module calls."""

import json
from pathlib import Path

import gradio as gr

import canlegalrag
from canlegalrag.errors import InputError
from canlegalrag.measures.citations import Registry, check, documents_of, score_answers

HEADS = ["citation", "name given", "status", "document", "reason"]
EXAMPLE = [
    "In Okafor v. Lindqvist Holdings Ltd., 2021 BCSC 90101, the owner had to explain. Smith v. Jones, 2019 BCSC 90104, "
    "says the same, and so does R. v. Nobody, 2020 BCCA 90999.",
    "2021-bcsc-90101\n2019-bcsc-90104",
    "",
]


def compute(answer: str, gold: str, documents: str) -> tuple[list[list[str]], dict]:
    """Check one answer against pasted documents, or against the embedded sample where none are pasted."""
    try:
        given = json.loads(documents) if documents.strip() else canlegalrag.load("sample").documents
        held = list(documents_of(given))
        checked = check(answer, Registry.build(held))
        rows = [[c.text, c.name, c.status, ", ".join(c.doc_ids), c.reason] for c in checked]
        return rows, score_answers([answer], [gold.split("\n") if gold.strip() else []], held)
    except (InputError, json.JSONDecodeError, TypeError) as error:
        raise gr.Error(str(error)) from error


demo = gr.Interface(
    compute,
    inputs=[
        gr.Textbox(label="Answer", lines=8, max_length=100_000),
        gr.Textbox(label="Gold: one id or citation a line", lines=3, max_length=100_000),
        gr.Textbox(
            label='Documents: [{"id": …, "citations": […], "title": …}]; the embedded sample where empty',
            lines=3,
            max_length=5_000_000,
        ),
    ],
    outputs=[gr.Dataframe(headers=HEADS, label="Citations", wrap=True), gr.JSON(label="Scores")],
    examples=[EXAMPLE],
    title="canlegalrag citations",
    article=Path(__file__).with_name("README.md").read_text(encoding="utf-8").split("---", 2)[2],
)

if __name__ == "__main__":
    demo.launch()
