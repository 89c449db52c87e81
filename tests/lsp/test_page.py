"""The lines of configuration of docs/editors.md: in the editor itself where it can be installed, else read by a parser of their language, and
their command run."""

import json
import os
import pathlib
import re
import subprocess
import sys

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


def app_with_a_mistake(folder) -> pathlib.Path:
    """A new app with a file that names an adapter which does not exist, on its second line; gives the file."""
    subprocess.run([os.environ["MILLRACE"], "new", "notes"], cwd=folder, check=True, capture_output=True, timeout=120)
    file = folder / "notes/app/tools/find-notes/config.yaml"
    file.write_text(file.read_text().replace("use: notes", "use: nots"))
    return file


def alone(folder) -> dict[str, str]:
    """Variables for an editor that has no other settings, and finds the command."""
    here = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
    command = pathlib.Path(os.environ["MILLRACE"]).parent
    return {**os.environ, **here, "PATH": f"{command}:{os.environ['PATH']}", "TERM": "dumb"}


# Waits for a problem, prints all of them, and what is offered in place of the mistake.
OF_NEOVIM = """
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 20)
for _, found in ipairs(vim.diagnostic.get(0)) do io.stdout:write(found.source, ":", found.lnum + 1, ": ", found.message, "\\n") end
local at = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = 1, character = 5 } }
local _, answer = next(vim.lsp.buf_request_sync(0, "textDocument/completion", at, 60000) or {})
for _, item in ipairs(answer.result.items or answer.result) do io.stdout:write("offers ", item.label, "\\n") end
vim.cmd("qa!")
"""


def test_neovim(tmp_path):
    """Neovim itself, with the lines of the page and no others."""
    (settings,) = blocks("lua")
    (tmp_path / "init.lua").write_text(settings)
    (tmp_path / "look.lua").write_text(OF_NEOVIM)
    file = app_with_a_mistake(tmp_path)
    nvim = pathlib.Path(sys.executable).with_name("nvim")
    command = [nvim, "--headless", "-i", "NONE", "-u", tmp_path / "init.lua", file, "-c", f"luafile {tmp_path}/look.lua"]
    done = subprocess.run(command, cwd=file.parents[3], env=alone(tmp_path), capture_output=True, text=True, timeout=120)
    said = done.stdout + done.stderr
    assert "millrace:2: the adapter `nots` does not exist" in said and "offers notes" in said, said


OF_EMACS = """
(package-activate-all)
(require 'eglot)
(load "{folder}/settings.el")
(find-file "{file}")
(yaml-mode)
(eglot-ensure)
(run-hooks 'post-command-hook)
(let ((end (+ (float-time) 60)))
  (while (and (< (float-time) end) (null (flymake-diagnostics))) (accept-process-output nil 0.05)))
(dolist (found (flymake-diagnostics))
  (princ (format "line %d: %s\\n" (line-number-at-pos (flymake-diagnostic-beg found)) (flymake-diagnostic-text found))))
"""


def test_emacs(tmp_path):
    """Emacs itself, with the lines of the page and no others."""
    (settings,) = blocks("elisp")
    (tmp_path / "settings.el").write_text(settings)
    file = app_with_a_mistake(tmp_path)
    (tmp_path / "look.el").write_text(OF_EMACS.format(folder=tmp_path, file=file))
    command = ["emacs", "--batch", "-l", tmp_path / "look.el"]
    done = subprocess.run(command, cwd=file.parents[3], env=alone(tmp_path), capture_output=True, text=True, timeout=120)
    said = done.stdout + done.stderr
    assert "line 2: millrace: the adapter `nots` does not exist" in said or "line 2: the adapter `nots` does not exist" in said, said


def test_every_block_is_looked_at():
    kinds = re.findall(r"```(\w+)\n", PAGE.read_text(encoding="utf-8"))
    assert sorted(kinds) == ["elisp", "json", "lua", "toml"]
