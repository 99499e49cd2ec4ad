"""What can be set: every field stands in ``config.toml`` under its own name."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from agent_tui.core.modes import ApprovalMode

ProviderKind: TypeAlias = Literal["openai", "anthropic"]
ThinkingLevel: TypeAlias = Literal["off", "low", "medium", "high"]
_ENVIRONMENT_NAME = "^[A-Za-z_][A-Za-z0-9_]*$"


class _Section(BaseModel):
    # Built when it is used: alone that is never, but as a part of all settings.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class ProviderSettings(_Section):
    """Where models are reached; fields left out are those of the preset with this name.

    The key itself never stands here: name a variable, a command that prints it, or a file of mode
    0600 that holds it.
    """

    kind: ProviderKind | None = Field(
        default=None, description="The API that the server speaks; openai where nothing is known."
    )
    base_url: str | None = Field(
        default=None, description="The server, such as http://127.0.0.1:8000/v1."
    )
    api_key_env: str | None = Field(
        default=None,
        pattern=_ENVIRONMENT_NAME,
        description="The name of the variable with the key.",
    )
    api_key_command: str | None = Field(
        default=None,
        min_length=1,
        description="A command that prints the key, such as pass show x.",
    )
    api_key_file: str | None = Field(
        default=None, min_length=1, description="A file that holds the key and only you can read."
    )
    headers: dict[str, str] = Field(default={}, description="Headers to send with every request.")
    model: str = Field(default="", description="The model to ask at this provider by default.")
    timeout_seconds: float = Field(default=120.0, gt=0, description="How long it may be silent.")


class ModelSettings(_Section):
    """What is known of a model, over the built-in catalogue; prices are for a million tokens."""

    window: int | None = Field(default=None, gt=0, description="The context window in tokens.")
    max_output_tokens: int | None = Field(default=None, gt=0)
    price_input: float | None = Field(default=None, ge=0)
    price_output: float | None = Field(default=None, ge=0)
    price_cache_read: float | None = Field(default=None, ge=0)
    price_cache_write: float | None = Field(default=None, ge=0)
    image_in: bool | None = Field(default=None, description="Whether it understands images.")
    thinking: bool | None = Field(
        default=None, description="Whether it can think before it answers."
    )
    thinking_level: ThinkingLevel | None = None


class ContextSettings(_Section):
    """When and how the context is compacted. ``window`` 0 means: what is known of the model."""

    window: int = Field(default=0, ge=0)
    reserved: int = Field(default=50_000, ge=0)
    ratio: float = Field(default=0.85, gt=0, le=1)
    auto_compact: bool = True
    preview_auto: bool = False
    strategy: Literal["last-messages", "last-share", "recent-tokens", "mask", "fallback"] = (
        "last-messages"
    )
    kept_messages: int = Field(
        default=2, ge=0, description="Messages that last-messages keeps as they are."
    )
    kept_share: float = Field(
        default=0.2, ge=0, lt=1, description="Share of the messages that last-share keeps."
    )
    fallback_share: float = Field(
        default=0.3, gt=0, lt=1, description="Share that is kept where no summary can be made."
    )
    recent_tokens: int = Field(
        default=20_000, ge=0, description="Tokens that recent-tokens keeps as they are."
    )
    file_count: int = Field(
        default=5, ge=0, description="Files whose content a compaction takes along at most."
    )
    file_lines: int = Field(default=1_000, ge=1, description="Lines of each of them at most.")
    unmasked_tokens: int = Field(
        default=10_000, ge=0, description="The newest tokens, whose tool output is never masked."
    )
    masked_from: int = Field(
        default=200,
        ge=0,
        description="Older tool output of this many tokens or more is masked; 0 masks none.",
    )
    index_tokens: int = Field(
        default=600, ge=0, description="How long the index of identifiers beside a summary may get."
    )
    minimum_saving: float = Field(
        default=0.0, ge=0, lt=1, description="Share that a compaction must free to be applied."
    )


class AgentSettings(_Section):
    """How far a turn may go; 0 means: no limit."""

    max_steps: int = Field(default=100, ge=1)
    max_attempts: int = Field(default=5, ge=1)
    max_tokens: int = Field(
        default=0, ge=0, description="What one turn may read and write, in tokens."
    )
    max_cost: float = Field(default=0.0, ge=0, description="What one turn may cost, in dollars.")
    max_seconds: float = Field(default=0.0, ge=0, description="How long one turn may take.")


class WorkspaceSettings(_Section):
    """Whether files are captured, so that they can be reverted."""

    capture: bool = Field(default=True, description="Capture files at every checkpoint.")


class McpServerSettings(_Section):
    """One server of tools: ``command`` starts one here, ``url`` names one over HTTP."""

    command: str = Field(default="", description="The program that speaks MCP on its pipes.")
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default={}, description="More environment for the command.")
    cwd: str = ""
    url: str = Field(default="", description="A server that speaks streamable HTTP.")
    headers: dict[str, str] = {}
    oauth: bool = Field(default=False, description="Sign in with a browser where the server asks.")
    enabled: bool = True
    tools: tuple[str, ...] = Field(default=(), description="Only these tools; empty means all.")
    start_seconds: float = Field(default=30.0, gt=0, description="How long the start may take.")
    call_seconds: float = Field(default=120.0, gt=0, description="How long one call may take.")
    restarts: int = Field(
        default=3, ge=0, description="How often in a row it is started again after a crash."
    )


class McpSettings(_Section):
    """MCP servers."""

    servers: dict[str, McpServerSettings] = {}
    described_tools: int = Field(
        default=24, ge=0, description="With more tools than this, the model searches for them."
    )


class ApprovalSettings(_Section):
    """What the agent may do without asking; only the user's own settings say so."""

    mode: ApprovalMode = Field(default="ask", description="The mode in which sessions start.")
    allow: tuple[str, ...] = Field(
        default=(),
        description="Rules such as edits(src/), run_command(git diff *) or the name of a tool.",
    )
    folders: dict[str, tuple[str, ...]] = Field(
        default={}, description="Rules for one folder each, by its path; /approvals lists them."
    )


