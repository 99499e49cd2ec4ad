"""A library imported without what nobody touches is whole for those who do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from agent_tui.providers.deferred_import import deferring


def test_a_package_fills_itself_when_it_is_touched(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    package = tmp_path / "bulky_sdk"
    for folder in (package, package / "types", package / "types" / "deep"):
        folder.mkdir()
    (package / "__init__.py").write_text("from . import types\nfrom .types.deep.leaf import LEAF\n")
    (package / "types" / "__init__.py").write_text("from .many import MANY\n")
    (package / "types" / "many.py").write_text("MANY = 7\n")
    (package / "types" / "deep" / "__init__.py").write_text("from ..many import MANY as M\n")
    (package / "types" / "deep" / "leaf.py").write_text("LEAF = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = list(sys.meta_path)
    with deferring("bulky_sdk.types"):
        import bulky_sdk  # type: ignore[import-not-found]
    assert sys.meta_path == before
    assert bulky_sdk.LEAF == 1
    assert "bulky_sdk.types.many" not in sys.modules
    from bulky_sdk.types import MANY, deep  # type: ignore[import-not-found]

    assert (MANY, deep.M) == (7, 7)


def test_the_sdk_is_imported_without_its_models_and_has_them_all_the_same() -> None:
    code = (
        "import sys; from agent_tui.providers.openai_compatible import OpenAICompatible as P; "
        "p = P(api_key='k'); p.warm(); "
        "print(sum(m.startswith('openai.types') for m in sys.modules)); "
        "import openai; from openai.types.responses import Response; from openai.types import *; "
        "print(Response.__name__, ChatModel is openai.types.ChatModel); "
        "print(type(openai.AsyncOpenAI(api_key='k').chat.completions).__name__)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    models, *names = run.stdout.splitlines()
    assert int(models) < 20
    assert names == ["Response True", "AsyncCompletions"]


def test_a_name_is_fetched_from_its_module_alone(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    package = tmp_path / "wordy_sdk"
    (package / "types").mkdir(parents=True)
    (package / "__init__.py").write_text("from . import types\n")
    (package / "types" / "__init__.py").write_text(
        "from .one import (\n    ONE as FIRST,\n    UNO,\n)\nfrom .two import TWO\nOWN = 3\n"
    )
    (package / "types" / "one.py").write_text("ONE = 1\nUNO = 11\n")
    (package / "types" / "two.py").write_text("TWO = 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    with deferring("wordy_sdk.types"):
        import wordy_sdk  # type: ignore[import-not-found]
    assert (wordy_sdk.types.FIRST, wordy_sdk.types.UNO) == (1, 11)
    assert "wordy_sdk.types.two" not in sys.modules
    assert not hasattr(wordy_sdk.types, "NOTHING")
    assert (wordy_sdk.types.OWN, wordy_sdk.types.TWO, wordy_sdk.types.FIRST) == (3, 2, 1)
