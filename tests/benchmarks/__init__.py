"""Measured on request, with one thread for linear algebra, as app.py has it."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is loaded
