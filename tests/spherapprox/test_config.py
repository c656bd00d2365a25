import configparser
import os
import re
from pathlib import Path

from processes import run

from spherapprox.config import OPTIONAL, REQUIRED, show_config


def test_config_tells_what_is_there(capsys):
    facts = show_config("dicts")
    assert capsys.readouterr().out == ""
    assert facts["threads"] >= 1
    assert facts["versions"]["numpy"].count(".") >= 1
    assert facts["instructions"]["vector bytes"] == (64 if facts["instructions"]["AVX-512"] else 32)
    assert facts["compiled code"] is None or os.path.isdir(facts["compiled code"])  # no folder can be written to
    assert facts["extras"]["python-flint"] is not None
    show_config()
    text = capsys.readouterr().out
    for title in facts:
        assert f"{title}:" in text
    assert facts["versions"]["numba"] in text


def test_every_extra_is_reported():
    extras = configparser.ConfigParser()
    extras.read(Path(__file__).parents[2] / "setup.cfg", encoding="utf-8")
    extras_of_setup = extras["options.extras_require"]
    tools = ("test", "lint", "docs", "pretrained")
    packages_used = " ".join(packages for extra, packages in extras_of_setup.items() if extra not in tools)
    assert set(re.findall(r"[a-z][\w-]+", packages_used)) == set(OPTIONAL)
    assert not set(REQUIRED) & set(OPTIONAL)


def test_config_of_a_folder_that_cannot_be_made(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    code = "from spherapprox.config import show_config; print(show_config('dicts')['compiled code'])"
    assert run(code, NUMBA_CACHE_DIR=str(blocked / "cache")) == "None"
