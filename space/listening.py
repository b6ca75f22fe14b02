"""How callbacks are wired: none is an API, each group has its queue, no path or secret reaches page or log."""

import functools
import html
import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from canlegalrag.errors import CanLegalRAGError

AT_ONCE = {"search": 4, "answer": 2, "check": 2, "board": 2}
"""Group -> callbacks that run at once: a slow check keeps checks waiting, not searches."""

LINKS = """
element.addEventListener('click', (event) => {
  const link = event.target.closest('[data-doc]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.replaceState(null, '', link.getAttribute('href'));
  trigger('click');
});
"""
"""A click on a decision's link makes it the address; by keyboard, Enter on a link is a click."""

ADDRESS = """() => {
  try { return decodeURIComponent((/^#doc=(.{1,500})$/.exec(location.hash) || ['', ''])[1]); } catch { return ''; }
}"""
"""The decision that the page's address asks for; empty for none."""

FOCUS = """() => setTimeout(() => {
  const heading = [...document.querySelectorAll('.opened h2')].find((one) => one.offsetParent);
  if (heading) { heading.tabIndex = -1; heading.focus(); heading.scrollIntoView({block: 'start'}); }
}, 150)"""
"""Moves the focus to what was opened, so that a screen reader and the keyboard go on from there."""

FORGET = """() => {
  const update = (what) => ({__type__: 'update', ...what});
  return ['Press Check.', update({visible: false}), update({interactive: false}), ''];
}"""
"""Other files: what was checked isn't what would be submitted. In the page itself: by way of the server this could come
after the answer of a check that was pressed later, and wipe it away."""

HOLD = """(...given) => {
  const area = document.querySelector('#submission');
  area.focused = document.activeElement;
  document.querySelectorAll('#submission, #submit').forEach((one) => { one.inert = true; });
  return given;
}"""
"""No other files as long as some are being checked or entered: what is said then is said of those that lie there."""

RELEASE = """() => {
  const area = document.querySelector('#submission');
  document.querySelectorAll('#submission, #submit').forEach((one) => { one.inert = false; });
  if (document.activeElement === document.body && area.contains(area.focused)) area.focused.focus();
}"""

PRESSED = """() => addEventListener('click', (event) => {
  const button = event.target.closest('#submit');
  if (button) button.inert = true;
}, true)"""
"""The second of two quick clicks on Submit would be told that the first has entered the very same: Gradio takes both
before either is on its way."""

_log = logging.getLogger("canlegalrag.space")


def guarded(callback: Callable[..., Any], outputs: Any) -> Callable[..., Any]:
    """A callback whose faults become a message: of ours in full, of any other nothing but that there was one.

    The page stays as it is: an error of Gradio's would lie over everything that the callback writes to.
    """
    many = len(outputs) if isinstance(outputs, list) else 1
    nothing = tuple(gr.skip() for _ in range(many)) if many > 1 else gr.skip()

    @functools.wraps(callback)
    def run(*given: Any) -> Any:
        try:
            return callback(*given)
        except CanLegalRAGError as error:
            gr.Warning(html.escape(str(error)))
        except Exception as error:
            steps = traceback.extract_tb(error.__traceback__)  # the message itself may hold a visitor's text or a path
            where = " > ".join(f"{Path(step.filename).name}:{step.lineno}" for step in steps)
            _log.error("%s in %s: %s", type(error).__name__, callback.__name__, where)
            gr.Warning("Something went wrong here. It isn't your fault; please try again.")
        return nothing

    return run


def on(
    event: Callable[..., Any], callback: Callable[..., Any], inputs: Any, outputs: Any, group: str, **more: Any
) -> Any:
    """Call back on an event, in the queue of a group."""
    queue = {"concurrency_id": group, "concurrency_limit": AT_ONCE[group]}
    return event(guarded(callback, outputs), inputs, outputs, api_visibility="private", **queue, **more)


def page(label: str, name: str, value: str = "") -> gr.HTML:
    """A place for a page of the library, which escapes all text in it."""
    return gr.HTML(
        html_template=f'<section class="opened" aria-label="{label}">${{value}}</section>',
        value=value,
        elem_id=name,
        js_on_load=LINKS,
        apply_default_css=False,
    )


def status(name: str) -> gr.HTML:
    """A line that is read aloud when it changes; its text is escaped by `said`."""
    return gr.HTML("", html_template='<p class="said" role="status">${value}</p>', elem_id=name, js_on_load=None)


def said(text: str) -> str:
    """Text for `status`."""
    return html.escape(text)
