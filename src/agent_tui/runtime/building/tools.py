"""Which tools a session has: built-in, from MCP servers, and those about its own past."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from agent_tui.agent.spec import AgentSpec
from agent_tui.agent.time_travel import DMailDesk
from agent_tui.context.recall import Recall as Memory
from agent_tui.core.modes import PRESENT_PLAN
from agent_tui.sessions.session_log import SessionLog
from agent_tui.tools.base import AnyTool
from agent_tui.tools.task import Task

OfferTools = Callable[[], Sequence[AnyTool]]

_PARENTS = frozenset({PRESENT_PLAN, "ask_user"})
"""Tools that ask the person something: a subagent leaves them to its parent."""


def session_tools(
    spec: AgentSpec,
    log: SessionLog,
    offer: OfferTools,
    desk: DMailDesk | None,
    subagents: Mapping[str, str],
    *,
    is_subagent: bool,
) -> OfferTools:
    """What gives the tools of one session, asked before each step.

    Recall is only among them when something has left the context. Subagents report to their
    parent: they neither ask the person nor end plan mode with a plan of their own.
    """
    parents = _PARENTS if is_subagent else frozenset[str]()
    memory = Memory(log)
    own: list[AnyTool] = []
    if desk:
        from agent_tui.tools.send_dmail import SendDMail  # few agents may send any

        own.append(SendDMail(desk.post))
    if subagents:
        own.append(Task(subagents))

    @cache
    def recall() -> AnyTool:
        from agent_tui.tools.recall import Recall  # most sessions never have it

        return Recall(memory)

    def tools() -> Sequence[AnyTool]:
        every = [*offer(), *own, *([recall()] if memory.has_anything else [])]
        return [each for each in every if spec.allows(each.name) and each.name not in parents]

    return tools
