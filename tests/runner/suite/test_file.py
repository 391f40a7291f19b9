"""suite.yaml: what all flows of a folder share."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowproof_runner.reading.problems import SpecError
from flowproof_runner.suite.ageing import MaxAge
from flowproof_runner.suite.file import Suites, load


def test_without_a_file_nothing_is_shared(tmp_path: Path) -> None:
    suite = load(tmp_path)
    assert (suite.env, suite.shell, suite.before_each, suite.after_each, suite.order) == ({}, {}, (), (), ())


def test_everything_a_suite_may_say(tmp_path: Path) -> None:
    (tmp_path / "b.flow.yaml").touch()
    (tmp_path / ".env").write_text("FROM_FILE=1\n")
    (tmp_path / "suite.yaml").write_text(
        "env: {A: '${HOME_PAGE}/x', B: '${flowproof.proxy_url}'}\nenv_from: .env\nbefore_each: npm run reset\n"
        "after_each: [rm -rf tmp, [echo, two words]]\norder: [b.flow.yaml]\nmin_version: 0.0.1\n"
        "max_age: {warn: 60d, fail: 90d}\n"
    )
    suite = load(tmp_path)
    assert suite.filled({"HOME_PAGE": "h"}) == {"A": "h/x", "B": "${flowproof.proxy_url}"}
    assert suite.shell == {"FROM_FILE": "1"}
    assert suite.before_each == (("npm", "run", "reset"),)
    assert suite.after_each == (("rm", "-rf", "tmp"), ("echo", "two words"))
    assert suite.max_age == MaxAge(warn="60d", fail="90d")  # type: ignore[arg-type]  # as written
    assert suite.where("before_each") == f"{tmp_path / 'suite.yaml'}:3"


@pytest.mark.parametrize(
    "text, message",
    [
        ("envs: {}", "unknown key; did you mean 'env'?"),
        ("- a", "a suite is a mapping"),
        ("order: [gone.flow.yaml]", "'gone.flow.yaml' is no spec here"),
        ("order: [../a.flow.yaml]", "is no spec here"),
        ("env_from: gone", "cannot be read"),
        ("min_version: 99.0", "these specs need flowproof 99.0, this is"),
        ("min_version: new", "is no version; accepted: 0.1.0"),
        ("max_age: 90", "90 is no number of days; accepted: 90d"),
        ("max_age: {wran: 9d}", "unknown key; did you mean 'warn'?"),
        ("before_each: 'a | b'", "needs a shell"),
        ("env: {A: '${'}", "is no variable reference"),
        ("env: {1A: x}", "1A"),
        ("env: [", "not YAML"),
    ],
)
def test_a_wrong_suite_says_what_and_where(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "suite.yaml").write_text(text)
    with pytest.raises(SpecError) as caught:
        load(tmp_path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'suite.yaml'}:")


def test_an_unset_variable_is_named_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text("env:\n  A: ${NOT_THERE}\n")
    with pytest.raises(SpecError, match=r"suite.yaml:2:6: env.A: environment variable NOT_THERE is not set"):
        load(tmp_path).filled({})


def test_order_moves_specs_to_the_front_of_their_folder_only(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for name in ("a", "b", "c"):
            (tmp_path / folder / f"{name}.flow.yaml").touch()
    (tmp_path / "two/suite.yaml").write_text("order: [c.flow.yaml, a.flow.yaml]")
    paths = sorted(tmp_path.rglob("*.flow.yaml"))
    ordered = [f"{path.parent.name}/{path.name[0]}" for path in Suites().ordered(paths)]
    assert ordered == ["one/a", "one/b", "one/c", "two/c", "two/a", "two/b"]