class CommandSettings(_Section):
    """How commands are confined; 0 means: no limit."""

    sandbox: Literal["auto", "off", "strict"] = Field(
        default="auto",
        description="auto: with what the system has; strict: only with a sandbox; off: without.",
    )
    network: bool = Field(default=True, description="Whether commands may reach the network.")
    memory_mb: int = Field(default=0, ge=0, description="Address space of each process.")
    processes: int = Field(
        default=0, ge=0, description="Processes of your user at most; Linux exempts root."
    )
    output_characters: int = Field(
        default=30_000, ge=1_000, description="What the model is given of a long output."
    )
    writable: tuple[str, ...] = Field(
        default=(), description="More folders that commands in a sandbox may write to."
    )


class WebSettings(_Section):
    """What of the web the agent may reach."""

    search_url: str = Field(
        default="",
        pattern=r"^$|^https?://[^\s{}]+/[^\s{}]*\{query\}[^\s{}]*$",
        description="Where search_web asks: an address with {query} in it that answers JSON.",
    )
    private: bool = Field(
        default=False, description="Whether fetch_url may ask addresses of private networks."
    )


class UiSettings(_Section):
    """How the screen looks."""

    theme: str = Field(
        default="", description="A theme that /theme lists; empty: the terminal's colours."
    )
    vim: bool = Field(default=False, description="Vim's keys in the prompt: Esc, then commands.")
    reduced_motion: bool = Field(
        default=False, description="No animations: changes are shown as text."
    )
    pictures: Literal["auto", "kitty", "sixel", "blocks"] = Field(
        default="auto",
        description="How a picture is drawn at full size; auto: as the terminal is known to.",
    )
    panel: bool = Field(
        default=True, description="Tasks, changed files and checkpoints beside a wide conversation."
    )
    terminal_title: bool = Field(
        default=True, description="The terminal's title says the state and the session."
    )
    notify: Literal["off", "bell", "desktop"] = Field(
        default="bell",
        description="When the agent has finished or waits and the terminal is not focused: a bell, "
        "or a notification (OSC 9).",
    )
    progress: bool = Field(
        default=False, description="A progress mark in the terminal's tab while working (OSC 9;4)."
    )


class LibrarySettings(_Section):
    """Where sessions are found beside our own."""

    folders: dict[str, str] = Field(
        default={},
        description="Where another agent keeps its sessions, by its name: codex, claude-code, …",
    )


def _section() -> Any:
    """A section with its defaults, which is made as it is read from a file."""
    return Field(default={}, validate_default=True)


class Settings(_Section):
    """All settings. A model is named as at its provider, or PROVIDER/MODEL."""

    model: str = ""
    provider: str = Field(
        default="", description="The provider to ask; empty: the first with a key."
    )
    thinking: ThinkingLevel | None = Field(
        default=None, description="How hard a model thinks; left out: as the model is set."
    )
    providers: dict[str, ProviderSettings] = {}
    models: dict[str, ModelSettings] = {}
    context: ContextSettings = _section()
    agent: AgentSettings = _section()
    workspace: WorkspaceSettings = _section()
    mcp: McpSettings = _section()
    approvals: ApprovalSettings = _section()
    commands: CommandSettings = _section()
    web: WebSettings = _section()
    library: LibrarySettings = _section()
    ui: UiSettings = _section()
    keys: dict[str, str] = Field(
        default={},
        description='The key of a command, or one on a screen, such as revert = "f12" or '
        'tree-fork = "x"; none: no key. /keys names them, and ? those of a screen.',
    )
