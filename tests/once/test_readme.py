"""The README's example runs and prints what its comments say."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def test_the_example_prints_what_the_readme_promises(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(README), "exec"), {})
    output = capsys.readouterr().out
    assert "violated" not in output
    assert output.startswith("19 8 CoreHead(n=19, ")
    assert float(output.splitlines()[1].split()[0]) == pytest.approx(0.096, abs=0.001)
    for promise in ("10^667.99", "10^9.93", "10^8.87"):
        assert promise in output
        assert promise[:5] in code
