"""Recipes: rows of configurations, what they need, and the retrievers they make."""

from canlegalrag.recipes.composing import Composed, cache_folder, compose
from canlegalrag.recipes.costs import Estimate, Size, blocked, estimate
from canlegalrag.recipes.models import Models
from canlegalrag.recipes.rows import TABLES, Recipe, averages, baseline, match, offline, parse, published

__all__ = [
    "TABLES",
    "Composed",
    "Estimate",
    "Models",
    "Recipe",
    "Size",
    "averages",
    "baseline",
    "blocked",
    "cache_folder",
    "compose",
    "estimate",
    "match",
    "offline",
    "parse",
    "published",
]
