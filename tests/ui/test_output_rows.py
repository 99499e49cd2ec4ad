"""What a tool or a command printed, in few rows: its two ends, and a true count of the rest."""

from __future__ import annotations

import pytest

from agent_tui.core.messages import CommandDisplay
from agent_tui.core.shell import exit_line, left_out_line
from agent_tui.ui.blocks import ShellBlock, ToolBlock, ToolState, UserBlock
from agent_tui.ui.renderers.drawing import Drawing
from agent_tui.ui.renderers.message import draw_user
from agent_tui.ui.renderers.shell import draw_shell
from agent_tui.ui.renderers.tool import draw_tool
from tests.ui.test_timeline_long import count_calls
from tests.ui.test_timeline_markdown import canvas


def numbers(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


def rows(drawing: Drawing) -> list[str]:
    return ["".join(piece.text for piece in row).rstrip() for row in drawing.rows]


def shell(output: str, *, expanded: bool = False, state: ToolState = "ok") -> list[str]:
    code = {"ok": 0, "error": 3}.get(state)
    end = "" if code is None else exit_line(code)
    return rows(draw_shell(ShellBlock("x", output + end, state, code), canvas(), expanded=expanded))


def call(output: str, *, expanded: bool = False, state: ToolState = "ok") -> list[str]:
    block = ToolBlock("1", "read_file", '{"path": "x"}', state, output)
    head, *body = rows(draw_tool(block, canvas(), expanded=expanded))
    return [head, *body[2:]] if expanded else [head, *body]


def command(output: str, *, expanded: bool = False, state: ToolState = "ok") -> list[str]:
    code = {"ok": 0, "error": 3}.get(state)
    end = "" if code is None else exit_line(code)
    block = ToolBlock("1", "run_command", "", state, output + end, CommandDisplay("", "", code))
    return rows(draw_tool(block, canvas(), expanded=expanded))


def test_a_long_output_shows_its_two_ends_and_how_many_lines_are_between() -> None:
    assert call(numbers(5_000))[1:] == ["line 1", "line 2", "line 3", "… 4,996 lines", "line 5000"]
    first, note, *last = command(numbers(5_000))[1:]
    assert [first, note] == ["line 1", "… 4,996 lines"]
    assert last == ["line 4998", "line 4999", "line 5000"]
    first, second, note, *last = shell(numbers(5_000))[1:]
    assert [first, second, note] == ["line 1", "line 2", "… 4,992 lines"]
    assert [last[0], last[-1]] == ["line 4995", "line 5000"]


def test_the_line_that_tells_the_exit_code_is_none_that_was_printed() -> None:
    assert shell(numbers(5_000))[0].endswith(" 5,000 lines")
    assert command(numbers(5_000))[0].endswith(" 5,000 lines")
    assert shell("")[0].endswith(" 0 lines")
    assert "exit code" not in "".join(shell("x\n") + command("x\n"))
    assert shell("x\n", state="error")[1:] == ["x"]
    assert shell("x\n", expanded=True)[-1] == "[exit code 0]"
    assert shell("[exit code 1]\n")[1:] == ["[exit code 1]"]


def test_lines_that_nobody_kept_count_with_the_others() -> None:
    printed = f"{numbers(2_000)}{left_out_line(94_000, 500_000)}\n{numbers(4_000)}"
    head, *body = shell(printed)
    assert head.endswith(" 100,000 lines")
    assert body[2] == "… 99,992 lines"
    (note,) = (row for row in shell(printed, expanded=True) if row.startswith("…"))
    assert note.startswith("… 98,001 lines not shown")  # the exit code has a row there
    few = f"1\n{left_out_line(94_000, 500_000)}\n2\n"
    assert shell(few)[0].endswith(" 94,002 lines")
    assert shell(few)[1:] == ["1", left_out_line(94_000, 500_000), "2"]


def test_nothing_is_left_out_for_a_row_that_says_so() -> None:
    assert shell(numbers(9))[1:] == [f"line {number}" for number in range(1, 10)]
    assert call(numbers(5))[1:] == [f"line {number}" for number in range(1, 6)]


def test_an_opened_output_says_what_it_still_leaves_out() -> None:
    assert [row for row in shell(numbers(1_900), expanded=True) if "…" in row] == []
    told = call(numbers(5_000), expanded=True)
    assert told[1:3] == ["line 1", "line 2"]
    assert told[-1] == "line 5000"
    (note,) = (row for row in told if "…" in row)
    place = told.index(note)
    first, last = int(told[place - 1].split()[1]), int(told[place + 1].split()[1])
    assert note.startswith(f"… {last - first - 1:,} lines not shown")


@pytest.mark.parametrize("expanded", [False, True])
def test_a_line_that_is_cut_says_so(expanded: bool) -> None:
    (head, *body) = call("word " * 200_000, expanded=expanded)
    assert head.endswith(" 1 line")
    assert body[-1].endswith("…")
    assert len(body) == (400 if expanded else 8)
    assert not call("word " * 60)[-1].endswith("…")


def test_of_what_a_command_prints_now_the_end_is_shown() -> None:
    told = command(numbers(700), state="running")
    assert told[1:] == ["…", "line 697", "line 698", "line 699", "line 700"]
    assert shell(numbers(700), state="running")[1:3] == ["…", "line 693"]


@pytest.mark.parametrize("expanded", [False, True])
def test_what_is_drawn_of_an_output_does_not_grow_with_it(expanded: bool) -> None:
    short, long = numbers(3_000), numbers(300_000)
    costs = [
        count_calls(lambda: shell(short, expanded=expanded)),
        count_calls(lambda: shell(long, expanded=expanded)),
    ]
    assert costs[1] <= costs[0] * 1.1


def test_the_question_below_a_pasted_file_is_seen() -> None:
    block = UserBlock(f"{numbers(40)}\nWhat is wrong with line 12?")
    told = rows(draw_user(block, canvas(), expanded=False))
    assert told[0] == "line 1"
    assert told[-1] == "What is wrong with line 12?"
    assert "… 18 lines" in told
