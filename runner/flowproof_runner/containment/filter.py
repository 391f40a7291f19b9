"""The rules as a BPF program; libseccomp is the compiler and nothing more.

It neither loads the filter nor serves it: it cannot set WAIT_KILLABLE_RECV and its notify calls only work in the
process that loaded the filter.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import IO

from flowproof_addons.errors import FlowproofError
from flowproof_runner.containment.abi import MACHINE, NUMBER
from flowproof_runner.containment.rules import EVERY_BIT, Condition, Rule, rules


class NoCompiler(FlowproofError):
    """This machine has no filter compiler or no numbers for its architecture; the tier names the reason."""


@cache
def program(*, landlock: bool, writes: bool = False, musl: bool = False) -> bytes:
    """The filter of `rules`, as the kernel takes it.

    Raises NoCompiler if libseccomp is missing or refuses.
    """
    if not NUMBER:
        raise NoCompiler(f"no system call numbers for {MACHINE}")
    chosen = rules(landlock=landlock, writes=writes, musl=musl)
    return assemble(tuple(rule for rule in chosen if rule.syscall in NUMBER))


def assemble(chosen: tuple[Rule, ...]) -> bytes:
    """Compile any rules; a call of another architecture (i386, x32) kills the process."""
    try:
        # Importing raises RuntimeError, not ImportError, where libseccomp.so is missing (pyseccomp 0.1.2).
        import pyseccomp
    except (ImportError, RuntimeError, OSError) as error:
        raise NoCompiler(f"libseccomp missing: {error}") from error
    operators = {"masked": pyseccomp.MASKED_EQ, "differs": pyseccomp.NE, "above": pyseccomp.GT}

    def argument(test: Condition) -> pyseccomp.Arg:
        if test.how == "masked":
            exact = test.mask == EVERY_BIT
            return (
                pyseccomp.Arg(test.arg, pyseccomp.EQ, test.value)
                if exact
                else pyseccomp.Arg(test.arg, pyseccomp.MASKED_EQ, test.mask, test.value)
            )
        return pyseccomp.Arg(test.arg, operators[test.how], test.value)

    try:
        built = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
        built.set_attr(pyseccomp.Attr.ACT_BADARCH, pyseccomp.KILL_PROCESS)
        built.set_attr(pyseccomp.Attr.CTL_OPTIMIZE, 2)  # a binary tree: calls not named cost a handful of steps
        for rule in chosen:
            action = pyseccomp.NOTIFY if rule.errno is None else pyseccomp.ERRNO(rule.errno)
            built.add_rule(action, NUMBER[rule.syscall], *map(argument, rule.tests))
        return _exported(built.export_bpf)
    except OSError as error:
        raise NoCompiler(f"libseccomp refused the filter: {error}") from error


def _exported(export: Callable[[IO[bytes]], None]) -> bytes:
    with open(os.memfd_create("filter"), "w+b") as file:
        export(file)
        file.seek(0)
        return file.read()
