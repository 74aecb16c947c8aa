"""The transformations. Each turns the original embeddings and the graph into one modified vector per node."""

from ..deprecation import former_names_of
from ..types import TransformContext, Transformed
from .diffusion import DiffusionOptions, SignatureOptions
from .gradient import GradientOptions
from .neighbors import Hop2Options, HopOptions
from .registry import TRANSFORMS, Transform, lookup, register_transform, transform
from .residual import ResidualOptions
from .smoothing import ConvexOptions, LouvainOptions, SharedOptions
from .type_weights import TypeWeighted
from .walks import WalkOptions

__all__ = [
    "TRANSFORMS",
    "ConvexOptions",
    "DiffusionOptions",
    "GradientOptions",
    "Hop2Options",
    "HopOptions",
    "LouvainOptions",
    "ResidualOptions",
    "SharedOptions",
    "SignatureOptions",
    "Transform",
    "TransformContext",
    "Transformed",
    "TypeWeighted",
    "WalkOptions",
    "lookup",
    "register_transform",
    "transform",
]

__getattr__ = former_names_of(__name__, {"Context": ("gme.transforms.TransformContext", lambda: TransformContext)})
