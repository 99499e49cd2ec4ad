"""The statistics screen: charts by day, a table by one thing, bars for one measure."""

from __future__ import annotations

from agent_tui.core.errors import StorageError
from agent_tui.library.statistics import Statistic
from agent_tui.ui.screens.sessions.statistics import StatisticsScreen
from agent_tui.ui.widgets.bars.charts import draw_bar, draw_columns
from tests.ui.stage import Stage
from tests.waiting import settle


class Service:
    """The runtime's part, in memory."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def statistics(self, by: str, since: str = "") -> list[Statistic]:
        self.asked.append((by, since))
        if by == "day":
            return [
                Statistic("2026-11-01", calls=2, input_tokens=900, cost=0.5),
                Statistic("2026-11-04", calls=4, errors=1, input_tokens=100, compactions=1),
            ]
        if by == "tool":
            return [Statistic("Bash", calls=5, errors=1), Statistic("Edit", calls=1)]
        return [
            Statistic("gpt-5", calls=1, input_tokens=900, cost=0.5),
            Statistic("nothing"),
            Statistic("local", calls=5, errors=1, input_tokens=100, unpriced_tokens=100),
        ]

    async def update(self) -> None:
        pass


async def test_charts_show_every_day_and_the_table_one_grouping() -> None:
    service = Service()
    async with (stage := Stage(screen=StatisticsScreen(service))).run_test(size=(110, 30)) as pilot:
        await settle(pilot, workers=True)
        lines = stage.text.splitlines()
        chart = next(line for line in lines if "tool calls" in line)
        assert chart.split("6", 1)[1].strip(" ") == "▅▅▅         ███"
        first = next(line for line in lines if "gpt-5" in line)
        second = next(line for line in lines if "local" in line)
        assert lines.index(first) < lines.index(second)
        assert first.count("█") > 5 * second.count("█")
        assert "$0.50" in first
        assert "unknown" in second
        assert "nothing" not in stage.text


class ServiceOnAFullDisk(Service):
    """There is no index, and none can be made."""

    async def statistics(self, by: str, since: str = "") -> list[Statistic]:
        raise StorageError("There is no index yet.")

    async def update(self) -> None:
        raise StorageError("The disk is full.")


async def test_an_index_that_cannot_be_made_is_not_waited_for() -> None:
    screen = StatisticsScreen(ServiceOnAFullDisk())
    async with (stage := Stage(screen=screen)).run_test(size=(110, 30)) as pilot:
        await settle(pilot, workers=True)
        assert "Building" not in stage.text
        assert stage.text.count("The disk is full.") == 2


async def test_the_table_is_sorted_by_what_its_bars_show() -> None:
    service = Service()
    async with (stage := Stage(screen=StatisticsScreen(service))).run_test(size=(110, 30)) as pilot:
        await settle(pilot, workers=True)
        await pilot.press("m", "m")
        await settle(pilot, workers=True)
        assert stage.text.index("local") < stage.text.index("gpt-5")


async def test_tools_have_calls_and_errors_only_and_a_period_is_asked_for() -> None:
    service = Service()
    async with (stage := Stage(screen=StatisticsScreen(service))).run_test(size=(110, 30)) as pilot:
        await settle(pilot, workers=True)
        await pilot.press("left", "left")
        await settle(pilot, workers=True)
        assert service.asked[-1][0] == "tool"
        assert "Bash" in stage.text
        await pilot.press("p")
        await settle(pilot, workers=True)
        assert service.asked[-2][1] != ""


def test_a_bar_is_as_long_as_its_share_and_never_hides_a_little() -> None:
    assert draw_bar(0.5, 4) == "██  "
    assert draw_bar(0, 4) == "    "
    assert draw_bar(0.001, 4) == "▏   "
    assert draw_columns([0, 1, 8], 2) == "▂█"
    assert draw_columns([4, 0, 8], 5) == "▅   █"
    assert draw_columns([4, 8], 80) == "▅▅▅ ███"
    assert draw_columns([0, 0], 5) == "  "
