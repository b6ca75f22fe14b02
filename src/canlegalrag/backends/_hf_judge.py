"""Models of entailment as judges, by transformers: NLI classifiers and MiniCheck, with probabilities."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from canlegalrag.backends._batches import padded, token_batches
from canlegalrag.backends._checks import check_positive, texts_of
from canlegalrag.backends._counts import Counts
from canlegalrag.backends._hf_labels import labels_of
from canlegalrag.backends._models import Place, loading
from canlegalrag.backends._torch import Runtime, library, running, versions
from canlegalrag.errors import CallError, InputError
from canlegalrag.measures.decided import LABELS
from canlegalrag.types import Claim, Task, Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Chances = NDArray[np.float64]

__all__ = ["EntailmentJudge"]

_ENDLESS = 1 << 20
_PREFIX = "predict:"  # how MiniCheck's T5 is asked; its other models have none
_T5_WINDOW = 768  # MiniCheck reads pieces of about 500 words
_OVERLAP = 4  # windows share this part of their evidence: a quarter
_ROOM = 32  # tokens of evidence that a window must have beside the claim


@dataclass(frozen=True, slots=True)
class _Window:
    """A claim beside a stretch of the evidence."""

    owner: int
    """Position of the claim among all that are judged."""
    start: int
    """First character of the stretch."""
    end: int
    """One past the last."""
    ids: list[int]
    """What the model reads."""
    types: list[int]
    """Token types; empty where the model has none."""


def writes(config: Any) -> bool:
    """Whether a model is one of those that read and then write, as MiniCheck's T5 is."""
    return bool(config.is_encoder_decoder) and not _named(config, "ForSequenceClassification")


def _named(config: Any, ending: str) -> bool:
    return any(name.endswith(ending) for name in config.architectures or ())


