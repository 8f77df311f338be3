"""A model for llama.cpp's /rerank, all-MiniLM-L6-v2 with a head of one output: make_rerank_gguf.py FOLDER OUT.gguf

Nobody trained the head: its weights are 1 and -1 in turn. Scores depend on question and text and mean nothing, which is
enough to see that requests are understood and that each text gets its own score. The server must pool by "rank". The
names are those of llama.cpp's convert_hf_to_gguf.py for BertForSequenceClassification.
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np
from minilm_gguf import add_tensors, add_tokenizer, describe


def main(folder: Path, out: str) -> None:
    """Write the file."""
    config = json.loads((folder / "config.json").read_text())
    words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[: config["vocab_size"]]
    writer = gguf.GGUFWriter(out, "bert")
    describe(writer, config)
    writer.add_classifier_output_labels(["answers"])
    add_tokenizer(writer, words)
    add_tensors(writer, folder, config["num_hidden_layers"])
    head = np.resize(np.array([1, -1], np.float32), (1, config["hidden_size"]))
    writer.add_tensor("cls.output.weight", head)
    writer.add_tensor("cls.output.bias", np.zeros(1, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
