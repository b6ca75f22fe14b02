"""The Space: an answer taken apart and judged claim by claim, by the same functions that the module calls."""

from pathlib import Path

import gradio as gr

from canlegalrag.errors import InputError
from canlegalrag.measures.claims import decided
from canlegalrag.submission.claim_lists import judge_answers, score_judged

HEADS = ["judged for", "claim", "verdict", "evidence", "quote", "reason"]
EXAMPLE = [
    "The landlord must return the deposit within 30 days. Interest is payable on it.",
    "The landlord must return the deposit within 15 days. The tenant may ask for interest.",
    "A landlord must return the security deposit within 15 days of the end of the tenancy.\n\n"
    "Interest is payable on a deposit from the day on which it was paid.",
]


def compute(answer: str, reference: str, evidence: str) -> tuple[list[list[str]], dict]:
    """Judge one answer by the stand-in: no model is called, and its verdicts are no measure of quality."""
    pieces = [piece.strip() for piece in evidence.split("\n\n") if piece.strip()]
    try:
        judged = judge_answers([answer], [reference.strip() or None], [pieces] if pieces else None)
        of = judged["0"]
        rows = []
        for purpose in of.asked:
            claims = of.claims if purpose in ("accuracy", "groundedness") else of.reference
            for claim, verdict in zip(claims or (), decided(of, purpose) or (), strict=True):
                row = [purpose, claim.text, "no verdict", "", "", ""]
                if verdict:
                    row[2:] = [verdict.label or "no verdict", verdict.against, verdict.quote, verdict.reason]
                rows.append(row)
        return rows, score_judged(judged)
    except InputError as error:
        raise gr.Error(str(error)) from error


demo = gr.Interface(
    compute,
    inputs=[
        gr.Textbox(label="Answer", lines=5, max_length=20_000),
        gr.Textbox(label="Reference answer; may be empty", lines=5, max_length=20_000),
        gr.Textbox(
            label="What the system was given, a blank line between pieces; may be empty", lines=5, max_length=200_000
        ),
    ],
    outputs=[gr.Dataframe(headers=HEADS, label="Claims", wrap=True), gr.JSON(label="Scores (offline/lexical)")],
    examples=[EXAMPLE],
    title="canlegalrag claims",
    article=Path(__file__).with_name("README.md").read_text(encoding="utf-8").split("---", 2)[2],
)

if __name__ == "__main__":
    demo.launch()
