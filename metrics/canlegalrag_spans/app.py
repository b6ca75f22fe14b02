"""The Space: a form over the same function that the module calls."""

import json
from pathlib import Path

import gradio as gr

from canlegalrag.errors import InputError
from canlegalrag.measures.span_lists import score_spans

EXAMPLE = [
    '[[["cuad/lease.txt", 0, 80], ["cuad/lease.txt", 40, 120]], [["maud/merger.txt", 0, 500]]]',
    '[[["cuad/lease.txt", 0, 100]], [["maud/other.txt", 10, 60]]]',
    '["cuad", "maud"]',
    "2",
    "strict",
]


def compute(predictions: str, references: str, names: str, k: str, mode: str) -> dict:
    """Score two JSON lists of lists of spans."""
    try:
        depths = json.loads(k) if k.strip().startswith("[") else int(k) if k.strip() else None
        labels = json.loads(names) if names.strip() else None
        return score_spans(json.loads(predictions), json.loads(references), datasets=labels, k=depths, mode=mode)
    except (InputError, ValueError, TypeError, RecursionError) as error:
        raise gr.Error(str(error)) from error


demo = gr.Interface(
    compute,
    inputs=[
        gr.Textbox(
            label="Predictions: for each query [document, start, end] …, best first", lines=4, max_length=1_000_000
        ),
        gr.Textbox(label="References: for each query the gold spans", lines=4, max_length=1_000_000),
        gr.Textbox(label="Data sets: one name a query; may be empty", max_length=100_000),
        gr.Textbox(label="k: a number, a list of them, or empty for 1, 2, 4, 8, 16, 32, 64", max_length=200),
        gr.Radio(["strict", "reference"], value="strict", label="Mode"),
    ],
    outputs=gr.JSON(label="Scores"),
    examples=[EXAMPLE],
    title="canlegalrag spans",
    article=Path(__file__).with_name("README.md").read_text(encoding="utf-8").split("---", 2)[2],
)

if __name__ == "__main__":
    demo.launch()
