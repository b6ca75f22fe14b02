"""Models by name: found, suggested, refused."""

import sys
from importlib import metadata
from types import ModuleType
from typing import Any

import pytest

from canlegalrag import backends
from canlegalrag.errors import InputError
from canlegalrag.protocols import Decomposer, Embedder, Generator, Judge, Reranker, Sorter


def test_the_roles_are_what_the_protocols_say() -> None:
    assert isinstance(backends.embedder("offline/hashing"), Embedder)
    assert isinstance(backends.reranker("offline/overlap"), Reranker)
    assert isinstance(backends.generator("offline/extractive"), Generator)
    assert isinstance(backends.judge("offline/lexical"), Judge)
    assert isinstance(backends.decomposer("offline/sentences"), Decomposer)
    assert isinstance(backends.sorter("offline/rules"), Sorter)
    for role in backends.ROLES:
        assert callable(getattr(backends, role))


def test_providers_are_the_modules_without_a_low_line() -> None:
    assert {"huggingface", "offline", "static"} <= set(backends.providers())
    assert not [name for name in backends.providers() if name.startswith("_")]


@pytest.mark.parametrize("provider", backends.providers())
def test_every_provider_says_what_it_needs_without_loading_anything(provider: str) -> None:
    assert backends.roles(provider)
    offline = dict(
        zip(backends.ROLES, ["hashing", "overlap", "extractive", "lexical", "sentences", "rules"], strict=True)
    )
    models = {"offline": offline}
    for role in backends.roles(provider):
        model = models.get(provider, {}).get(role, "some/model")
        try:
            found = backends.needs(f"{provider}/{model}", role)
        except InputError:  # a provider may know its models by name
            continue
        assert isinstance(found, backends.Needs)
        assert all(price is None or price >= 0 for price in (found.price_in, found.price_out))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ofline/hashing", "there is no provider 'ofline' (did you mean 'offline'?)"),
        ("nothing-like-it/x", "providers: "),
        ("offline/hashin", "offline/hashin: is no embedder (offline/hashing is one)"),
        ("hashing", "is not written provider/model"),
        ("offline/", "is not written provider/model"),
        ("offline/ ", "is not written provider/model"),
        ("", "is not written provider/model"),
        ("_checks/x", "there is no provider '_checks'"),
        ("os/x", "there is no provider 'os'"),
        (None, "is not written provider/model"),
        (5, "is not written provider/model"),
    ],
)
def test_names_that_are_none(name: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        backends.embedder(name)
    assert message in str(caught.value)


def test_a_role_that_the_provider_does_not_have() -> None:
    with pytest.raises(InputError, match=r"static has no generator \(it has: embedder; a generator is with: .*offline"):
        backends.generator("static/wordllama")
    with pytest.raises(InputError, match="there is no role 'jugde'"):
        backends.needs("offline/hashing", "jugde")
    with pytest.raises(InputError, match=r"static has no judge \(it has: embedder; a judge is with: .*google.*offline"):
        backends.judge("static/wordllama")
    with pytest.raises(InputError, match=r"offline/hashing: is no judge \(offline/lexical is one\)"):
        backends.judge("offline/hashing")


def test_options_that_are_none() -> None:
    with pytest.raises(InputError, match=r"there is no option 'dimm' \(did you mean 'dim'\?\)"):
        backends.embedder("offline/hashing", dimm=5)
    with pytest.raises(InputError, match=r"there is no option 'dim' \(it has: none\)"):
        backends.reranker("offline/overlap", dim=5)


class _Fake:
    def __init__(self, model: str) -> None:
        self.identity, self.counts = {"model": f"fake/{model}"}, {"texts": 0}

    def rerank(self, query: str, texts: list[str]) -> list[float]:
        return [0.0 for _ in texts]


def _plug(monkeypatch: pytest.MonkeyPatch, **named: str) -> None:
    points = [metadata.EntryPoint(name, value, "canlegalrag.backends") for name, value in named.items()]
    monkeypatch.setattr(metadata, "entry_points", lambda *, group: points if group == "canlegalrag.backends" else [])


def test_plug_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("canlegalrag_fake")
    module.reranker = lambda model, calls: _Fake(model)  # type: ignore[attr-defined]
    module.needs = lambda model, role: backends.Needs(note="made up")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "canlegalrag_fake", module)
    _plug(monkeypatch, fake="canlegalrag_fake", gone="canlegalrag_gone", thing="sys:path", offline="canlegalrag_fake")
    assert {"fake", "gone", "offline"} <= set(backends.providers())
    assert backends.roles("fake") == ["reranker"]
    assert backends.reranker("fake/a/b").identity["model"] == "fake/a/b"
    assert backends.needs("fake/a", "reranker").note == "made up"
    with pytest.raises(InputError, match="'canlegalrag_gone' can't be imported: ModuleNotFoundError"):
        backends.reranker("gone/x")
    with pytest.raises(InputError, match="'sys:path' is not a module"):
        backends.reranker("thing/x")
    # A plug-in doesn't take the place of a provider of ours, and one that is broken doesn't hide the others.
    assert backends.reranker("offline/overlap").identity["model"] == "offline/overlap"
    with pytest.raises(InputError, match=r"a reranker is with: .*fake"):
        backends.reranker("static/wordllama")


