"""What a command is, and how its key is shown to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_tui.core.dataclass import dataclass

if TYPE_CHECKING:
    from textual.app import App

FLOWS = "agent_tui.ui.flows"
"""The package whose modules carry commands out."""

NO_KEY = "none"
"""The setting's value for a command that should have no key."""

_SHORT = {"escape": "Esc"}


def spell_key(key: str) -> str:
    """A key for people: ``Ctrl+K`` for ``ctrl+k``; a letter as it is typed."""
    if len(key) == 1:
        return key
    return "+".join(_SHORT.get(part, part[:1].upper() + part[1:]) for part in key.split("+"))


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a user can ask for.

    Attributes:
        name: what follows the slash, and the argument of ``action_command``.
        run: the function below ``FLOWS`` that carries it out, as ``module:function``; loaded when
            it is first wanted, with the screens that it shows.
        title: two or three words for the palette.
        help: one sentence.
        group: heading under which the help screen lists it.
        argument: how the argument is written, in brackets when it may be left out.
        key: Textual keys, the first one shown.
        footer: a word for the status line; empty keeps it out of there.
        priority: whether the key works whatever has the focus.
        slash: whether it can be typed as ``/name``.
        opens_screen: whether it shows a screen: it is not started a second time meanwhile.
        opens_line: whether it shows a line to type in over the prompt.
        requires_idle: whether it is refused while a turn is running.
        requires_idle_with_argument: whether it is then only shown, and refused with an argument.
    """

    name: str
    run: str
    title: str
    help: str
    group: str
    argument: str = ""
    key: str = ""
    footer: str = ""
    priority: bool = False
    slash: bool = True
    opens_screen: bool = False
    opens_line: bool = False
    requires_idle: bool = False
    requires_idle_with_argument: bool = False

    @property
    def usage(self) -> str:
        """The slash form with its argument, for example ``/compact [focus]``."""
        return f"/{self.name} {self.argument}".rstrip()

    @property
    def key_label(self) -> str:
        """How the key is shown to people; empty where there is none."""
        return spell_key(self.key.split(",")[0])

    @property
    def binding_id(self) -> str:
        """What its binding is called in a keymap."""
        return f"command.{self.name}"

    @property
    def needs_argument(self) -> bool:
        """Whether the command needs its argument."""
        return bool(self.argument) and not self.argument.startswith("[")


def key_label(app: App[Any], command: Command) -> str:
    """How the command's key is shown: the one of the settings, else its own."""
    return label_of(app, command.binding_id, command.key_label)


def label_of(app: App[Any], binding_id: str, own: str) -> str:
    """How a key is shown: the one that the settings give its binding, else its ``own``."""
    chosen = app._keymap.get(binding_id)
    if chosen is None:
        return own
    return "" if chosen == NO_KEY else spell_key(chosen.split(",")[0])
