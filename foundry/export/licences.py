"""Under which licence a package is that a server may depend on, as the package itself declares.

A lock does not say; this table is compared with what installed packages declare. A package that is
not in it declares no licence that could be told from its metadata, or was not looked at.

Source: https://spdx.org/licenses/ for the identifiers and expressions.
"""

from collections.abc import Mapping

_PACKAGES = {
    "Apache-2.0": """
        flatbuffers grpcio hf-xet huggingface-hub opentelemetry-api python-multipart
        qdrant-client requests tokenizers
    """,
    "Apache-2.0 AND BSD-2-Clause": "prometheus-client",
    "Apache-2.0 OR BSD-2-Clause": "packaging",
    "Apache-2.0 OR BSD-3-Clause": "cryptography",
    "BSD-2-Clause": "pygments",
    "BSD-3-Clause": """
        click fsspec httpcore httpcore2 httpx httpx2 idna markupsafe portalocker protobuf
        pycparser snowballstemmer sse-starlette starlette uvicorn
    """,
    "BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0": "numpy",
    "LGPL-3.0-only": "psycopg psycopg-binary psycopg-pool",
    "MIT": """
        annotated-doc annotated-types anyio attrs charset-normalizer fastapi filelock h11 h2
        hpack httptools hyperframe jsonschema jsonschema-specifications markdown-it-py mcp
        mcp-types mdurl onnxruntime pydantic pydantic-core pyjwt pyyaml referencing rich rpds-py
        setuptools truststore typing-inspection urllib3
    """,
    "MIT-0": "cffi",
    "MIT-CMU": "pillow",
    "MPL-2.0": "certifi",
    "MPL-2.0 AND MIT": "tqdm",
    "PSF-2.0": "typing-extensions",
}

LICENCES: Mapping[str, str] = {
    package: expression
    for expression, packages in _PACKAGES.items()
    for package in packages.split()
}
"""SPDX expressions by the names of packages, as a lock writes them."""
