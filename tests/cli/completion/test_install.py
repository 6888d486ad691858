"""`--install-completion` and `--show-completion`."""

import os
import stat

import pytest

from bisimetric.cli.completion.scripts import SCRIPTS

SCRIPT = {
    "bash": ".local/share/bash-completion/completions/bisimetric",
    "zsh": ".local/share/bisimetric/completion.zsh",
    "fish": ".config/fish/completions/bisimetric.fish",
}
START = {"bash": ".bashrc", "zsh": ".zshrc"}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "BASH_COMPLETION_USER_DIR", "ZDOTDIR", "SHELL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize("shell", SCRIPTS)
def test_show(command, shell):
    """The script on stdout."""
    assert command("--show-completion", shell) == (0, SCRIPTS[shell], "")


@pytest.mark.parametrize("shell", SCRIPTS)
def test_install(command, home, shell):
    """The script is where the shell looks; what was done is said; a second time changes nothing."""
    ran = command("--install-completion", shell)
    assert (ran.code, ran.err) == (0, "")
    assert (home / SCRIPT[shell]).read_text() == SCRIPTS[shell]
    assert f"wrote {home / SCRIPT[shell]}" in ran.out
    assert f"open a new {shell}" in ran.out
    before = {file: file.read_bytes() for file in home.rglob("*") if file.is_file()}
    assert len(before) == (1 if shell == "fish" else 2)
    again = command("--install-completion", shell)
    assert again.code == 0
    assert {file: file.read_bytes() for file in home.rglob("*") if file.is_file()} == before
    if shell in START:
        assert f"added a line to {home / START[shell]}" in ran.out
        assert f"already in {home / START[shell]}" in again.out


@pytest.mark.parametrize("shell", START)
def test_start_files_keep_their_content(command, home, shell):
    """A line is appended; text without a last newline, links, modes and bytes that are no text survive."""
    real = home / "dotfiles"
    real.write_bytes(b"alias x=y\nexport BYTES=\xff\xfe")
    real.chmod(0o600)
    (home / START[shell]).symlink_to(real)
    assert command("--install-completion", shell).code == 0
    assert (home / START[shell]).is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    first, second, third = real.read_bytes().splitlines()
    assert (first, second) == (b"alias x=y", b"export BYTES=\xff\xfe")
    assert third.endswith(b"# completion of bisimetric")


def test_folders_of_the_user(command, home, monkeypatch):
    """The variables of the shells are respected, and odd names are quoted."""
    odd = home / "it's here; really"
    monkeypatch.setenv("XDG_DATA_HOME", str(odd))
    monkeypatch.setenv("ZDOTDIR", str(home / "z"))
    (home / "z").mkdir()
    assert command("--install-completion", "zsh").code == 0
    assert (odd / "bisimetric" / "completion.zsh").is_file()
    line = (home / "z" / ".zshrc").read_text()
    done = os.system(f"sh -c {__import__('shlex').quote(line.partition(' && ')[0])}")
    assert done == 0


def test_the_shell_that_runs(command, home, monkeypatch):
    """Without a name it is that of the variable SHELL."""
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert command("--show-completion").out == SCRIPTS["fish"]
    for value in ("/bin/tcsh", ""):
        monkeypatch.setenv("SHELL", value)
        ran = command("--install-completion")
        assert (ran.code, ran.out) == (2, "")
        assert "expected bash, zsh, fish" in ran.err
    ran = command("--install-completion", "powershell")
    assert ran.code == 2
    assert "'powershell'" in ran.err


def test_asking_for_help_installs_nothing(command, home):
    """The text is printed instead."""
    assert command("--install-completion", "--help").out == command("--help").out
    assert list(home.iterdir()) == []


def test_what_cannot_be_written(command, home):
    """One line, code 2, and what to do."""
    (home / ".bashrc").mkdir()
    ran = command("--install-completion", "bash")
    assert ran.code == 2
    assert "add this line yourself: [ -r" in ran.err
    (home / ".config").write_text("a file")
    ran = command("--install-completion", "fish")
    assert ran.code == 2
    assert "cannot be made" in ran.err
    assert ran.err.count("\n") == 1
