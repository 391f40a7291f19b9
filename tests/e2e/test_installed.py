"""Installed from the wheel, outside the checkout, with nothing of ours for developers (H106, the README's promise)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.e2e.scenario import PATIENCE_S, shell

ROOT = Path(__file__).parents[2]


def _uv() -> str:
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not here: start the tests with `uv run pytest`")
    return uv


def _done(words: list[str], environment: dict[str, str], cwd: Path) -> None:
    """Let uv work from its cache alone."""
    done = subprocess.run(words, env=environment, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE_S)
    if "not found in the cache" in done.stderr or "offline" in done.stderr.lower():
        pytest.skip(f"uv's cache does not hold what the wheel needs: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The bin folder of a fresh environment with the wheel and its dependencies, from uv's cache."""
    environment = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(tmp_path / "venv"), "UV_NO_PROGRESS": "1"}
    fresh = ("--reinstall-package", "flowproof-mitmproxy")  # uv would take a wheel of yesterday's sources
    words = ("sync", "--offline", "--frozen", "--no-default-groups", "--no-editable", *fresh, "--project", str(ROOT))
    _done([_uv(), *words], environment, tmp_path)
    return tmp_path / "venv" / "bin"


def replays_elsewhere(command: Path, tmp_path: Path) -> Path:
    """Replay a spec of ours in a folder that knows nothing of the checkout."""
    place = tmp_path / "elsewhere"
    (place / "examples").mkdir(parents=True)
    shutil.copytree(ROOT / "examples" / "agents", place / "examples" / "agents")
    for name in ("booking.flow.yaml", "booking.trace.json"):
        shutil.copy(ROOT / "specs" / name, place)
    env = shell(tmp_path / "home")
    done = subprocess.run([command, "run", "."], cwd=place, env=env, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    return place


def test_the_wheel_does_the_main_job_anywhere(installed: Path, tmp_path: Path) -> None:
    place, env = replays_elsewhere(installed / "flowproof", tmp_path), shell(tmp_path / "home")
    asked = "import flowproof_addons, flowproof_runner, sys; print(flowproof_addons.__file__, *sys.path)"
    paths = subprocess.run([installed / "python", "-c", asked], cwd=place, env=env, capture_output=True, text=True)
    assert str(installed.parent) in paths.stdout
    assert str(ROOT) not in paths.stdout.replace(str(tmp_path), "")


def test_as_a_tool_of_uv_it_holds_our_two_packages_whole_and_nothing_else(tmp_path: Path) -> None:
    """`uv tool install .`: one command, mitmdump beside its interpreter, and every file that is in the checkout."""
    tools = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    python = str(Path(sys.executable).resolve())
    words = [
        "tool",
        "install",
        "--offline",
        "--reinstall-package",
        "flowproof-mitmproxy",
        "--python",
        python,
        str(ROOT),
    ]
    _done([_uv(), *words], {**os.environ, **tools, "UV_NO_PROGRESS": "1"}, tmp_path)
    assert [path.name for path in (tmp_path / "bin").iterdir()] == ["flowproof"]
    replays_elsewhere(tmp_path / "bin" / "flowproof", tmp_path)

    (packages,) = (tmp_path / "tools").glob("flowproof-mitmproxy/lib/python*/site-packages")
    (record,) = packages.glob("flowproof_mitmproxy-*.dist-info/RECORD")
    names = {line.rpartition(",")[0].rpartition(",")[0] for line in record.read_text().splitlines()}
    ours = {name for name in names if not name.startswith(("flowproof_mitmproxy-", "../"))}
    assert {name.partition("/")[0] for name in ours} == {"flowproof_addons", "flowproof_runner"}
    sources = [(ROOT / "addons", "flowproof_addons"), (ROOT / "runner", "flowproof_runner")]
    there = {str(p.relative_to(root)) for root, name in sources for p in (root / name).rglob("*") if p.is_file()}
    assert ours == {name for name in there if "__pycache__" not in name}


def test_it_brings_no_command_but_its_own(installed: Path) -> None:
    """H106: an installation adds one command and one plugin."""
    (entries,) = installed.parent.glob("lib/python*/site-packages/flowproof_mitmproxy-*.dist-info/entry_points.txt")
    names = re.findall(r"^(?:\[(.+)\]|(\w+) = .*)$", entries.read_text(), re.MULTILINE)
    assert [section or name for section, name in names] == ["console_scripts", "flowproof", "pytest11", "flowproof"]


def wheel(dialect: str, folder: Path) -> Path:
    """A package that announces this module's dialect."""
    about = "acme_flowproof-1.0.dist-info"
    members = {
        "acme_flowproof.py": dialect,
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: acme-flowproof\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": "[flowproof.dialects]\ninhouse = acme_flowproof:Inhouse\n",
    }
    members[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in (*members, f"{about}/RECORD"))
    path = folder / "acme_flowproof-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def test_an_installed_package_brings_its_dialect_to_every_suite(installed: Path, tmp_path: Path) -> None:
    """By its entry point, to the runner and to the boundary; no suite names a file."""
    place, env = tmp_path / "elsewhere", shell(tmp_path / "home")
    shutil.copytree(ROOT / "examples" / "addons" / "inhouse", place, ignore=shutil.ignore_patterns("__pycache__"))
    dialect = (place / "dialect.py").read_text().replace("register(Inhouse())", "")
    for name in ("dialect.py", "suite.yaml"):
        (place / name).unlink()
    spec = place / "look-up.flow.yaml"
    spec.write_text(spec.read_text().replace("examples/addons/inhouse/", ""))

    def run() -> tuple[int, str]:
        done = subprocess.run(
            [installed / "flowproof", "run", "."],
            cwd=place,
            env=env,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        return done.returncode, done.stdout + done.stderr

    code, said = run()
    assert (code, "was recorded with the dialect 'inhouse', which is not here" in said) == (2, True), said
    words = ("pip", "install", "--quiet", "--offline", "--no-deps", "--python", str(installed / "python"))
    subprocess.run([_uv(), *words, str(wheel(dialect, tmp_path))], check=True)
    code, said = run()
    assert (code, "2 turns" in said) == (0, True), said
    [module] = installed.parent.glob("lib/python*/site-packages/acme_flowproof.py")
    module.write_text("raise RuntimeError('not today')\n")
    code, said = run()
    assert (code, "announced by acme-flowproof as flowproof.dialects" in said) == (2, True), said