class EntailmentJudge:
    """Labels claims by the probabilities of a model of entailment: premise the evidence, hypothesis the claim.

    Evidence that is longer than the model's window is cut into windows that overlap by a quarter, and the window
    with the highest probability of entailment decides: `supported` from the threshold on; else `contradicted` where
    any window has the threshold of contradiction; else `unsupported`. A claim that leaves no room for evidence has no
    label and is counted as truncated; nothing is cut silently.
    """

    def __init__(
        self,
        name: str,
        place: Place,
        run: Runtime,
        *,
        minicheck: bool,
        labels: Sequence[str] | None,
        threshold: float,
        window: int | None,
    ) -> None:
        if not isinstance(threshold, int | float) or isinstance(threshold, bool) or not 0 < threshold <= 1:
            raise InputError(name, f"threshold {threshold!r} is no probability", "above 0, up to 1; 0.5 by default")
        check_positive(name, "window", window)
        self._name, self._place, self._run = name, place, run
        self._minicheck, self._threshold = minicheck, float(threshold)
        transformers = library("transformers")
        with loading(name, place):
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(place.where, revision=place.commit)
            config = transformers.AutoConfig.from_pretrained(place.where, revision=place.commit)
            self._seq2seq = writes(config)
            kind = "AutoModelForSeq2SeqLM" if self._seq2seq else "AutoModelForSequenceClassification"
            self._model = getattr(transformers, kind).from_pretrained(
                place.where, revision=place.commit, dtype=run.dtype
            )
        self._model = self._model.to(run.device).eval()
        if not self._tokenizer.is_fast:
            raise InputError(name, "has no fast tokenizer, so places in a text aren't known", "choose another model")
        if minicheck and self._tokenizer.eos_token_id is None:
            raise InputError(name, "has no end-of-text token, which MiniCheck parts by", "leave out form='minicheck'")
        self._labels = ("unsupported", "supported") if self._seq2seq else labels_of(name, config, labels, minicheck)
        self._answers = _first_ids(name, self._tokenizer) if self._seq2seq else []
        self._window = window or self._own_window()
        blank = list(self._tokenizer("")["input_ids"])
        self._before = [*blank[:-1], *(self._coded(_PREFIX)[0] if self._seq2seq else [])]
        self._after = blank[-1:]
        separated = len(self._before) + 1 + len(self._after)
        self._frame = separated if minicheck else self._tokenizer.num_special_tokens_to_add(pair=True)
        self._counts, self._one = Counts("texts", "truncated", "tokens", "windows"), Lock()

    def _own_window(self) -> int:
        """Tokens that the model reads, special ones included."""
        if self._seq2seq:
            return _T5_WINDOW
        config = self._model.config
        places = getattr(config, "max_position_embeddings", None)
        if places and config.model_type in ("roberta", "xlm-roberta", "camembert", "longformer"):
            places -= int(config.pad_token_id or 0) + 1  # their places are counted from behind the padding's id
        limits = [int(n) for n in (places, self._tokenizer.model_max_length) if n and n < _ENDLESS]
        return min(limits, default=512)

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its verdicts depend on; the device is left out, since it moves the last digits only."""
        return {
            "model": self._name,
            "source": self._place.source,
            "revision": self._place.revision,
            "form": "minicheck" if self._minicheck else "nli",
            "labels": list(self._labels),
            "threshold": self._threshold,
            "window": self._window,
            "dtype": str(self._model.dtype).removeprefix("torch."),
            "versions": versions("transformers"),
        }

    @property
    def counts(self) -> Mapping[str, int]:
        """Claims so far (`texts`), those too long to be judged (`truncated`), `windows` read, and their `tokens`."""
        return self._counts.now()

    def judge(self, tasks: Sequence[Task]) -> list[list[Verdict]]:
        """Judge each task; all windows of all tasks are batched together, by length."""
        for task in tasks:
            texts_of(self._name, [task.evidence, *(claim.text for claim in task.claims)])
        pairs = [(task, claim) for task in tasks for claim in task.claims]
        with self._one:  # a tokenizer can't be used by two threads at once
            windows, why = self._windows(pairs)
            chances = self._chances(windows)
        of: list[list[int]] = [[] for _ in pairs]
        for n, window in enumerate(windows):
            of[window.owner].append(n)
        found = []
        for i, (task, claim) in enumerate(pairs):
            if i in why:
                found.append(Verdict(claim, task.against, None, reason=why[i], judge=self._name))
            else:
                found.append(self._verdict(task, claim, [windows[n] for n in of[i]], chances[of[i]]))
        self._counts.add(texts=len(pairs), windows=len(windows), tokens=sum(len(w.ids) for w in windows))
        rest = iter(found)
        return [[next(rest) for _ in task.claims] for task in tasks]

    def _verdict(self, task: Task, claim: Claim, windows: list[_Window], chances: "Chances") -> Verdict:
        best = int(chances[:, 0].argmax())
        worst = int(chances[:, 1].argmax())
        if chances[best, 0] >= self._threshold:
            at, label = best, "supported"
        elif chances[worst, 1] >= self._threshold:
            at, label = worst, "contradicted"
        else:
            at, label = best, "unsupported"
        window = windows[at]
        named = ", ".join(
            f"{name} {chance:.3f}"
            for name, chance in zip(LABELS, chances[at].tolist(), strict=True)
            if name in self._labels
        )
        where = f" in window {at + 1} of {len(windows)}" if len(windows) > 1 else ""
        quote = task.evidence[window.start : window.end]
        return Verdict(claim, task.against, label, float(chances[best, 0]), named + where, quote, self._name)

    def _windows(self, pairs: list[tuple[Task, Claim]]) -> tuple[list[_Window], dict[int, str]]:
        """Windows of all claims, and why those without any have none."""
        coded = {text: self._coded(text) for text in {t.evidence for t, _ in pairs} | {c.text for _, c in pairs}}
        windows: list[_Window] = []
        why: dict[int, str] = {}
        for i, (task, claim) in enumerate(pairs):
            read, said = coded[task.evidence], coded[claim.text][0]
            room = self._window - len(said) - self._frame
            if not (task.evidence.strip() and claim.text.strip()):
                why[i] = f"the {'claim' if task.evidence.strip() else 'evidence'} is blank"
            elif room < min(_ROOM, len(read[0])):
                why[i] = f"the claim's {len(said)} tokens leave no room for evidence in a window of {self._window}"
                self._counts.add(truncated=1)
            elif self._minicheck:
                windows += self._joined(i, *read, said, room)
            else:
                windows += self._paired(i, task.evidence, claim.text, room)
        return windows, why

    def _coded(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        found = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return list(found["input_ids"]), list(found["offset_mapping"])

    def _joined(
        self, owner: int, ids: list[int], offsets: list[tuple[int, int]], claim: list[int], room: int
    ) -> Iterator[_Window]:
        """As MiniCheck reads them: one text, the end-of-text token between evidence and claim."""
        step = room - room // _OVERLAP
        for start in range(0, max(0, len(ids) - room) + step, step):
            places = offsets[start : start + room]
            first, last = (places[0][0], places[-1][1]) if places else (0, 0)
            middle = [*ids[start : start + room], self._tokenizer.eos_token_id, *claim]
            yield _Window(owner, first, last, [*self._before, *middle, *self._after], [])

    def _paired(self, owner: int, evidence: str, claim: str, room: int) -> Iterator[_Window]:
        """As NLI models read them: two texts, put together by the tokenizer."""
        coded = self._tokenizer(
            evidence,
            claim,
            truncation="only_first",
            max_length=self._window,
            stride=room // _OVERLAP,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            verbose=False,
        )
        types = coded.get("token_type_ids")
        for n, ids in enumerate(coded["input_ids"]):
            both = zip(coded.sequence_ids(n), coded["offset_mapping"][n], strict=True)
            places = [place for which, place in both if which == 0]
            first, last = (places[0][0], places[-1][1]) if places else (0, 0)
            yield _Window(owner, first, last, list(ids), list(types[n]) if types else [])

    def _chances(self, windows: list[_Window]) -> "Chances":
        """(windows, 3) float64: probability of `supported`, `contradicted`, `unsupported`; rows add up to 1."""
        torch = library("torch")
        found = np.zeros((len(windows), 3))
        with running(self._name):
            for batch in token_batches([len(w.ids) for w in windows], self._run.batch_tokens):
                rows = [windows[i] for i in batch]
                fed = {"input_ids": [w.ids for w in rows], "attention_mask": [[1] * len(w.ids) for w in rows]}
                if rows[0].types:
                    fed["token_type_ids"] = [w.types for w in rows]
                fills = {"input_ids": self._tokenizer.pad_token_id or 0}
                left = self._tokenizer.padding_side == "left"
                tables = {
                    field: torch.from_numpy(padded(values, fills.get(field, 0), left=left)).to(self._run.device)
                    for field, values in fed.items()
                }
                chances = torch.softmax(self._logits(tables).double(), dim=-1).cpu().numpy()
                for column, label in enumerate(self._labels):
                    found[batch, LABELS.index(label)] += chances[:, column]
        if not np.isfinite(found).all():
            raise CallError(self._name, "gives probabilities that are no numbers", "try dtype float32")
        return found

    def _logits(self, tables: Mapping[str, Any]) -> Any:
        if not self._seq2seq:
            return self._model(**tables).logits
        begin = self._model.config.decoder_start_token_id
        start = tables["input_ids"].new_full((len(tables["input_ids"]), 1), begin)
        return self._model(**tables, decoder_input_ids=start).logits[:, 0, self._answers]


def _first_ids(name: str, tokenizer: Any) -> list[int]:
    """First token of `0` and of `1`: what MiniCheck's T5 begins its reply with where it means no and yes."""
    ids = [tokenizer(digit, add_special_tokens=False)["input_ids"][:1] for digit in "01"]
    if not all(ids) or ids[0] == ids[1]:
        raise InputError(name, "its tokenizer doesn't tell 0 from 1", "choose a MiniCheck model")
    return [first[0] for first in ids]
