"""A recipe without this module or that: each module alone on the bare encoder, and left out last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.core.errors import UsageError
from workbench.routing.recipe import Recipe, StageSpec


@dataclass(frozen=True)
class Anatomy:
    """A recipe around one encoder, taken apart (SkillRep, section 5.2).

    Attributes:
        rewriting: stages before everything, which change the query.
        encoder: the `dense` stage.
        refining: stages that change the encoder's vectors.
        fusion: the stage that adds other channels, ``None`` without one.
        own: which of its channels is the encoder's: the first that has one. Others are modules.
    """

    recipe: Recipe
    rewriting: tuple[StageSpec, ...]
    encoder: StageSpec
    refining: tuple[StageSpec, ...]
    fusion: StageSpec | None
    own: int

    @property
    def modules(self) -> tuple[str, ...]:
        """Names of the parts that can be left out, in the order in which they act."""
        others = self.fusion.channels if self.fusion else ()
        names = [channel[0].method for at, channel in enumerate(others) if at != self.own]
        return tuple(dict.fromkeys([*(s.method for s in (*self.rewriting, *self.refining)), *names]))

    def keeping(self, modules: Sequence[str]) -> Recipe:
        """The recipe with only these modules around the encoder.

        The channels of a fusion are one module as far as they start with the same method; without
        any of them the encoder's own channel is what is left.
        """
        rewriting = tuple(spec for spec in self.rewriting if spec.method in modules)
        own = (self.encoder, *(spec for spec in self.refining if spec.method in modules))
        label = "+".join(modules) or "encoder"
        return replace(
            self.recipe,
            name=f"{self.recipe.name} ({label})",
            stages=(*rewriting, *self._fused(own, modules)),
        )

    def _fused(self, own: tuple[StageSpec, ...], modules: Sequence[str]) -> tuple[StageSpec, ...]:
        if self.fusion is None:
            return own
        kept = {
            at: own if at == self.own else channel
            for at, channel in enumerate(self.fusion.channels)
            if at == self.own or channel[0].method in modules
        }
        if len(kept) < 2:
            return own
        options = self.fusion.options
        channels = tuple(getattr(options, "channels", ())[at] for at in kept)
        fusion = replace(
            self.fusion,
            options=options.model_copy(update={"channels": channels}),
            channels=tuple(kept.values()),
        )
        return (fusion,)


def anatomy(recipe: Recipe) -> Anatomy:
    """Take a recipe apart.

    Raises:
        UsageError: it is not made of an encoder with modules around it.
    """
    rewriting = tuple(spec for spec in recipe.stages if getattr(spec.module, "REWRITES", False))
    rest = [spec for spec in recipe.stages if spec not in rewriting]
    if rest and rest[0].channels:
        found = [at for at, channel in enumerate(rest[0].channels) if channel[0].method == "dense"]
        if found:
            own = rest[0].channels[found[0]]
            return Anatomy(recipe, rewriting, own[0], tuple(_refining(own)), rest[0], found[0])
    if rest and rest[0].method == "dense":
        return Anatomy(recipe, rewriting, rest[0], tuple(_refining(rest)), None, 0)
    raise UsageError(
        f"'{recipe.name}' has no single encoder with modules around it; choose a router such as hybrid"
    )


def _refining(stages: Sequence[StageSpec]) -> Iterator[StageSpec]:
    """The stages directly behind the encoder that change its vectors."""
    for spec in stages[1:]:
        if not getattr(spec.module, "REFINES", False):
            return
        yield spec


def variants(found: Anatomy) -> dict[str, Recipe]:
    """``encoder``, ``<module> alone``, ``<module> last`` (everything but it) and ``whole``.

    What a module is worth last is the whole less the variant without it.
    """
    modules = found.modules
    alone = {f"{name} alone": found.keeping([name]) for name in modules}
    last = {f"{name} last": found.keeping([other for other in modules if other != name]) for name in modules}
    return {"encoder": found.keeping([]), **alone, **last, "whole": found.keeping(modules)}