class _Writes:
    def __init__(self, model: str, **options: Any) -> None:
        self.identity, self.counts, self.options = {"model": f"writes/{model}"}, {"texts": 0}, options

    def generate(self, prompts: list[Any]) -> list[Any]:
        raise AssertionError("nothing is asked here")


def test_a_generator_judges_takes_apart_and_sorts_through_a_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[_Writes] = []

    def generator(model: str, calls: Any, *, window: int = 5) -> _Writes:
        made.append(_Writes(model, calls=calls, window=window))
        return made[-1]

    module = ModuleType("canlegalrag_writes")
    module.generator = generator  # type: ignore[attr-defined]
    module.needs = lambda model, role: backends.Needs(note=role)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "canlegalrag_writes", module)
    _plug(monkeypatch, writes="canlegalrag_writes")
    assert backends.roles("writes") == ["generator", "judge", "decomposer", "sorter"]
    calls: Any = object()
    judge = backends.judge("writes/a/b", calls, window=7, per_call=3)
    assert isinstance(judge, Judge)
    assert made[-1].options == {"calls": calls, "window": 7}
    assert (judge.identity["model"], judge.identity["per_call"]) == ("writes/a/b", 3)
    assert isinstance(backends.decomposer("writes/a"), Decomposer)
    assert isinstance(backends.sorter("writes/a", per_call=2), Sorter)
    # It needs what its generator needs.
    assert backends.needs("writes/a", "judge").note == backends.needs("writes/a", "generator").note == "generator"
    with pytest.raises(InputError, match=r"there is no option 'per_cal' \(did you mean 'per_call'\?\)"):
        backends.judge("writes/a", per_cal=3)
    with pytest.raises(InputError, match="there is no option 'threshold'"):
        backends.judge("writes/a", threshold=0.5)
    with pytest.raises(InputError, match=r"writes has no reranker"):
        backends.reranker("writes/a")


def test_a_provider_s_own_judge_comes_before_its_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("canlegalrag_both")
    module.generator = lambda model, calls: None  # type: ignore[attr-defined]
    module.judge = lambda model, calls: backends.judge("offline/lexical")  # type: ignore[attr-defined]
    module.needs = lambda model, role: backends.Needs(note=role)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "canlegalrag_both", module)
    _plug(monkeypatch, both="canlegalrag_both")
    assert backends.judge("both/x").identity["model"] == "offline/lexical"
    assert backends.needs("both/x", "judge").note == "judge"
    assert backends.needs("both/x", "sorter").note == "generator"


@pytest.mark.parametrize("provider", backends.providers())
def test_whoever_writes_judges(provider: str) -> None:
    has = backends.roles(provider)
    assert "generator" not in has or {"judge", "decomposer", "sorter"} <= set(has)
