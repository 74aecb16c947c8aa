"""The command line that makes a thing again: quoted for the shell, and the one that the command itself would parse."""

from __future__ import annotations

import shlex

import pytest

from gme.builders.mentions import MentionOptions
from gme.command_line import command_line
from gme.embedders.options import EmbedOptions
from gme.pipeline.edges import builder_command
from gme.pipeline.embed import embed_command
from gme.pipeline.transform import transform_command
from gme.transforms.neighbors import HopOptions


def test_arguments_come_in_their_order_and_none_is_left_out() -> None:
    line = command_line("gme retrieve", ["plain"], {"collection": None, "budget": 5}, {"edge_types": ["a", "b"]})
    assert line == "gme retrieve plain --budget 5 --edge-types a,b"


def test_true_is_a_flag_alone() -> None:
    assert command_line("gme transform", ["walk"], {"exact": True}) == "gme transform walk --exact"


@pytest.mark.parametrize("word", ["two words", "it's", "$HOME", "a;b", "", "--", "ü", "back\\slash", "new\nline"])
def test_the_shell_reads_every_word_as_it_was(word: str) -> None:
    line = command_line("gme report", [word], {"name": word, "types": [word, "b"]})
    assert shlex.split(line) == ["gme", "report", word, "--name", word, "--types", f"{word},b"]


def test_the_commands_of_the_steps() -> None:
    assert (
        embed_command(EmbedOptions(model="openai:a b", dimensions=8)) == "gme embed --model 'openai:a b' --dimensions 8"
    )
    assert builder_command("mentions", MentionOptions()) == "gme graph mentions"
    assert transform_command("hop1", HopOptions(alpha=0.5)) == "gme transform hop1 --alpha 0.5"
    assert (
        transform_command("hop1", HopOptions(), ["has part", "link"], "mine")
        == "gme transform hop1 --edge-types 'has part,link' --name mine"
    )
