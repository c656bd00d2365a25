import configparser
import os
import re
from pathlib import Path

from processes import run

from spherapprox.config import OPTIONAL, REQUIRED, show_config


def test_config_tells_what_is_there(capsys):
    found = show_config("dicts")
    assert capsys.readouterr().out == ""
    assert found["threads"] >= 1
    assert found["versions"]["numpy"].count(".") >= 1
    assert found["instructions"]["vector bytes"] == (64 if found["instructions"]["AVX-512"] else 32)
    assert found["compiled code"] is None or os.path.isdir(found["compiled code"])  # no folder can be written to
    assert found["extras"]["python-flint"] is not None
    show_config()
    printed = capsys.readouterr().out
    for title in found:
        assert f"{title}:" in printed
    assert found["versions"]["numba"] in printed


def test_every_extra_is_reported():
    extras = configparser.ConfigParser()
    extras.read(Path(__file__).parents[2] / "setup.cfg", encoding="utf-8")
    stated = extras["options.extras_require"]
    tools = ("test", "lint", "docs", "pretrained")
    used = " ".join(packages for extra, packages in stated.items() if extra not in tools)
    assert set(re.findall(r"[a-z][\w-]+", used)) == set(OPTIONAL)
    assert not set(REQUIRED) & set(OPTIONAL)


def test_config_of_a_folder_that_cannot_be_made(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    code = "from spherapprox.config import show_config; print(show_config('dicts')['compiled code'])"
    assert run(code, NUMBA_CACHE_DIR=str(blocked / "cache")) == "None"
