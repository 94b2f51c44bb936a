"""Tests press Ctrl-C. A shell that starts a job in the background has it ignored, and children inherit that."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
