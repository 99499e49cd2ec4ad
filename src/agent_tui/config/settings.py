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
        default=None, description="The API that the server speaks (default: openai)."
    )
    base_url: str | None = Field(
        default=None, description="The base URL of the server, such as http://127.0.0.1:8000/v1."
    )
    api_key_env: str | None = Field(
        default=None,
        pattern=_ENVIRONMENT_NAME,
        description="The environment variable that holds the key.",
    )
    api_key_command: str | None = Field(
        default=None,
        min_length=1,
        description="A command that prints the key, such as pass show x.",
    )
    api_key_file: str | None = Field(
        default=None, min_length=1, description="A file that holds the key, readable only by you."
    )
    headers: dict[str, str] = Field(default={}, description="Headers to send with every request.")
    model: str = Field(default="", description="The model to ask at this provider by default.")
    timeout_seconds: float = Field(
        default=120.0, gt=0, description="Give up after this many seconds without data."
    )


class ModelSettings(_Section):
    """What is known of a model, over the built-in catalogue; prices are for a million tokens."""

    window: int | None = Field(default=None, gt=0, description="The context window in tokens.")
    max_output_tokens: int | None = Field(
        default=None, gt=0, description="The maximum length of an answer, in tokens."
    )
    price_input: float | None = Field(
        default=None, ge=0, description="Dollars for a million input tokens."
    )
    price_output: float | None = Field(
        default=None, ge=0, description="Dollars for a million output tokens."
    )
    price_cache_read: float | None = Field(
        default=None, ge=0, description="Dollars for a million tokens read from the cache."
    )
    price_cache_write: float | None = Field(
        default=None, ge=0, description="Dollars for a million tokens written to the cache."
    )
    image_in: bool | None = Field(default=None, description="Whether it understands pictures.")
    thinking: bool | None = Field(
        default=None, description="Whether it can think before it answers."
    )
    thinking_level: ThinkingLevel | None = Field(
        default=None, description="How hard it thinks, unless a session sets it."
    )


class ContextSettings(_Section):
    """When and how the context is compacted."""

    window: int = Field(
        default=0, ge=0, description="The context window in tokens; 0: the model's own."
    )
    reserved: int = Field(
        default=50_000, ge=0, description="Tokens to keep free: compact when fewer are left."
    )
    ratio: float = Field(
        default=0.85, gt=0, le=1, description="Compact once this share of the window is full."
    )
    auto_compact: bool = Field(default=True, description="Compact when the context fills up.")
    preview_auto: bool = Field(
        default=False, description="Show a preview before an automatic compaction."
    )
    strategy: Literal["last-messages", "last-share", "recent-tokens", "mask", "fallback"] = Field(
        default="last-messages", description="What a compaction keeps as it is."
    )
    kept_messages: int = Field(
        default=2, ge=0, description="Messages that last-messages keeps as they are."
    )
    kept_share: float = Field(
        default=0.2, ge=0, lt=1, description="Share of the messages that last-share keeps."
    )
    fallback_share: float = Field(
        default=0.3,
        gt=0,
        lt=1,
        description="Share of the messages kept when no summary can be made.",
    )
    recent_tokens: int = Field(
        default=20_000, ge=0, description="Tokens that recent-tokens keeps as they are."
    )
    file_count: int = Field(
        default=5, ge=0, description="Maximum number of files added to a summary."
    )
    file_lines: int = Field(default=1_000, ge=1, description="Maximum lines of each such file.")
    unmasked_tokens: int = Field(
        default=10_000,
        ge=0,
        description="How many of the newest tokens are never masked.",
    )
    masked_from: int = Field(
        default=200,
        ge=0,
        description="Mask older tool output of this many tokens or more; 0: mask none.",
    )
    index_tokens: int = Field(
        default=600, ge=0, description="Maximum tokens of a summary's index of identifiers."
    )
    minimum_saving: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="Share of the context that a compaction has to free.",
    )


class AgentSettings(_Section):
    """How far a turn may go."""

    max_steps: int = Field(default=100, ge=1, description="Maximum steps of a turn.")
    max_attempts: int = Field(
        default=5, ge=1, description="Maximum attempts of a request, the first included."
    )
    max_tokens: int = Field(
        default=0, ge=0, description="Maximum tokens of a turn, sent and received; 0: no limit."
    )
    max_cost: float = Field(
        default=0.0, ge=0, description="Maximum cost of a turn in dollars; 0: no limit."
    )
    max_seconds: float = Field(
        default=0.0, ge=0, description="Maximum time of a turn in seconds; 0: no limit."
    )


class WorkspaceSettings(_Section):
    """Whether files are captured, so that they can be reverted."""

    capture: bool = Field(default=True, description="Capture files at every checkpoint.")


