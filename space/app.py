"""The Space: try a query, check a submission, read the leaderboard. Layout only; the library does the work."""

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform == "linux":
    # Threads come and go with the visitors, and each would leave a heap of its own behind: 20 to 30 MB in a thousand
    # searches of a large corpus. Two heaps (M_ARENA_MAX of glibc's mallopt) are refilled; the GIL lets one work anyway.
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(-8, 2)
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # before gradio is imported
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import gradio as gr  # noqa: E402
import tab_board  # noqa: E402
import tab_check  # noqa: E402
import tab_try  # noqa: E402
from listening import PRESSED  # noqa: E402
from place import BENCHMARK, SOURCE  # noqa: E402

from canlegalrag.exploring.pages import STYLE  # noqa: E402
from canlegalrag.submission import LIMITS  # noqa: E402

_FONT = ("system-ui", "sans-serif")
THEME = gr.themes.Default(primary_hue="red", font=_FONT, font_mono=("ui-monospace", "monospace")).set(
    button_primary_background_fill="*primary_700",
    button_primary_background_fill_hover="*primary_800",
    button_primary_background_fill_dark="*primary_700",
    color_accent="*primary_700",
    block_info_text_color="*neutral_600",
    block_info_text_color_dark="*neutral_300",
    checkbox_border_color="*neutral_500",
    checkbox_border_color_dark="*neutral_400",
    input_border_color="*neutral_400",
    input_border_color_dark="*neutral_500",
    body_text_color_subdued="*neutral_600",
    body_text_color_subdued_dark="*neutral_300",
)
"""Fonts of the visitor's machine; text has a contrast of 4.5 or more."""
NOTICE = """# canlegalrag: search and answers over Canadian case law, measured
**{what} Nothing here is legal advice.**"""
SAMPLE = "The decisions of this sample are fiction: no such court case exists."
CSS = (
    STYLE
    + """
.gradio-container{max-width:84rem!important;margin:0 auto}
gradio-app,.gradio-container,.gradio-container>.main{width:100%;min-width:0;box-sizing:border-box}
.gradio-container :is(.wrap,main,.tabs){min-width:0;max-width:100%}
.gradio-container .prose h1{font-size:1.35rem;margin:0 0 .2rem}
.said{margin:0;min-height:1.3rem;font-weight:600;color:var(--body-text-color)}
.opened{overflow-wrap:anywhere;min-width:0}
.opened h2,.opened h3{font-weight:650}
.opened h2:focus{outline:none}
.clr th,.clr td:not(.text){white-space:nowrap}
.clr td.text{min-width:9rem;overflow-wrap:break-word}
#card table{display:block;overflow-x:auto}
#card :is(td,th){white-space:nowrap;border-color:var(--border-color-primary)}
@media(max-width:50rem){.gradio-container>.main{padding:.6rem}}
.dark{--color-accent:#f87171;--link-text-color:#93c5fd}
[role=grid]{--font-mono:var(--font)}
.block:not(:focus-within) ul[role=listbox]{display:none}
:focus-visible{outline:3px solid var(--color-accent);outline-offset:2px}
"""
)

LISTS = """() => new MutationObserver(() => {
  document.querySelectorAll('ul[role=listbox]:not([tabindex])').forEach((one) => { one.tabIndex = -1; });
}).observe(document.body, {childList: true, subtree: true})"""
"""Tab leaves a list of choices for the next field, and its choices close with it (see CSS): Gradio's stay open."""


def main() -> gr.Blocks:
    """Lay out the three tabs."""
    with gr.Blocks(title="canlegalrag", analytics_enabled=False, delete_cache=(300, 1200)) as demo:
        what = SAMPLE if SOURCE == "sample" else f"The benchmark is {BENCHMARK.name}."
        gr.Markdown(NOTICE.format(what=what))
        with gr.Tabs(elem_id="tabs", overflow_behavior="wrap") as tabs:
            with gr.Tab("Try a query", id="try"):
                came = tab_try.build(demo)
            with gr.Tab("Check and submit", id="check"):
                tab_check.build(HERE / "examples")
            with gr.Tab("Leaderboard", id="board") as board:
                tab_board.build(came, tabs, board)
    return demo.queue(max_size=64, default_concurrency_limit=4, api_open=False)


demo = main()

if __name__ == "__main__":
    demo.launch(
        theme=THEME,
        css=CSS,
        js=f"() => {{ ({LISTS})(); ({PRESSED})(); }}",
        max_file_size=LIMITS.file_bytes,
        allowed_paths=[str(HERE / "examples")],
        state_session_capacity=500,
        footer_links=[],
        run_history=False,
        enable_monitoring=False,
        show_error=False,
        ssr_mode=False,
        share=False,
        mcp_server=False,
        pwa=False,
    )
