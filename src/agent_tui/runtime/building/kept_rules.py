"""The rules that a person keeps, for a folder or for all, in their own config file."""

from __future__ import annotations

import os
from pathlib import Path

from agent_tui.agent.permissions import Rule
from agent_tui.config import config_path, load_settings

_KEY = ("approvals", "folders")
_EVERYWHERE = ("approvals", "allow")


class KeptRules:
    """Reads and changes the rules of one folder.

    Args:
        folder: where sessions work to which the rules belong.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = os.path.realpath(folder)

    def read(self) -> tuple[Rule, ...]:
        """The rules as the file has them now; raises ConfigError where it is wrong."""
        texts = load_settings(config_path()).approvals.folders.get(self._folder, ())
        return tuple(Rule.parse(text) for text in texts)

    def change(self, rule: Rule, *, kept: bool) -> tuple[Rule, ...]:
        """Add or remove a rule, keeping what other windows wrote; returns the rules now in force.

        Raises:
            ConfigError: the file is wrong or cannot be written.
        """
        from agent_tui.config.writing import set_value, unset_value

        others = tuple(each for each in self.read() if each != rule)
        rules = (*others, rule) if kept else others
        key = (*_KEY, self._folder)
        if rules:
            set_value(config_path(), key, [str(each) for each in rules])
        else:
            unset_value(config_path(), key)
        return rules


def drop_rule(rule: Rule) -> None:
    """Remove a rule that counts in every folder, if the file has it. Blocks.

    Raises:
        ConfigError: the file is wrong or cannot be written.
    """
    from agent_tui.config.writing import set_value, unset_value

    texts = load_settings(config_path()).approvals.allow
    others = [text for text in texts if Rule.parse(text) != rule]
    if len(others) == len(texts):
        return
    if others:
        set_value(config_path(), _EVERYWHERE, others)
    else:
        unset_value(config_path(), _EVERYWHERE)
