"""Repositories on the Hugging Face Hub: what they hold, and changes that neither get lost nor happen twice."""

from canlegalrag.hub.contents import Blob, Change, Seen
from canlegalrag.hub.repository import NAME, Repository

__all__ = ["NAME", "Blob", "Change", "Repository", "Seen"]