class McpServerSettings(_Section):
    """One server of tools: ``command`` starts one here, ``url`` names one over HTTP."""

    command: str = Field(
        default="", description="The program to start, which speaks MCP over stdin and stdout."
    )
    args: tuple[str, ...] = Field(default=(), description="Its arguments.")
    env: dict[str, str] = Field(default={}, description="Environment variables of the command.")
    cwd: str = Field(default="", description="The folder in which the command starts.")
    url: str = Field(default="", description="The address of a server over streamable HTTP.")
    headers: dict[str, str] = Field(default={}, description="Headers of every request to url.")
    oauth: bool = Field(default=False, description="Sign in with a browser where the server asks.")
    enabled: bool = Field(default=True, description="Whether the server is used.")
    tools: tuple[str, ...] = Field(default=(), description="Only these tools; empty means all.")
    start_seconds: float = Field(default=30.0, gt=0, description="Maximum seconds to start.")
    call_seconds: float = Field(default=120.0, gt=0, description="Maximum seconds of a call.")
    restarts: int = Field(default=3, ge=0, description="Maximum restarts in a row after a crash.")


class McpSettings(_Section):
    """MCP servers."""

    servers: dict[str, McpServerSettings] = Field(default={}, description="Servers by name.")
    described_tools: int = Field(
        default=24,
        ge=0,
        description="Maximum number of tools described to the model; with more, it searches them.",
    )


class ApprovalSettings(_Section):
    """What the agent may do without asking; only the user's own settings say so."""

    mode: ApprovalMode = Field(
        default="ask", description="The approval mode in which sessions start."
    )
    allow: tuple[str, ...] = Field(
        default=(),
        description="What runs without asking, such as edits(src/) or run_command(git diff *).",
    )
    folders: dict[str, tuple[str, ...]] = Field(
        default={}, description="The same for single folders, by path; see /approvals."
    )


class CommandSettings(_Section):
    """How commands are confined."""

    sandbox: Literal["auto", "off", "strict"] = Field(
        default="auto",
        description="auto: a sandbox if there is one; strict: no command without one; off: none.",
    )
    network: bool = Field(default=True, description="Whether commands may reach the network.")
    memory_mb: int = Field(
        default=0, ge=0, description="Maximum memory of each process in megabytes; 0: no limit."
    )
    processes: int = Field(
        default=0,
        ge=0,
        description="Maximum processes of your user (Linux exempts root); 0: no limit.",
    )
    output_characters: int = Field(
        default=30_000,
        ge=1_000,
        description="Maximum characters of an output that the model is given.",
    )
    writable: tuple[str, ...] = Field(
        default=(), description="More folders that commands in a sandbox may write to."
    )


class WebSettings(_Section):
    """What of the web the agent may reach."""

    search_url: str = Field(
        default="",
        pattern=r"^$|^https?://[^\s{}]+/[^\s{}]*\{query\}[^\s{}]*$",
        description="Address that search_web asks: it contains {query} and answers with JSON.",
    )
    private: bool = Field(
        default=False, description="Whether fetch_url may ask addresses of private networks."
    )


class UiSettings(_Section):
    """How the screen looks."""

    theme: str = Field(
        default="", description="A theme listed by /theme; empty: the terminal's colours."
    )
    vim: bool = Field(default=False, description="Vim's keys in the prompt: Esc, then commands.")
    reduced_motion: bool = Field(
        default=False, description="Show changes as text, without animations."
    )
    pictures: Literal["auto", "kitty", "sixel", "blocks"] = Field(
        default="auto",
        description="How pictures are drawn at full size; auto: the best way the terminal has.",
    )
    panel: bool = Field(
        default=True,
        description="Show tasks, changed files and checkpoints beside a wide conversation.",
    )
    unfold: bool = Field(
        default=False, description="Show the output of tools unfolded; Ctrl+O to switch."
    )
    terminal_title: bool = Field(
        default=True, description="Show state and session in the terminal's title."
    )
    notify: Literal["off", "bell", "desktop"] = Field(
        default="bell",
        description="When the agent has finished or waits and the terminal is not focused: ring a "
        "bell, or send a notification (OSC 9).",
    )
    progress: bool = Field(
        default=False, description="Show progress in the terminal's tab while working (OSC 9;4)."
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

    model: str = Field(
        default="", description="The model to ask; empty: the first that the provider lists."
    )
    provider: str = Field(
        default="", description="The provider to ask; empty: the first with a key."
    )
    thinking: ThinkingLevel | None = Field(
        default=None, description="How hard models think; unset: as set for each model."
    )
    providers: dict[str, ProviderSettings] = Field(default={}, description="Providers by name.")
    models: dict[str, ModelSettings] = Field(default={}, description="Models by name.")
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
        max_length=1_000,
        description='Keys by name, such as revert = "f12" or tree-fork = "x"; "none" removes one. '
        "See /keys for the names of commands, ? on a screen for those of its keys.",
    )
