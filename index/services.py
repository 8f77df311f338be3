"""The services of an open index: models, their cache, the reranker."""

from collections.abc import Mapping

from cqm.index.cache import open_cache
from cqm.index.contextual import open_writer
from cqm.index.disk.locations import cache_folder
from cqm.index.embedding.opening import open_routes
from cqm.index.generations.query_models import QuestionModels
from cqm.index.model.options import IndexOptions
from cqm.index.model.progress import Usage
from cqm.index.remote.variables import Variables
from cqm.index.rerank import open_reranker


class Services:
    """The services of an open index; nothing is loaded or contacted before it is asked.

    Raises:
        EmbeddingError, ContextError, RerankError: an option of a model is not valid.
    """

    def __init__(self, options: IndexOptions, variables: Variables) -> None:
        self.variables = variables
        self.cache = open_cache(options.cache, cache_folder(options), variables)
        self.routes = open_routes(options, self.cache, variables)
        self.questions = QuestionModels(self.routes, options, self.cache, variables)
        self.writer = open_writer(options.context, self.cache, variables)
        self.reranker = open_reranker(options.rerank, variables)

    def refresh(self) -> None:
        """Notice models replaced under the same name."""
        if self.routes:
            self.routes.refresh()

    def retry_models(self) -> None:
        """Let the next call try failed models again at once."""
        if self.routes:
            self.routes.retry_models()
        if self.writer:
            self.writer.health.half_open()

    def usage(self) -> dict[str, Usage]:
        """Return the usage of each model since the index was opened."""
        models = (*(self.routes.models if self.routes else ()), *self.questions.former)
        usage = {model.name: model.embedder.usage() for model in models}
        return usage | ({self.writer.name: self.writer.usage()} if self.writer else {})

    def used_since(self, before: Mapping[str, Usage]) -> dict[str, Usage]:
        """Return the usage of each model since an earlier `usage`, without unused ones."""
        none = Usage()
        now = self.usage().items()
        return {name: used - before.get(name, none) for name, used in now if used != before.get(name, none)}

    def cached(self) -> int:
        """Count the texts whose vector came from the cache."""
        return self.routes.cached() if self.routes else 0

    def close(self) -> None:
        """Give back connections and memory."""
        self.questions.close()
        for service in (self.routes, self.writer, self.reranker, self.cache):
            if service is not None:
                service.close()
