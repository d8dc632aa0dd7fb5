"""A command on files and the same on a site: what was named before it, and what it takes there."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True)
class Where:
    """The site and the benchmark that stand before the command; what is not named is empty.

    Where the site is empty, it is that of BENCHWRIGHT_SERVER, or the one last signed in to.
    """

    site: str = ""
    benchmark: str = ""

    @property
    def url(self) -> str:
        """The address of the site that is meant.

        Raises
        ------
        ServerAddressError
            If none is named and none is known.
        """
        import os

        from benchwright.client.servers import Servers, login_for

        return login_for(self.site, servers=Servers(), environment=os.environ).url


def where_of(ctx: click.Context | None) -> Where | None:
    """What was named before the command; None where nothing was, and files are meant."""
    where = ctx.find_root().obj if ctx is not None else None
    return where if isinstance(where, Where) else None


@dataclass(frozen=True)
class Door:
    """How a command on files is done on a site: a function of a module, with other parameters.

    The function is called with what was named before the command, and the command's context.

    `keeps` are names of parameters that mean the same there; `also` are those it has there alone.
    What `keeps` takes of the library's recipes the API calls by the same names.
    """

    module: str
    keeps: tuple[str, ...] = ()
    also: tuple[click.Parameter, ...] = ()
    function: str = "on_site"

    def opened(self) -> Any:
        """The function, its module imported."""
        return getattr(importlib.import_module(self.module), self.function)


def meant(name: str, known_names: Sequence[str]) -> str:
    """What may have been meant by a name that is none of those known; empty where none is near.

    Examples
    --------
    >>> meant("coco", ["coec", "dbn"]), meant("scroe", ["score", "compare"]), meant("x", ["dbn"])
    ("Did you mean 'coec'?", "Did you mean 'score'?", '')
    """
    from difflib import get_close_matches

    by_folded = {command.casefold(): command for command in reversed(known_names)}
    near = get_close_matches(name.casefold(), list(by_folded))
    names = " or ".join(f"'{by_folded[folded]}'" for folded in near)
    return f"Did you mean {names}?" if names else ""


def declared(*decorators: Callable[[Any], Any]) -> tuple[click.Parameter, ...]:
    """The parameters that decorators add to a command, in their order."""

    def nobody() -> None: ...

    for decorator in reversed(decorators):
        decorator(nobody)
    return tuple(reversed(getattr(nobody, "__click_params__", ())))


def given(ctx: click.Context, *names: str) -> dict[str, Any]:
    """The parameters of these names that somebody set; of others the site has a default."""
    sources = {name: ctx.get_parameter_source(name) for name in names}
    unset = (None, click.core.ParameterSource.DEFAULT)
    return {name: ctx.params[name] for name, source in sources.items() if source not in unset}


def refuse_unused(*names: str, owner: str) -> None:
    """Refuse options that somebody set, and that only `owner` looks at."""
    ctx = click.get_current_context()
    unused = given(ctx, *names)
    for option in ctx.command.params:
        if option.name in unused:
            name = max(option.opts, key=len)
            text = f"{name} is of {owner}, and would count for nothing. Leave it out."
            raise click.UsageError(text)
