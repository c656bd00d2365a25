"""These are scripts, not tests."""

collect_ignore_glob = ["*.py"]
