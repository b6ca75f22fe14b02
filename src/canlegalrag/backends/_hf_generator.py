"""Any causal language model with a chat template as a generator, by transformers, greedily."""

import time
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from canlegalrag.backends._batches import padded, token_batches
from canlegalrag.backends._checks import check_positive, texts_of
from canlegalrag.backends._counts import Counts
from canlegalrag.backends._models import Place, loading
from canlegalrag.backends._thinking import split_thinking
from canlegalrag.backends._torch import Runtime, library, running, versions
from canlegalrag.errors import InputError
from canlegalrag.files import dumps
from canlegalrag.types import Completion, Prompt

__all__ = ["ChatGenerator"]

_ENDLESS = 1 << 20
_SCHEMA = "\n\nReply with one JSON value and nothing else. It must follow this JSON schema:\n"


class ChatGenerator:
    """Writes by a causal language model: greedy, so that the same prompt gives the same text."""

    def __init__(self, name: str, place: Place, run: Runtime, *, thinking: bool) -> None:
        self._name, self._place, self._run, self._thinking = name, place, run, thinking
        transformers = library("transformers")
        with loading(name, place):
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(place.where, revision=place.commit)
            self._model = transformers.AutoModelForCausalLM.from_pretrained(
                place.where, revision=place.commit, dtype=run.dtype
            ).to(run.device)
        self._model.eval()
        if not self._tokenizer.chat_template:
            raise InputError(name, "has no chat template", "choose a model that is tuned to follow instructions")
        self._ends = _ends(self._model, self._tokenizer)
        self._counts, self._one = Counts("texts", "truncated", "tokens"), Lock()

    @property
    def identity(self) -> Mapping[str, Any]:
        """What it writes depends on; the device is left out, though the last digits that it moves can tip a choice."""
        return {
            "model": self._name,
            "source": self._place.source,
            "revision": self._place.revision,
            "window": self._window(),
            "temperature": 0,
            "thinking": self._thinking,
            "schema": "asked for in the prompt, not enforced",
            "dtype": str(self._model.dtype).removeprefix("torch."),
            "versions": versions("transformers"),
        }

    @property
    def counts(self) -> Mapping[str, int]:
        """Prompts so far (`texts`), how many were too long and lost their end, and the tokens read."""
        return self._counts.now()

    def _window(self) -> int | None:
        window = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)
        return int(window) if window and window < _ENDLESS else None

    def tokens(self, text: str) -> int:
        """Tokens of a text, without those that the chat template puts around it."""
        texts_of(self._name, [text])
        with self._one:
            return len(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Answer each prompt; prompts that may have equally long replies are answered together."""
        for prompt in prompts:
            texts_of(self._name, [prompt.user, prompt.system])
            check_positive(self._name, "max_tokens", prompt.max_tokens)
        with self._one:  # a tokenizer can't be used by two threads at once
            return self._generated(prompts)

    def _generated(self, prompts: Sequence[Prompt]) -> list[Completion]:
        coded = [self._coded(prompt) for prompt in prompts]
        done: dict[int, Completion] = {}
        for most in sorted({prompt.max_tokens for prompt in prompts}):
            same = [i for i, prompt in enumerate(prompts) if prompt.max_tokens == most]
            # What is written takes room as well as what is read.
            for batch in token_batches([len(coded[i]) + most for i in same], self._run.batch_tokens):
                chosen = [same[i] for i in batch]
                done.update(zip(chosen, self._batch([coded[i] for i in chosen], most), strict=True))
        self._counts.add(texts=len(prompts), tokens=sum(map(len, coded)))
        return [done[i] for i in range(len(prompts))]

    def _coded(self, prompt: Prompt) -> list[int]:
        """Tokens of a prompt in its template; one that leaves no room for a reply loses the end of the user's text."""
        user, window = prompt.user, self._window()
        ids = self._templated(prompt, user)
        if window is None or len(ids) + prompt.max_tokens <= window:
            return ids
        self._counts.add(truncated=1)
        spans = self._tokenizer(user, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        offsets = spans["offset_mapping"]
        keep = len(offsets) - (len(ids) + prompt.max_tokens - window)
        while keep > 0:
            ids = self._templated(prompt, user[: offsets[keep - 1][1]])
            over = len(ids) + prompt.max_tokens - window
            if over <= 0:
                return ids
            keep -= over  # where the text was cut, it may fall into other tokens than before
        what = f"max_tokens {prompt.max_tokens} and the instructions fill its window of {window} tokens"
        raise InputError(self._name, what, "lower max_tokens or shorten the instructions")

    def _templated(self, prompt: Prompt, user: str) -> list[int]:
        if prompt.schema is not None:
            user += _SCHEMA + dumps(prompt.schema)
        messages = [{"role": "system", "content": prompt.system}] if prompt.system else []
        messages.append({"role": "user", "content": user})
        text = self._tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, enable_thinking=self._thinking
        )
        return list(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def _batch(self, rows: list[list[int]], most: int) -> list[Completion]:
        torch, begun = library("torch"), time.perf_counter()
        fill = self._tokenizer.pad_token_id
        fill = (self._ends or [0])[0] if fill is None else fill
        ids = torch.from_numpy(padded(rows, fill, left=True)).to(self._run.device)
        mask = torch.from_numpy(padded([[1] * len(row) for row in rows], 0, left=True)).to(self._run.device)
        settings = library("transformers").GenerationConfig(
            do_sample=False, max_new_tokens=most, eos_token_id=self._ends or None, pad_token_id=fill
        )
        with running(self._name):
            written = self._model.generate(input_ids=ids, attention_mask=mask, generation_config=settings)
        seconds = (time.perf_counter() - begun) / len(rows)
        new = written[:, ids.shape[1] :].tolist()
        return [self._completion(len(row), tokens, seconds) for row, tokens in zip(rows, new, strict=True)]

    def _completion(self, read: int, tokens: list[int], seconds: float) -> Completion:
        end = next((i for i, token in enumerate(tokens) if token in self._ends), None)
        thinking, text = split_thinking(self._tokenizer.decode(tokens[:end], skip_special_tokens=True))
        stop = "length" if end is None else "stop" if text else "empty"
        count = len(tokens) if end is None else end + 1
        usage = {"input_tokens": read, "output_tokens": count, "cost": 0.0, "seconds": round(seconds, 6)}
        return Completion(text, stop, thinking, usage)


def _ends(model: Any, tokenizer: Any) -> list[int]:
    """Tokens that end a reply: the model's, and the tokenizer's."""
    given = model.generation_config.eos_token_id
    ends = given if isinstance(given, list) else [given]
    return sorted({token for token in (*ends, tokenizer.eos_token_id) if token is not None})
