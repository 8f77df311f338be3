"""Variables of services: their addresses, keys and proxies by name, as an environment has them.

The opener of an index passes them in; from there they are handed down to each connection. An owner of an index uses its
clients' variables, so nothing below reads this process's environment.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType

Variables = Mapping[str, str]
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
"""Also in upper case; lower case wins."""
CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
OPENAI_VARIABLES = ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS")
"""Read by OpenAI's package."""
NO_VARIABLES: Variables = MappingProxyType({})


def process_variables() -> Variables:
    """Return the present variables of this process."""
    return MappingProxyType(dict(os.environ))
