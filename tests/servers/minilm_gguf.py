"""all-MiniLM-L6-v2 from its safetensors to GGUF, in 16 bits: minilm_gguf.py FOLDER OUT.gguf

The names and keys are those of llama.cpp's convert_hf_to_gguf.py for BERT.
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import load_file

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def describe(writer: gguf.GGUFWriter, config: dict[str, int]) -> None:
    """Write the shape of the model."""
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_license("apache-2.0")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_token_type_count(config["type_vocab_size"])
    writer.add_causal_attention(value=False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)


def add_tokenizer(writer: gguf.GGUFWriter, words: list[str]) -> None:
    """Write the vocabulary."""
    types = gguf.TokenType
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([piece_of(word) for word in words])
    writer.add_token_types([types.CONTROL if word in _SPECIAL else types.NORMAL for word in words])
    pad, unknown, begin, end, mask = map(words.index, _SPECIAL)
    writer.add_pad_token_id(pad)
    writer.add_unk_token_id(unknown)
    writer.add_bos_token_id(begin)
    writer.add_eos_token_id(end)
    writer.add_sep_token_id(end)
    writer.add_mask_token_id(mask)


def piece_of(word: str) -> str:
    """A word piece as llama.cpp spells it: the begin of a word is marked, not the continuation."""
    if word.startswith("[") and word.endswith("]"):
        return word
    return word[2:] if word.startswith("##") else "\u2581" + word


def add_tensors(writer: gguf.GGUFWriter, folder: Path, layers: int) -> None:
    """Write the weights: matrices in 16 bits, but those that llama.cpp adds up in 32."""
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, layers)
    for name, tensor in load_file(folder / "model.safetensors").items():
        if name.endswith("position_ids") or "pooler." in name:
            continue
        known = names.get_name(name.removeprefix("bert."), try_suffixes=(".weight", ".bias"))
        if known is None:
            sys.exit(f"{name} is no tensor of BERT")
        small = tensor.ndim != 2 or known in {"position_embd.weight", "token_types.weight"}
        writer.add_tensor(known, tensor.astype(np.float32 if small else np.float16))


def main(folder: Path, out: str) -> None:
    """Write the file."""
    config = json.loads((folder / "config.json").read_text())
    words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[: config["vocab_size"]]
    writer = gguf.GGUFWriter(out, "bert")
    describe(writer, config)
    add_tokenizer(writer, words)
    add_tensors(writer, folder, config["num_hidden_layers"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
