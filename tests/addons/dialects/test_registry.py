import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from flowproof_addons.dialects import registry
from flowproof_addons.dialects.registry import BrokenDialectError, assembled

FOREIGN = """
from flowproof_addons.dialects.openai_chat import OpenAIChat


class Cohere(OpenAIChat):
    name = "cohere-chat"

    def claims(self, method, path):
        return path.endswith("/v2/chat")


class Second(OpenAIChat):
    name = "openai-chat"


class Hungry(OpenAIChat):
    name = "hungry"


instance = Cohere()
nothing = object()


def explode():
    raise RuntimeError
"""


@pytest.fixture(autouse=True)
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "foreign_dialects.py").write_text(FOREIGN)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("foreign_dialects", None)


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, registry.GROUP)


def test_ours_are_there_without_any_package() -> None:
    names = [dialect.name for dialect in assembled(()).dialects]
    assert names == ["openai-chat", "openai-responses", "anthropic-messages", "gemini", "ollama-chat"]


@pytest.mark.parametrize("value", ["foreign_dialects:Cohere", "foreign_dialects:instance"])
def test_a_package_may_bring_a_class_or_an_instance(value: str) -> None:
    found = assembled([entry("cohere", value)]).find("POST", "/v2/chat")
    assert found is not None and found.name == "cohere-chat"


def test_a_package_may_claim_what_ours_would() -> None:
    found = assembled([entry("hungry", "foreign_dialects:Hungry")]).find("POST", "/v1/chat/completions")
    assert found is not None and found.name == "hungry"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_module:X", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("foreign_dialects:Missing", "AttributeError"),
        ("foreign_dialects:nothing", "it is no dialect, it lacks assemble, authorize"),
        ("foreign_dialects:explode", "it is no dialect"),
        ("foreign_dialects:Second", "the name 'openai-chat' is taken"),
    ],
)
def test_a_broken_one_is_an_error_that_names_it(value: str, why: str) -> None:
    with pytest.raises(BrokenDialectError) as raised:
        assembled([entry("theirs", value)])
    message = str(raised.value)
    assert message.startswith("the dialect 'theirs' cannot be used: ") and why in message
    assert f"flowproof.dialects = '{value}'" in message
    assert "mend or uninstall" in message


def test_two_packages_may_not_share_a_name() -> None:
    with pytest.raises(BrokenDialectError, match="the name 'cohere-chat' is taken"):
        assembled([entry("a", "foreign_dialects:Cohere"), entry("b", "foreign_dialects:instance")])


def test_packages_are_asked_once() -> None:
    assert registry.default() is registry.default()


def test_an_installed_package_is_found_by_its_entry_point(tmp_path: Path) -> None:
    """As an installer leaves it, in a folder that only this process looks into."""
    (tmp_path / "acme_flowproof.py").write_text(FOREIGN.replace('name = "cohere-chat"', 'name = "acme"'))
    about = tmp_path / "acme_flowproof-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-flowproof\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[flowproof.dialects]\nacme = acme_flowproof:Cohere\n")
    code = "from flowproof_addons.dialects.registry import default; print(default().find('POST', '/v2/chat').name)"
    said = subprocess.check_output([sys.executable, "-c", code], env={"PYTHONPATH": str(tmp_path)}, text=True)
    assert said == "acme\n"


def test_a_file_registers_before_all_others_and_again_in_its_own_place(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from flowproof_addons.dialects.openai_chat import OpenAIChat\n"
        "from flowproof_addons.dialects.registry import register\n"
        'class Mine(OpenAIChat):\n    name = "mine"\n'
        "register(Mine())\n"
    )
    code = f"""
import pathlib
from flowproof_addons import userfile
from flowproof_addons.dialects.registry import default
held = default()
userfile.load(pathlib.Path({str(file)!r}))
userfile.load(pathlib.Path({str(file)!r}))
print(*(dialect.name for dialect in held.dialects))
"""
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert said.split() == ["mine", "openai-chat", "openai-responses", "anthropic-messages", "gemini", "ollama-chat"]
