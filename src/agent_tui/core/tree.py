"""What front-ends are shown of a session's tree: rows, moments, and branches side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agent_tui.core.records import Message

Detail: TypeAlias = Literal["turns", "steps", "records"]
"""How far a tree is folded: a row for each prompt, for each model call too, or for every record."""

RowKind: TypeAlias = Literal[
    "prompt",
    "step",
    "tool",
    "checkpoint",
    "summary",
    "compaction",
    "user",
    "dmail",
    "undo",
    "redo",
    "restore",
    "clear",
    "head",
    "record",
]
"""What a row stands for; ``user`` is a revert that a person made."""

Standing: TypeAlias = Literal["context", "lineage", "side"]
"""In the context now; what led to it but is compacted away; a branch that was left."""

MomentKind: TypeAlias = Literal["step", "compaction", "change", "now"]
"""The model was asked, the context was compacted or otherwise changed, or the present."""


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One row of the tree.

    Attributes:
        place: the record that the row is about.
        start: the first place of the row's stretch: the checkpoint before a prompt.
        end: the last place of the stretch.
        depth: how many branches it lies away from the trunk.
        opens: whether a side branch begins here.
        rails: which branches continue below this row: bit ``n`` for the one that is ``n`` deep.
        tokens: what the context took at the end of the stretch; 0 where unknown.
        leaves: the logs that end in this stretch: ``live``, ``archive 3``, or a session's id.
        leaf_titles: the title of each session among the leaves, in their order; some are empty.
        session_id: the session whose log holds the row, when it is not this one.
        trunk: how the row of the trunk stands that this one is, or that comes next below it.
    """

    place: int
    start: int
    end: int
    depth: int
    opens: bool
    kind: RowKind
    standing: Standing
    label: str = ""
    tokens: int = 0
    leaves: tuple[str, ...] = ()
    leaf_titles: tuple[str, ...] = ()
    session_id: str = ""
    rails: int = 0
    trunk: Standing = "side"


@dataclass(frozen=True, slots=True)
class TreePlace:
    """A record of a tree, as operations find it again in the logs: by ids, not by the tree.

    Attributes:
        name: its id, or its place in its log where it has none.
        uuid: its id; None where its log gave it none.
        session_id: the session whose log holds it.
        log: the path of that log.
        offset: where it begins there, in bytes.
        archive: the number of that log; 0 where it is a live one.
        ends: the archive of the tree's own session that ends here; 0 where none does.
        in_context: whether the model is sent it now.
        is_present: whether the live log ends here.
        path: the names of what leads to it, itself included; empty for what is in the context.
        prompt: what a person said behind it that a branch or a fork from here lets them edit.
    """

    name: str
    uuid: str | None
    session_id: str
    log: str
    offset: int
    archive: int
    ends: int
    in_context: bool
    is_present: bool
    path: tuple[str, ...] = ()
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Fork:
    """A session that was made out of a part of another; ``prompt`` is what to edit and send."""

    session_id: str
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """A step of a session's life: the model was asked, or the context was compacted or changed.

    ``target`` is the last place of the context then; ``tokens`` is 0 where nobody counted.
    """

    place: int
    target: int
    kind: MomentKind
    tokens: int


@dataclass(frozen=True, slots=True)
class ContextAt:
    """What the model was sent at a moment, whole and repaired, and what is known of the moment.

    ``happened`` says in a few words what changed; it is empty where the model was asked.
    ``message_count`` counts the messages of the log: a repair may have added or left out some.
    """

    messages: Sequence[Message]
    message_count: int
    system_prompt: str
    at: str
    turn: int | None
    step: int | None
    tokens: int
    estimated: bool
    happened: str = ""


@dataclass(frozen=True, slots=True)
class Branch:
    """One of two branches that are compared.

    ``counts`` are the tokens of each message, ``tokens`` what a request at its end would send.
    """

    title: str
    messages: tuple[Message, ...]
    counts: tuple[int, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two branches, aligned: each pair holds an index into each of them, or None.

    ``common`` counts the pairs at the beginning in which both say the same.
    """

    left: Branch
    right: Branch
    pairs: tuple[tuple[int | None, int | None], ...]
    common: int

    def is_same(self, pair: tuple[int | None, int | None]) -> bool:
        """Whether both sides of a pair are the same message, or say the same."""
        if pair[0] is None or pair[1] is None:
            return False
        left, right = self.left.messages[pair[0]], self.right.messages[pair[1]]
        return message_key(left) == message_key(right)


def message_key(message: Message) -> str:
    """What tells messages apart: the id, or the words of those that have none."""
    return message.stamp.uuid or repr(message)
