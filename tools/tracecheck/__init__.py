# SPDX-License-Identifier: MIT
"""What tools/check_trace.py is made of: a reader a format, all of which fill one model, and rules."""
