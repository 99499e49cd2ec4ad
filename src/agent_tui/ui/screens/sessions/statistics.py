"""What all sessions of all agents used and did: charts by day, and a table by one thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.format import format_tokens
from agent_tui.core.text import clean, reveal
from agent_tui.library.statistics import GROUPS, Statistic, cost_of
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.panel import ONE_PAGE, PANEL_SHEETS, Panel
from agent_tui.ui.widgets.bars.charts import draw_bar, draw_columns
from agent_tui.ui.widgets.cells import fit_cells
from agent_tui.ui.widgets.lists.fitted import Fitted
from agent_tui.ui.widgets.lists.rows import Rows

if TYPE_CHECKING:
    from agent_tui.library.statistics import GroupBy

_MOST_DAYS = 366
_NUMBER = 9
_LABEL = 12
_PERIODS = ((0, "all time"), (30, "last 30 days"), (7, "last 7 days"))


@dataclass(frozen=True, slots=True)
class _Measure:
    """A measure; ``style`` is its colour in the charts."""

    name: str
    of: Callable[[Statistic], float]
    told: Callable[[Statistic], str]
    style: str = "$accent"


def _number(of: Callable[[Statistic], int]) -> Callable[[Statistic], str]:
    return lambda each: f"{of(each):,}"


_MEASURES = (
    _Measure("tokens", lambda each: each.tokens, lambda each: format_tokens(each.tokens)),
    _Measure("cost", lambda each: each.cost, cost_of),
    _Measure("tool calls", lambda each: each.calls, _number(lambda each: each.calls)),
    _Measure("errors", lambda each: each.errors, _number(lambda each: each.errors), "$danger"),
    _Measure(
        "compactions",
        lambda each: each.compactions,
        _number(lambda each: each.compactions),
        "$attention",
    ),
)
_OF_TOOLS = ("tool calls", "errors")


class StatisticsService(Protocol):
    """What the screen needs of the runtime."""

    async def statistics(self, by: str, since: str = "") -> list[Statistic]: ...
    async def update(self) -> None: ...


class StatisticsScreen(Panel[None]):
    """The statistics; arrows choose what the table is grouped by and what its bars show."""

    DEFAULT_CLASSES = ONE_PAGE
    CSS_PATH = [*PANEL_SHEETS, stylesheet("screens/statistics.tcss")]
    AUTO_FOCUS = "#statistic-rows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,tab", "group(1)", "group by", key_display="←→"),
        Binding("left,shift+tab", "group(-1)", "Previous grouping", show=False),
        Binding("m", "measure(1)", "measure", key_display="m"),
        Binding("p", "period", "period", key_display="p"),
    ]
    ABOUT_ROWS = frozenset({"group", "measure", "period"})

    def __init__(self, service: StatisticsService) -> None:
        super().__init__()
        self._service = service
        self._by: GroupBy = "model"
        self._measure = _MEASURES[0]
        self._period = 0
        self._is_updating = True
        self._days: list[Statistic] = []
        self._found: list[Statistic] = []
        self._rows = Rows(self._draw, id="statistic-rows", empty=Content("Reading sessions…"))

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield Fitted(self._draw_charts, id="charts")
        yield Fitted(self._draw_heads, id="heads")
        yield self._rows
        yield self.key_hints()

    def on_mount(self) -> None:
        self.show_heading("Statistics", "updating the index…")
        self.query_one("#charts").display = False
        self._load()
        self._update()

    @work(group="statistics-update", exit_on_error=False)
    async def _update(self) -> None:
        try:
            await self._service.update()
        except AgentTuiError as error:
            self.show_heading("Statistics", str(error))
            self._rows.show_empty(Content.styled(clean(str(error)), "$muted"))
            return
        finally:
            self._is_updating = False
        self._load()

    @work(exclusive=True, group="statistics")
    async def _load(self) -> None:
        """Read both tables; an index that is still being built is waited for."""
        days, name = _PERIODS[self._period]
        since = (_today() - timedelta(days=days - 1)).isoformat() if days else ""
        try:
            self._days = await self._service.statistics("day", since)
            self._found = await self._service.statistics(self._by, since)
        except AgentTuiError as error:
            told = "Building the index…" if self._is_updating else clean(str(error))
            self._rows.show_empty(Content.styled(told, "$muted"))
            return
        of = self._measure.of
        if self._by != "day":
            self._found = [each for each in self._found if any(m.of(each) for m in _MEASURES)]
            self._found.sort(key=lambda each: (-of(each), each.name))
        else:
            self._found.reverse()
        self._rows.show_empty(Content("No activity in this period."))
        self._rows.show_rows(len(self._found), cursor=0)
        self.refresh_bindings()
        self.query_one("#charts").display = bool(self._days)
        self.query_one("#charts").refresh()
        self.draw_heads()
        period = "all time" if self._by == "tool" and days else name
        self.show_heading("Statistics", f"by {self._by}", self._measure.name, period)

    def _draw_charts(self, width: int) -> Content:
        days = _every_day(self._days)
        if not days:
            return Content("")
        first = " to ".join(dict.fromkeys((days[0].name, days[-1].name)))
        lines = [Content.styled(f"{'PER DAY':<{_LABEL}} {first}", "$faint")]
        for measure in _MEASURES:
            values = [measure.of(each) for each in days]
            columns = draw_columns(values, max(0, width - _LABEL - _NUMBER - 2))
            style = "bold $foreground" if measure is self._measure else "$muted"
            lines.append(
                Content.assemble(
                    (measure.name.ljust(_LABEL), style),
                    (measure.told(_total(self._days)).rjust(_NUMBER), style),
                    "  ",
                    (columns, measure.style),
                )
            )
        return Content("\n").join(lines)

    def _columns(self, width: int) -> tuple[int, tuple[_Measure, ...], int]:
        """The cells for names, the measures that get a column, and the cells for bars."""
        shown = [each for each in _MEASURES if self._by != "tool" or each.name in _OF_TOOLS]
        name = max(10, min(32, width // 3))
        while len(shown) > 1 and name + 10 + len(shown) * (_NUMBER + 3) > width:
            shown.remove(next(each for each in reversed(shown) if each is not self._measure))
        return name, tuple(shown), max(0, width - name - 2 - len(shown) * (_NUMBER + 3))

    def _draw_heads(self, width: int) -> Content:
        if not self._found:
            return Content("")
        inner = self._rows.scrollable_content_region.width or width
        name, shown, bar = self._columns(inner)
        heads = "".join(each.name.upper().rjust(_NUMBER + 3) for each in shown)
        return Content(f"{self._by.upper():<{name}} {'':<{bar}} {heads}")

    def _draw(self, index: int, width: int) -> Content:
        each, of = self._found[index], self._measure.of
        name, shown, bar = self._columns(width)
        most = max(map(of, self._found), default=0)
        label = each.name.rstrip("/").rpartition("/")[2] if self._by == "project" else each.name
        return Content.assemble(
            fit_cells(reveal(label or each.name), name),
            " ",
            (draw_bar(of(each) / most if most else 0, bar), self._measure.style),
            " ",
            *((one.told(each).rjust(_NUMBER + 3), _style(one is self._measure)) for one in shown),
        )

    def has_rows(self) -> bool:
        """Whether something was done on any day: a table by tools may be empty beside that."""
        return bool(self._days) or self._period > 0

    def action_group(self, step: int) -> None:
        """Group the table by the next thing."""
        self._by = GROUPS[(GROUPS.index(self._by) + step) % len(GROUPS)]
        if self._by == "tool" and self._measure.name not in _OF_TOOLS:
            self._measure = next(each for each in _MEASURES if each.name in _OF_TOOLS)
        self._load()

    def action_measure(self, step: int) -> None:
        """Show another measure in the bars, and sort by it."""
        known = [each for each in _MEASURES if self._by != "tool" or each.name in _OF_TOOLS]
        self._measure = known[(known.index(self._measure) + step) % len(known)]
        self._load()

    def action_period(self) -> None:
        """Count another period."""
        self._period = (self._period + 1) % len(_PERIODS)
        self._load()


def _style(is_chosen: bool) -> str:
    return "$foreground" if is_chosen else "$muted"


def _today() -> date:
    return datetime.now(UTC).date()


def _total(found: Sequence[Statistic]) -> Statistic:
    return Statistic(
        "",
        calls=sum(each.calls for each in found),
        errors=sum(each.errors for each in found),
        compactions=sum(each.compactions for each in found),
        input_tokens=sum(each.input_tokens for each in found),
        output_tokens=sum(each.output_tokens for each in found),
        cost=sum(each.cost for each in found),
        unpriced_tokens=sum(each.unpriced_tokens for each in found),
    )


def _every_day(found: Sequence[Statistic]) -> list[Statistic]:
    """A row for each day from the first to the last, at most a year; days without a date go."""
    known = {each.name: each for each in found if _is_day(each.name)}
    if not known:
        return []
    last = date.fromisoformat(max(known))
    first = max(date.fromisoformat(min(known)), last - timedelta(days=_MOST_DAYS))
    names = [(first + timedelta(days=n)).isoformat() for n in range((last - first).days + 1)]
    return [known.get(name, Statistic(name)) for name in names]


def _is_day(name: str) -> bool:
    try:
        date.fromisoformat(name)
    except ValueError:
        return False
    return True
