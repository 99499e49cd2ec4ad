"""A week of sessions in four projects, held before the program is started."""

from __future__ import annotations

from itertools import cycle, islice

from agent_tui.providers.demo.scenario import Reply
from tests.screenshots.stage import Stage

_HOME = "/home/ada"
_PAST = (
    # days, hours and minutes ago; project; model; title; size in paragraphs; first prompt
    (41, 3, 5, "garden-bot", "gpt-4.1-mini", "Moisture sensor, first light", 70,
     "Read the sensor over I2C and log a value every ten minutes."),
    (19, 6, 0, "thesis", "gpt-4.1", "Chapter 2 in plain words", 120,
     "Chapter 2 is full of passive voice. Suggest better sentences, one file at a time."),
    (12, 2, 30, "dotfiles", "qwen3-coder", "One config for both laptops", 28,
     "Merge the two tmux configs and tell me where they contradict each other."),
    (6, 2, 10, "recipes-api", "gpt-4.1", "Postgres instead of SQLite", 180,
     "Move the storage layer from SQLite to Postgres. Keep the tests running on both."),
    (5, 7, 40, "tidewatch", "gpt-4.1-mini", "", 22,
     "How are the four harbours stored?"),
    (4, 1, 5, "dotfiles", "qwen3-coder", "Faster shell start-up", 34,
     "My zsh takes 900 ms to start. Find out what is slow and make it lazy."),
    (3, 4, 0, "recipes-api", "gpt-4.1", "Allergens in the search index", 96,
     "Search should know allergens: index them, and let people exclude them."),
    (2, 6, 30, "thesis", "gpt-4.1", "Chapter 3: measure twice", 260,
     "Read chapter 3 and list every number that has no source."),
    (1, 3, 20, "recipes-api", "o4-mini", "Why is /search slow on Mondays?", 61,
     "p95 of /search is 1.8 s on Monday mornings and 200 ms otherwise. Find out why."),
    (0, 5, 15, "tidewatch", "gpt-4.1", "Review: spring tides in the table", 48,
     "Review the last commit. The table should mark spring tides."),
    (0, 0, 55, "thesis", "gpt-4.1", "", 2,
     "Make the bibliography compile again"),
)  # fmt: skip
_PARAGRAPHS = (
    "I read the code before I answered. The short version: the change is smaller than it looks, "
    "most of it is in one module, and the tests already describe what should happen.\n\n",
    "Two things are left open. The old names still work, so nothing breaks today; and one test "
    "takes four seconds, because it waits for a clock.\n\n",
    "I changed nothing else. What I was not sure about stands in the notes at the end, each with "
    "the file and the line it is about.\n\n",
)


def remember_sessions(stage: Stage) -> list[str]:
    """Hold every session of the week, oldest first; returns their ids."""
    ids = []
    for days, hours, minutes, project, model, title, paragraphs, prompt in _PAST:
        stage.clock.set_back(days=days, hours=hours, minutes=minutes)
        reply = Reply(text="".join(islice(cycle(_PARAGRAPHS), paragraphs)))
        cwd = f"{_HOME}/{project}"
        ids.append(stage.remember(cwd, prompt, reply, title=title, model=model))
    stage.clock.set_back()
    return ids
