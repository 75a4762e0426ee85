"""The core against arrays that real libraries returned: ``python -m tests.conformance DIR``."""
