"""Builds Typer commands from option classes, so that each option is declared only once."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperGroup

from ..command_line import flag
from ..errors import GmeError, unknown
from ..options import Options, former_names, renamed

if TYPE_CHECKING:
    from ..registry import Registry


class UnknownCommandError(GmeError):
    """A sub-command that does not exist. Like every command line that can't be parsed, it ends with code 2."""


class UsageError(typer.TyperException):
    """A command line that can't be parsed.

    Args:
        message: what is wrong. hint: what to do; None points to the command's own help.
    """

    exit_code = 2

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class Group(TyperGroup):
    """Sub-commands. An unknown one gives the same message as any unknown name."""

    kind = "command"

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """See `TyperGroup.resolve_command`.

        Raises:
            UnknownCommandError: no sub-command has that name.
        """
        name = args[0]
        if name not in self.commands and not name.startswith("-"):
            words = {known: command.short_help or command.help or "" for known, command in self.commands.items()}
            error = unknown(self.kind, name, words, about=words)
            raise UnknownCommandError(error.message, error.hint)
        return super().resolve_command(ctx, args)


class RegistryGroup(Group):
    """Sub-commands that are entries of a registry; see `entries`."""

    registry: Registry[Any]
    add: Callable[[typer.Typer, str, Any], None]

    def list_commands(self, ctx: Any) -> list[str]:
        """See `TyperGroup.list_commands`."""
        self._complete()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """See `TyperGroup.get_command`."""
        if cmd_name not in self.commands:
            self._complete()
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """See `Group.resolve_command`.

        Raises:
            GmeError: the entry with this name comes from a broken plugin.
        """
        if self.get_command(ctx, args[0]) is None and args[0] in self.registry:
            self.registry.find(args[0])
        return super().resolve_command(ctx, args)

    def _complete(self) -> None:
        """Add the entries of other packages."""
        outside = {name: entry for name, entry in self.registry.outside().items() if name not in self.commands}
        if outside:
            app = typer.Typer(rich_markup_mode=None)
            app.callback()(lambda: None)  # without a callback, a single command would not make a group
            for name, entry in outside.items():
                self.add(app, name, entry)
            self.commands.update(typer.main.get_group(app).commands)


def entries(kind: str, registry: Registry[Any], add: Callable[[typer.Typer, str, Any], None]) -> type[RegistryGroup]:
    """The class of a group of sub-commands, one for each entry of a registry.

    Entries of this package are added at once. Entries of other packages are added when all are listed, or when somebody
    asks for a name that this package does not have. So a command of this package loads no plugin.

    Args:
        kind: what messages call a sub-command.
        add: called with (application, name, entry). Adds the entry's command to the application.
    """
    return type("_Entries", (RegistryGroup,), {"kind": kind, "registry": registry, "add": staticmethod(add)})


def option_parameters(options: type[Options]) -> list[inspect.Parameter]:
    """One keyword parameter for each field, with its default, and a help text with its legal values.

    Former names are parameters too. They are hidden from the help, and None means not given.
    """
    types = get_type_hints(options)
    present = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=Annotated[types[field.name], typer.Option(f"--{flag(field.name)}", help=_help(field))],
        )
        for field in dataclasses.fields(options)
    ]
    return present + [hidden_parameter(former, types[name]) for former, name in former_names(options).items()]


def hidden_parameter(name: str, kind: Any) -> inspect.Parameter:
    """The parameter for an option's former name. It works, but is not in the help."""
    annotation = Annotated[kind | None, typer.Option(f"--{flag(name)}", hidden=True)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def with_options(options: type[Options], function: Callable[..., None], doc: str) -> Callable[..., None]:
    """Wrap ``function(options, **rest)`` so that Typer sees the fields of `options` and the other parameters.

    Args:
        options: the option class. An instance is passed as the first argument.
        function: its other parameters must be annotated with real types, not strings.
        doc: the help text of the command.
    """
    names = [field.name for field in dataclasses.fields(options)]
    rest = list(inspect.signature(function).parameters.values())[1:]
    keyword_only = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in rest]

    def command(**given: Any) -> None:
        chosen = {name: given.pop(name) for name in names}
        former = {name: given.pop(name) for name in former_names(options)}
        chosen.update(renamed(options, {name: value for name, value in former.items() if value is not None}))
        function(options(**chosen), **given)

    parameters = [*option_parameters(options), *keyword_only]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = doc
    return command


def listed(given: str) -> list[str] | None:
    """The names in a comma-separated option; None if it is not given."""
    return [name.strip() for name in given.split(",") if name.strip()] if given else None


def _help(field: dataclasses.Field[Any]) -> str:
    text: str = field.metadata["help"]
    choices = field.metadata["choices"]
    return text + (f" ({', '.join(choices)})" if choices else "")
