"""What the tabs share: one benchmark, its explorer, and where submissions are kept; the environment decides which."""

import os
import threading

import canlegalrag
from canlegalrag import recipes
from canlegalrag.exploring import Explorer
from canlegalrag.submission.store import store


def _setting(name: str, usual: str) -> str:
    return os.environ.get(f"CANLEGALRAG_{name}", "").strip() or usual


def _models(chat: str) -> recipes.Models:
    """Models of a chat provider are paid for by whoever runs the Space: a budget stops them."""
    if chat.startswith("offline/"):
        return recipes.Models()
    from canlegalrag.calls import Calls

    return recipes.Models(Calls(recipes.cache_folder() / "calls", budget=float(_setting("BUDGET", "1"))))


CHAT = _setting("CHAT", "offline/extractive")
SOURCE = _setting("BENCHMARK", "sample")
BENCHMARK = canlegalrag.load(SOURCE)
EXPLORER = Explorer(BENCHMARK, generator=CHAT, models=_models(CHAT))
STORE = store(_setting("SUBMISSIONS", str(recipes.cache_folder() / "submissions")))

threading.Thread(target=EXPLORER.prepare, daemon=True).start()  # the page is there before the index
