"""The lines of configuration of docs/editors.md, as far as something reads them here."""

import json
import os
import pathlib
import re
import subprocess

import pytest

from test_protocol import INITIALIZE, frame

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "editors.md"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


def answers(command: list[str]):
    """The command of a configuration is a language server."""
    assert command[0] == "millrace"
    done = subprocess.run([os.environ["MILLRACE"], *command[1:]], input=frame(INITIALIZE), capture_output=True, timeout=60)
    assert b'"completionProvider"' in done.stdout, done


def test_visual_studio_code(tmp_path):
    (settings,) = [json.loads(block) for block in blocks("json")]
    subprocess.run([os.environ["MILLRACE"], "new", "notes"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    written = json.loads((tmp_path / "notes/.vscode/settings.json").read_text())
    assert {key: value for key, value in written.items() if key.startswith("glspc")} == settings
    recommended = json.loads((tmp_path / "notes/.vscode/extensions.json").read_text())["recommendations"]
    assert recommended and all(f"`{name}`" in PAGE.read_text(encoding="utf-8") for name in recommended)
    program, yes, *command = [settings["glspc.server.command"], *settings["glspc.server.commandArguments"]]
    assert (program, yes) == ("npx", "-y")
    answers(command)


def test_helix():
    tomllib = pytest.importorskip("tomllib")
    (config,) = [tomllib.loads(block) for block in blocks("toml")]
    server = config["language-server"]["millrace"]
    answers([server["command"], *server["args"]])
    assert all("millrace" in language["language-servers"] for language in config["language"])


@pytest.mark.parametrize("kind, pattern", [("lua", r"cmd = \{(.*?)\}"), ("elisp", r"\. \((.*?)\)\)")])
def test_neovim_and_emacs(kind, pattern):
    (config,) = blocks(kind)
    outside = re.sub(r'"[^"]*"', "", config)
    assert all(outside.count(opened) == outside.count(closed) for opened, closed in ["()", "{}"])
    answers(re.findall(r'"(.*?)"', re.search(pattern, config).group(1)))


def test_every_block_is_looked_at():
    kinds = re.findall(r"```(\w+)\n", PAGE.read_text(encoding="utf-8"))
    assert sorted(kinds) == ["elisp", "json", "lua", "toml"]
