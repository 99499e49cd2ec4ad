"""Importing a library without the packages of it that nobody may ever touch."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

_filling = RLock()


@contextmanager
def deferring(package: str) -> Iterator[None]:
    """While this lasts, the packages in and below ``package`` are imported empty.

    Each fills itself when something of it is first asked for; its submodules can be imported as
    ever. So a library that imports hundreds of modules for their names alone costs only what is
    used of it.
    """
    finder = _Deferring(package)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Deferring(MetaPathFinder):
    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._package and not name.startswith(f"{self._package}."):
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
    """A package that is executed when a name of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        with _filling:
            deferred = self.__loader__
            if isinstance(deferred, _Deferred):
                self.__loader__ = deferred.loader
                self.__class__ = ModuleType  # type: ignore[assignment] # as any other from here on
                deferred.loader.exec_module(self)
        return getattr(self, name)
