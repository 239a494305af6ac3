"""A recipe without this module or that: each module alone on the bare encoder, and left out last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.core.errors import UsageError
from workbench.routing.recipe import Recipe, StageSpec


@dataclass(frozen=True)
class Anatomy:
    """A recipe around one encoder, taken apart (SkillRep, section 5.2).

    Attributes:
        recipe: all of it.
        base: which of its stages holds the encoder: a `dense` stage, or one that fuses channels.
        own: which channel of a fusion is the encoder's: the first that starts with one. Every other
            is a module.
    """

    recipe: Recipe
    base: int
    own: int = 0

    @property
    def modules(self) -> tuple[str, ...]:
        """Names of the parts that can be left out, in the order in which they act.

        Everything but the encoder is one: what rewrites the query, what refines the vectors, the
        other channels, and every stage behind them. Parts of the same method go together.
        """
        before, fused, behind = self._around
        own = fused.channels[self.own][1:] if fused.channels else ()
        others = [channel[0] for at, channel in enumerate(fused.channels) if at != self.own]
        return tuple(dict.fromkeys(spec.method for spec in (*before, *own, *others, *behind)))

    def keeping(self, modules: Sequence[str]) -> Recipe:
        """The recipe with only these modules around the encoder; with all of them, its own stages.

        A fusion whose other channels are all left out is left out itself.
        """
        before, base, behind = self._around
        stages = (
            *(spec for spec in before if spec.method in modules),
            *self._fused(base, modules),
            *(spec for spec in behind if spec.method in modules),
        )
        return replace(
            self.recipe, name=f"{self.recipe.name} ({'+'.join(modules) or 'encoder'})", stages=stages
        )

    @property
    def _around(self) -> tuple[tuple[StageSpec, ...], StageSpec, tuple[StageSpec, ...]]:
        stages = self.recipe.stages
        return stages[: self.base], stages[self.base], stages[self.base + 1 :]

    def _fused(self, base: StageSpec, modules: Sequence[str]) -> tuple[StageSpec, ...]:
        if not base.channels:
            return (base,)
        encoder, *behind = base.channels[self.own]
        own = (encoder, *(spec for spec in behind if spec.method in modules))
        kept = {
            at: own if at == self.own else channel
            for at, channel in enumerate(base.channels)
            if at == self.own or channel[0].method in modules
        }
        if len(kept) < 2:
            return own
        channels = tuple(getattr(base.options, "channels", ())[at] for at in kept)
        options = base.options.model_copy(update={"channels": channels})
        return (replace(base, options=options, channels=tuple(kept.values())),)


def anatomy(recipe: Recipe) -> Anatomy:
    """Take a recipe apart.

    Raises:
        UsageError: it is not made of an encoder with modules around it.
    """
    stages = recipe.stages
    base = next((at for at, spec in enumerate(stages) if not getattr(spec.module, "REWRITES", False)), 0)
    found = [at for at, channel in enumerate(stages[base].channels) if channel[0].method == "dense"]
    if found or stages[base].method == "dense":
        return Anatomy(recipe, base, *found[:1])
    raise UsageError(
        f"'{recipe.name}' has no single encoder with modules around it; choose a router such as hybrid"
    )


def variants(found: Anatomy) -> dict[str, Recipe]:
    """``encoder``, ``<module> alone``, ``<module> last`` (everything but it) and ``whole``.

    What a module is worth last is the whole less the variant without it.
    """
    modules = found.modules
    alone = {f"{name} alone": found.keeping([name]) for name in modules}
    last = {f"{name} last": found.keeping([other for other in modules if other != name]) for name in modules}
    return {"encoder": found.keeping([]), **alone, **last, "whole": found.keeping(modules)}
