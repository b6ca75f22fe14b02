"""The Space: a form over the same function that the module calls."""

import json
from pathlib import Path

import gradio as gr

from canlegalrag.errors import InputError
from canlegalrag.measures.lists import score_lists

EXAMPLE = [
    '[["2019-scc-65", "2019-scc-65", "2003-scc-24"], ["2016-scc-27"]]',
    '[["2003-scc-24", "2019-scc-65"], ["2008-scc-9"]]',
    10,
    "standard",
]


def compute(predictions: str, references: str, k: float, family: str) -> dict:
    """Score two JSON lists of lists of ids."""
    try:
        return score_lists(json.loads(predictions), json.loads(references), k=int(k), family=family)
    except (InputError, json.JSONDecodeError, TypeError) as error:
        raise gr.Error(str(error)) from error


demo = gr.Interface(
    compute,
    inputs=[
        gr.Textbox(label="Predictions: for each query the ids found, best first", lines=4, max_length=1_000_000),
        gr.Textbox(label="References: for each query the relevant ids", lines=4, max_length=1_000_000),
        gr.Number(label="k", value=10, minimum=1, precision=0),
        gr.Radio(["standard", "paper"], value="standard", label="Family"),
    ],
    outputs=gr.JSON(label="Scores"),
    examples=[EXAMPLE],
    title="canlegalrag retrieval",
    article=Path(__file__).with_name("README.md").read_text(encoding="utf-8").split("---", 2)[2],
)

if __name__ == "__main__":
    demo.launch()
