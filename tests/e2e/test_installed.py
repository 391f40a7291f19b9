"""Installed from the wheel, outside the checkout, with nothing of ours for developers (H106, the README's promise)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from tests.e2e.scenario import PATIENCE_S, shell

ROOT = Path(__file__).parents[2]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The bin folder of a fresh environment with the wheel and its dependencies, from uv's cache."""
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not here: start the tests with `uv run pytest`")
    environment = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(tmp_path / "venv"), "UV_NO_PROGRESS": "1"}
    fresh = ("--reinstall-package", "flowproof-mitmproxy")  # uv would take a wheel of yesterday's sources
    words = ("sync", "--offline", "--frozen", "--no-default-groups", "--no-editable", *fresh, "--project", str(ROOT))
    done = subprocess.run([uv, *words], env=environment, capture_output=True, text=True, timeout=PATIENCE_S)
    if "not found in the cache" in done.stderr or "offline" in done.stderr.lower():
        pytest.skip(f"uv's cache does not hold what the wheel needs: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return tmp_path / "venv" / "bin"


def test_the_wheel_does_the_main_job_anywhere(installed: Path, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere"
    (place / "examples").mkdir(parents=True)
    shutil.copytree(ROOT / "examples" / "agents", place / "examples" / "agents")
    for name in ("booking.flow.yaml", "booking.trace.json"):
        shutil.copy(ROOT / "specs" / name, place)
    env = shell(tmp_path / "home")
    done = subprocess.run(
        [installed / "flowproof", "run", "."], cwd=place, env=env, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout

    asked = "import flowproof_addons, flowproof_runner, sys; print(flowproof_addons.__file__, *sys.path)"
    paths = subprocess.run([installed / "python", "-c", asked], cwd=place, env=env, capture_output=True, text=True)
    assert str(installed.parent) in paths.stdout
    assert str(ROOT) not in paths.stdout.replace(str(tmp_path), "")


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
    uv = os.environ.get("UV") or shutil.which("uv") or ""
    words = ("pip", "install", "--quiet", "--offline", "--no-deps", "--python", str(installed / "python"))
    subprocess.run([uv, *words, str(wheel(dialect, tmp_path))], check=True)
    code, said = run()
    assert (code, "2 turns" in said) == (0, True), said
    [module] = installed.parent.glob("lib/python*/site-packages/acme_flowproof.py")
    module.write_text("raise RuntimeError('not today')\n")
    code, said = run()
    assert (code, "announced by acme-flowproof as flowproof.dialects" in said) == (2, True), said
