"""Document-side expansion: an LLM writes requests for each skill, and the skill moves toward them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field as Option

from workbench.core.digest import digest_json
from workbench.routing import vectors
from workbench.routing.asking import about
from workbench.routing.language import Language, Speaker, user
from workbench.routing.space import RefinedSpace, SpaceStage, inner_space
from workbench.routing.stage import RouteContext, Stage
from workbench.routing.text import DocumentText
from workbench.skills.skill import Skill

if TYPE_CHECKING:
    from numpy.typing import NDArray

REVISION = 1
REFINES = True
IS_SPACE = True
BEHIND = {"dense": {"model": "example/encoder"}}
EXAMPLE = {"model": "example/writer"}
_BATCH = 64

PROMPTS = (
    "Below is a skill from a library. Write one request by a user for which it is the right tool. State the "
    "goal as the user sees it; do not name the skill or copy its sentences. At most 80 words, plain text, "
    "nothing else.\n\nSkill:\n{skill}",
    "Below is a skill from a library. Write one request by a user with a concrete problem, with its own "
    "data and details, whose solution takes the steps of this skill. Do not name the skill or copy its "
    "sentences. At most 120 words, plain text, nothing else.\n\nSkill:\n{skill}",
)
"""One stating a goal, one a concrete problem, as SkillRep, section 3.2, has it; the paper does not
print its prompts, these are ours."""


class Config(Language):
    """Options of the stage, besides those of the language model (SkillRep, sections 3.2 and 4).

    Attributes:
        weight: how far a skill's vector moves toward the mean of its requests, 0 to 1; the paper's u.
        document: what the model reads of a skill.
    """

    temperature: float | None = Option(0.3, ge=0, le=2)
    weight: float = Option(0.2, ge=0, le=1)
    document: DocumentText = DocumentText(separator="\n", body_chars=8000)


class ExpandDocuments(RefinedSpace):
    """A space whose skills have moved. Requests are encoded as queries; queries stay where they were."""

    def __init__(self, config: Config, context: RouteContext, inner: SpaceStage) -> None:
        super().__init__(inner)
        self._config = config
        self._context = context
        self._speaker = Speaker("expand_documents", config, context.complete)

    @property
    def identity(self) -> str:
        """The inner space's, and the model that is really asked."""
        return f"{self.inner.identity} {self._speaker.identity}"

    @property
    def index_fingerprint(self) -> str:
        """Digest of the inner index, the options, the prompts and the model."""
        options = self._config.model_dump(mode="json", exclude={"parallel"})
        parts = ["expand_documents", REVISION, options, PROMPTS, self._speaker.identity]
        return digest_json([*parts, self.inner.index_fingerprint])

    def notes(self) -> tuple[str, ...]:
        """How many answers were empty."""
        return (*super().notes(), *self._speaker.notes("the skill stayed nearer to where it was"))

    def stored(self) -> vectors.Stored:
        """The moved skills: written once, then opened from the cache."""
        folder = self.cache.open(self.index_fingerprint, self._build)
        return vectors.read(folder)._replace(starts=self.inner.stored().starts)

    def scales(self) -> NDArray[Any]:
        """Of its own vectors."""
        return SpaceStage.scales(self)

    def _build(self, folder: Path, pieces: Path) -> None:
        """n((1 - u) d + u mean(r)) for every skill, batch by batch; answers are kept by who gives them."""
        import numpy as np

        self._speaker.check()
        (rows, starts), ids = self.inner.stored(), self.pool.ids()
        ends = np.arange(len(ids) + 1) if starts is None else starts
        with vectors.writing(folder, rows.shape) as write:
            for start in range(0, len(ids), _BATCH):
                self._context.progress("expand", start, len(ids))
                skills = list(self.pool.skills(ids[start : start + _BATCH]))
                bounds = ends[start : start + _BATCH + 1]
                targets = np.repeat(self._speaker.each(self._target, skills), np.diff(bounds), axis=0)
                old = rows[bounds[0] : bounds[-1]].astype(np.float64)
                mixed = (1 - self._config.weight) * old + targets
                write(mixed / np.linalg.norm(mixed, axis=1, keepdims=True))
        self._context.progress("expand", len(ids), len(ids))

    def _target(self, skill: Skill) -> NDArray[Any]:
        """u times the mean of the skill's requests; the zero vector where none was written."""
        import numpy as np

        shown = self._config.document.render(skill)
        with about("skill", skill.id):
            texts = [self._speaker.ask(user(prompt.format(skill=shown))).text.strip() for prompt in PROMPTS]
        for text in texts:
            self._speaker.count(usable=bool(text))
        written: Sequence[str] = [text for text in texts if text]
        if not written:
            return np.zeros(self.inner.stored().rows.shape[1])
        mean: NDArray[Any] = self.encode_requests(written).mean(axis=0, dtype=np.float64)
        return self._config.weight * mean


def build(config: Config, context: RouteContext) -> Stage:
    """The stage in place of the one before it, with the context's language model."""
    return ExpandDocuments(config, context, inner_space(context, "expand_documents"))
