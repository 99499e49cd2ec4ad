"""Importing a library without the packages of it that nobody may ever touch."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.abc import InspectLoader, Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from threading import RLock
from types import ModuleType
from typing import Any

_filling = RLock()
_TAKEN = re.compile(r"^from (\.\w[\w.]*) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)
_NAME = re.compile(r"(\w+)(?:\s+as\s+(\w+))?")


@contextmanager
def deferring(*packages: str) -> Iterator[None]:
    """While this lasts, the named packages and those below them are imported empty.

    A name of one that comes from a module of its own is fetched from there alone, when it is first
    asked for; any other fills the package. Submodules can be imported as ever. So a library that
    imports hundreds of modules for their names alone costs only what is used of it.
    """
    finder = _Deferring(packages)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Deferring(MetaPathFinder):
    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = packages

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not any(name == each or name.startswith(f"{each}.") for each in self._packages):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None and spec.submodule_search_locations:
            spec.loader = _Deferred(spec.loader)
        return spec


class _Deferred(Loader):
    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> None:
        """A module like any other."""

    def exec_module(self, module: ModuleType) -> None:
        """Nothing yet: the package fills itself."""
        module.__class__ = _EmptyPackage


class _EmptyPackage(ModuleType):
    """A package that is executed when a name is asked for that none of its modules is known for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            return self._fill(name)
        if taken := _names_taken(self.__name__).get(name):
            module, its_name = taken
            value = getattr(import_module(module), its_name)
        elif find_spec(f"{self.__name__}.{name}") is not None:
            return import_module(f"{self.__name__}.{name}")
        else:
            return self._fill(name)
        setattr(self, name, value)
        return value

    def _fill(self, name: str) -> Any:
        with _filling:
            deferred = self.__loader__
            if isinstance(deferred, _Deferred):
                self.__loader__ = deferred.loader
                self.__class__ = ModuleType  # type: ignore[assignment] # as any other from here on
                deferred.loader.exec_module(self)
        return getattr(self, name)


@cache
def _names_taken(package: str) -> dict[str, tuple[str, str]]:
    """The module, and the name there, of each name that a package takes from its own modules."""
    loader = sys.modules[package].__loader__
    if not isinstance(loader, _Deferred) or not isinstance(loader.loader, InspectLoader):
        return {}
    source = loader.loader.get_source(package) or ""
    return {
        renamed or name: (f"{package}{module}", name)
        for module, listed, single in _TAKEN.findall(source)
        for name, renamed in _NAME.findall(listed or single)
    }
