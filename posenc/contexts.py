"""A rotary model in the context of its training and in a longer one: which pairs meet angles they never had.

Letters: O trained, L wanted length, s = L/O, ω_i rate of pair i in radians per position, m pairs.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc.arrays import Floats
from posenc.offsets import Waves
from posenc.parameters import HIGH_FREQ_FACTOR, LOW_FREQ_FACTOR, MAX_POSITION_EMBEDDINGS, SEQ_LEN, Integer
from posenc.rope_config import RopeConfig
from posenc.rotary import score_waves
from posenc.scaling import Scaled, dynamic_ntk, linear, llama3, ntk, turns_made, yarn, yarn_ramp

# A context that can be drawn: no longer than the longest table.
LONGEST = SEQ_LEN.maximum
STRETCH = 4  # how much longer than the training, where the config names no longer context


class Contexts(NamedTuple):
    """A config in two contexts."""

    config: RopeConfig
    trained: int
    """O; the context of the config where it does not say which part of it was trained."""
    wanted: int
    factor: float
    """s, 1 for a context that is not longer."""
    before: Scaled
    """The rates of the training."""
    after: Scaled
    """What the config makes of them at the wanted length."""
    methods: Mapping[str, Scaled]
    """What each method would make of them for this s."""
    never: NDArray[np.bool_]
    """(m,) whether a pair made no whole turn in the training."""

    @property
    def first_never(self) -> int:
        """The first pair that made no whole turn in the training; m if all did."""
        return int(np.argmax(self.never)) if self.never.any() else len(self.never)

    def ratios(self) -> dict[str, Floats]:
        """Return new over old rate, pair by pair: of the config (``"config"``), and of each method."""
        shown = {"config": self.after} | dict(self.methods)
        return {name: _share(scaled.inv_freq, self.before.inv_freq) for name, scaled in shown.items()}

    def turns(self) -> dict[str, Floats]:
        """Return how many turns each pair makes: in the training, at the wanted length before and after."""
        return {
            "trained": turns_made(self.before.inv_freq, self.trained),
            "wanted": turns_made(self.before.inv_freq, self.wanted),
            "after": turns_made(self.after.inv_freq, self.wanted),
        }

    def wavelengths(self) -> dict[str, Floats]:
        """Return positions per turn of each pair before and after; NaN for a pair that does not turn."""
        return {"before": _wavelength(self.before.inv_freq), "after": _wavelength(self.after.inv_freq)}

    def ramp(self) -> Floats:
        """Return YaRN's ramp for this training: 0 where a pair keeps its rate, 1 where it is divided by s."""
        return yarn_ramp(
            self.config.rotary_dim, original_max_position_embeddings=self.trained, base=self.config.base
        )

    def facts(self) -> dict[str, object]:
        """Return what was read, key by key, as a config names it."""
        config = self.config
        return {
            "rope_type": config.rope_type,
            "head_dim": config.head_dim,
            "rotary_dim": config.rotary_dim,
            "rope_theta": config.base,
            "original_max_position_embeddings": config.original_max_position_embeddings,
            "max_position_embeddings": config.max_position_embeddings,
        } | {
            name: value
            for name, value in config.arguments.items()
            if name not in ("original_max_position_embeddings", "max_position_embeddings")
            and not isinstance(value, (tuple, list))
        }

    def scores(self) -> dict[str, Waves]:
        """Return the score of q = k = 1 as a function of the offset, with the rates before and after.

        The attention factor multiplies a rotated query and a rotated key, and so the score by its square.
        """
        ones = np.ones(2 * len(self.before.inv_freq))
        return {
            name: _times(score_waves(ones, ones, inv_freq=scaled.inv_freq), scaled.attention_factor**2)
            for name, scaled in (("before", self.before), ("after", self.after))
        }


def trained_len(config: RopeConfig) -> int:
    """Return the context of the training, as far as the config says: O, else M, else the usual 2048."""
    known = config.original_max_position_embeddings or config.max_position_embeddings
    return min(known or 2048, LONGEST)


def wanted_len(config: RopeConfig) -> Integer:
    """Return the parameter of the wanted length; its default is M where that is longer than O, else 4·O."""
    trained, longest = trained_len(config), config.max_position_embeddings or 0
    default = longest if longest > trained else STRETCH * trained
    return Integer("wanted_len", min(default, LONGEST), MAX_POSITION_EMBEDDINGS.minimum, LONGEST)


def contexts(config: RopeConfig, wanted: int) -> Contexts:
    """Put a config into the context of its training and into a wanted one.

    Parameters
    ----------
    config
        As `posenc.rope_config.read_config` returns it.
    wanted
        L, the length that is wanted.

    Raises
    ------
    ValueError
        For a length outside its limits.
    """
    wanted, trained = wanted_len(config).check(wanted), trained_len(config)
    dim, base, s = config.rotary_dim, config.base, max(wanted / trained, 1.0)
    before = config.unscaled()
    methods = {
        "linear": linear(dim, factor=s, base=base),
        "ntk": ntk(dim, factor=s, base=base),
        "dynamic": dynamic_ntk(dim, factor=1.0, max_position_embeddings=trained, seq_len=wanted, base=base),
        "llama3": llama3(
            dim,
            factor=s,
            low_freq_factor=LOW_FREQ_FACTOR.default,
            high_freq_factor=HIGH_FREQ_FACTOR.default,
            original_max_position_embeddings=trained,
            base=base,
        ),
    }
    if base > 1:  # with base 1 all pairs are alike, and there is nothing to ramp over
        methods["yarn"] = yarn(dim, factor=s, original_max_position_embeddings=trained, base=base)
    never = turns_made(before.inv_freq, trained) < 1
    return Contexts(config, trained, wanted, s, before, config.scaled(wanted), methods, never)


def _share(new: Floats, old: Floats) -> Floats:
    return np.divide(new, old, out=np.full_like(old, np.nan), where=old > 0)


def _wavelength(rates: Floats) -> Floats:
    return np.divide(2 * np.pi, rates, out=np.full_like(rates, np.nan), where=rates > 0)


def _times(waves: Waves, factor: float) -> Waves:
    return replace(waves, weights=waves.weights * factor)
