"""Retrievers: each ranks a corpus for queries, and some hold others."""
