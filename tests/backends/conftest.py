"""The local server as a fixture, and every remote model pointed at it."""

import importlib.util
import sys
from pathlib import Path

import pytest

from canlegalrag.calls import Calls

KEY = "sk-fake-0123456789-never-to-be-seen"
"""Stands for every provider's key."""


def _wire():
    spec = importlib.util.spec_from_file_location("wire", Path(__file__).with_name("wire.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def wires():
    """The module of the local servers."""
    return _wire()


@pytest.fixture
def wire(wires):
    """A local server; all is well until `wire.script` says otherwise."""
    server = wires.Wire()
    yield server
    server.close()


@pytest.fixture
def secret(monkeypatch):
    """A fake key, set for every provider."""
    for name in ("CANLEGALRAG_API_KEY", "HF_TOKEN", "GEMINI_API_KEY", "ISAACUS_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("CANLEGALRAG_BASE_URL", "OPENAI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return KEY


@pytest.fixture
def naps():
    """Seconds that calls waited, in order; nobody really waits."""
    return []


@pytest.fixture
def calls(tmp_path, naps):
    """Calls with a cache in `tmp_path`, which never really wait between tries."""
    with Calls(tmp_path / "cache", timeout=5, sleep=naps.append) as opened:
        yield opened


def _hugging_face(wire, monkeypatch):
    """Points Hugging Face's client at the local server; its look-up of the model's task needs the network."""
    pytest.importorskip("huggingface_hub", reason="pip install huggingface-hub")
    from huggingface_hub import constants
    from huggingface_hub.inference._providers import PROVIDERS, hf_inference

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # the local server isn't the network
    monkeypatch.setattr(PROVIDERS["hf-inference"]["feature-extraction"], "base_url", f"{wire.url}/hf-inference")
    monkeypatch.setattr(hf_inference, "_check_supported_task", lambda model, task: None)


@pytest.fixture
def remote(wire, secret, monkeypatch):
    """Makes a remote model that talks to the local server: `remote("google embedder", calls)`."""

    def make(name, calls, **options):
        if name.startswith("inference"):
            pytest.importorskip("httpx", reason="pip install httpx")
            from canlegalrag.backends import inference

            if name == "inference hub-embedder":
                _hugging_face(wire, monkeypatch)
                return inference.embedder("org/model", calls, **{"price_in": 0.0} | options)
            if name == "inference embedder":
                return inference.embedder("model", calls, **{"base_url": f"{wire.url}/v1", "price_in": 0.1} | options)
            prices = {"price_in": 0.1, "price_out": 0.5}
            return inference.generator("model", calls, **{"base_url": f"{wire.url}/v1"} | prices | options)
        if name.startswith("google"):
            pytest.importorskip("google.genai", reason="pip install google-genai")
            from canlegalrag.backends import google

            if name == "google embedder":
                return google.embedder("gemini-embedding-2", calls, **{"base_url": wire.url} | options)
            return google.generator("gemini-2.5-flash", calls, **{"base_url": wire.url, "thinking": 0} | options)
        pytest.importorskip("isaacus", reason="pip install isaacus")
        from canlegalrag.backends import isaacus

        if name == "isaacus embedder":
            return isaacus.embedder("kanon-2-embedder", calls, **{"base_url": f"{wire.url}/v1"} | options)
        return isaacus.reranker("kanon-2-reranker", calls, **{"base_url": f"{wire.url}/v1"} | options)

    yield make
    if "huggingface_hub" in sys.modules:
        sys.modules["huggingface_hub"].close_session()  # it keeps connections of its own
