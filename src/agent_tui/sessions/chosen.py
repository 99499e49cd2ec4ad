"""What a person chose for a session; it outlives the part of the log that says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from agent_tui.core.dataclass import dataclass
from agent_tui.core.records import LabelRecord, ModelRecord, Record, TitleRecord
from agent_tui.sessions.replay import SessionState


@dataclass(frozen=True, slots=True)
class Chosen:
    """The name, the model and the labels that are in force.

    Labels are known by the id of their entry; an empty one was taken away.
    """

    title: str
    model: ModelRecord
    labels: Mapping[str, str]

    @classmethod
    def of(cls, state: SessionState) -> Chosen:
        """What is in force where a log ends."""
        labels = state.labels | dict.fromkeys(state.unlabelled, "")
        return cls(state.title, ModelRecord(state.provider, state.model), labels)

    def and_then(self, records: Iterable[Record]) -> Chosen:
        """What is in force after some more records."""
        chosen = self
        for record in records:
            match record:
                case TitleRecord(title):
                    chosen = replace(chosen, title=title)
                case ModelRecord(provider, model):
                    chosen = replace(chosen, model=ModelRecord(provider, model))
                case LabelRecord(target, label):
                    chosen = replace(chosen, labels={**chosen.labels, target: label})
                case _:
                    pass
        return chosen

    def missing_in(self, state: SessionState) -> list[Record]:
        """What has to be said again in another log; labels only where their entry is in it."""
        missing: list[Record] = []
        if self.title != state.title:
            missing.append(TitleRecord(self.title))
        if self.model.model and self.model != ModelRecord(state.provider, state.model):
            missing.append(self.model)
        said = state.labels
        changed = {t: label for t, label in self.labels.items() if label != said.get(t, "")}
        if changed:
            there = {entry.record.stamp.uuid for entry in state.all_entries}
            missing += [LabelRecord(t, label) for t, label in changed.items() if t in there]
        return missing
