"""The stages: loops over records that write JSON Lines and go on where they stopped."""

from canlegalrag.pipeline._output import meta_path, read_meta
from canlegalrag.pipeline.explaining import explain
from canlegalrag.pipeline.generating import CONDITIONS, generate, oracle
from canlegalrag.pipeline.judging import judge
from canlegalrag.pipeline.retrieving import retrieve

__all__ = ["CONDITIONS", "explain", "generate", "judge", "meta_path", "oracle", "read_meta", "retrieve"]
