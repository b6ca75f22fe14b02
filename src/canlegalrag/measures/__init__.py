"""Pure functions from judgments and runs to numbers."""
