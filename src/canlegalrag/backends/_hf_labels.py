"""What the labels of a model of entailment mean."""

import re
from collections.abc import Sequence
from typing import Any

from canlegalrag.errors import InputError

__all__ = ["labels_of"]

_MEANINGS = {
    "supported": "entailment entails entailed entail supported support supports consistent grounded yes",
    "contradicted": "contradiction contradicts contradicted contradict refuted refutes",
    "unsupported": "neutral notentailment nonentailment notentailed notsupported unsupported undetermined "
    "notenoughinfo nei inconsistent hallucinated no",
}
_OF = {word: label for label, words in _MEANINGS.items() for word in words.split()}


def labels_of(name: str, config: Any, given: Sequence[str] | None, minicheck: bool) -> tuple[str, ...]:
    """What each output means, in the order of the outputs: `supported`, `contradicted` or `unsupported`.

    Args:
        name: `provider/model`, for errors.
        config: the model's; its `id2label` is read where nothing is given.
        given: the meanings, as the caller says them.
        minicheck: whether it is a MiniCheck model, whose second output is `supported` though its labels don't say so.

    Raises:
        InputError: the labels can't be understood, or those given don't fit the model.
    """
    count = int(config.num_labels)
    named = [str(config.id2label.get(i, f"LABEL_{i}")) for i in range(count)]
    fix = "say what they mean, in their order: labels=['contradicted', 'unsupported', 'supported']"
    if given is not None:
        if isinstance(given, str) or not all(label in _MEANINGS for label in given) or "supported" not in given:
            raise InputError(name, f"labels {given!r} aren't meanings of outputs", fix)
        if len(given) != count:
            raise InputError(name, f"{len(given)} labels are given for its {count}: {', '.join(named)}", fix)
        return tuple(given)
    found = [_OF.get(re.sub(r"[^a-z]", "", label.lower())) for label in named]
    if minicheck and count == 2 and not any(found):
        return ("unsupported", "supported")
    if "supported" not in found or None in found or found.count("supported") > 1:
        raise InputError(name, f"its labels can't be understood: {', '.join(named)}", fix)
    return tuple(label for label in found if label)
