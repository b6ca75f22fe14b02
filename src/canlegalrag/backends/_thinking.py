"""The thinking block that some models write before their reply."""

__all__ = ["split_thinking"]

_OPEN, _CLOSE = "<think>", "</think>"


def split_thinking(text: str) -> tuple[str, str]:
    """Part what a model wrote into its thinking and its reply, both stripped.

    Where the chat template opens the block, only its end is in the text; where the reply was cut off while the model
    was still thinking, all of it is thinking.

    >>> split_thinking("<think>Two and two.</think> Four.")
    ('Two and two.', 'Four.')
    >>> split_thinking("Two and two.</think>Four."), split_thinking("<think>Two and")
    (('Two and two.', 'Four.'), ('Two and', ''))
    >>> split_thinking("Four.")
    ('', 'Four.')
    """
    stripped = text.strip()
    opened = stripped.startswith(_OPEN)
    before, closed, after = stripped.partition(_CLOSE)
    if not opened and (not closed or _OPEN in before):
        return "", stripped
    return before.removeprefix(_OPEN).strip(), after.strip()
