"""Answers that must be JSON of a certain shape: asked for, checked, and asked for again."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_tui.core.errors import AgentTuiError, UsageError

MOST_TRIES = 3
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


class UnfitAnswer(AgentTuiError):
    """The model did not give an answer that fits the schema."""


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """A JSON schema that the last answer of a turn must fit."""

    schema: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> AnswerSchema:
        """The schema of a file.

        Raises:
            UsageError: it cannot be read, or is not a JSON schema.
        """
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError

        try:
            schema = json.loads(path.read_text(encoding="utf-8"))
            Draft202012Validator.check_schema(schema)
        except OSError as error:
            raise UsageError(f"--output-schema: {path}: {error.strerror}.") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"--output-schema: {path} is not valid JSON: {error}.") from None
        except SchemaError as error:
            raise UsageError(
                f"--output-schema: {path} is not a JSON schema: {error.message}."
            ) from None
        if not isinstance(schema, dict):
            raise UsageError(f"--output-schema: {path}: expected a JSON object.")
        return cls(schema)

    def instruct(self, prompt: str) -> str:
        """The prompt with what the answer must be."""
        shape = json.dumps(self.schema, ensure_ascii=False)
        return (
            f"{prompt}\n\nWhen you are done, answer with one JSON value that fits this JSON "
            f"schema, and with nothing else:\n{shape}"
        )

    def check(self, answer: str) -> tuple[Any, str]:
        """The value of an answer, and a sentence on what is wrong with it; empty when it fits."""
        from jsonschema import Draft202012Validator

        fenced = _FENCE.findall(answer)
        try:
            value = json.loads(fenced[-1] if fenced else answer)
        except (ValueError, RecursionError) as error:
            return None, f"The answer is not one JSON value: {error}."
        trouble = next(iter(Draft202012Validator(self.schema).iter_errors(value)), None)
        if trouble is None:
            return value, ""
        where = ".".join(str(each) for each in trouble.absolute_path) or "the value"
        return value, f"The answer does not fit the schema: {where}: {trouble.message[:500]}."

    def ask_again(self, trouble: str) -> str:
        """The prompt that follows an answer which does not fit."""
        return f"{trouble} Answer with the JSON value alone."
