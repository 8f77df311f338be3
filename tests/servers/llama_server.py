"""llama.cpp's own server: llama_server.py MODEL.gguf PORT --alias NAME [--pooling mean|none|rank] [--key KEY]

It is in the wheel xllamacpp. One thread for the model, so that several servers and the tests share a small machine.
"""

import argparse
import signal

import xllamacpp

_CONTEXT = {"chat": 4096, "mean": 512, "none": 512, "rank": 512}
_POOLING = {
    "mean": xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN,
    "none": xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_NONE,
    "rank": xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK,
}

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("port", type=int)
parser.add_argument("--alias", required=True)
parser.add_argument("--pooling", choices=_CONTEXT, default="chat")
parser.add_argument("--key", action="append", default=[])
given = parser.parse_args()

parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.model_alias = given.model, {given.alias}
parameters.hostnames, parameters.port, parameters.api_keys = ["127.0.0.1"], given.port, given.key
parameters.n_ctx, parameters.n_parallel = _CONTEXT[given.pooling], 1
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
if given.pooling in _POOLING:
    parameters.embedding, parameters.pooling_type = True, _POOLING[given.pooling]
    parameters.n_batch = parameters.n_ubatch = parameters.n_ctx  # A text is embedded in one batch or not at all.
server = xllamacpp.Server(parameters)
signal.pause()
