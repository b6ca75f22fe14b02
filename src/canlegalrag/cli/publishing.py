"""Command that publishes: the Space, the dataset, the metrics, each to its repository on the Hub."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from canlegalrag.cli.options import Json, app
from canlegalrag.terminal import misuse, note, print_json, show

if TYPE_CHECKING:
    from canlegalrag.publish import Plan

__all__ = ["publish"]


@app.command()
def publish(
    what: Annotated[str, typer.Argument(help="space, dataset or metrics")],
    repo: Annotated[str, typer.Option(help="owner/name on the Hub; for metrics the owner, each being a Space")],
    push: Annotated[bool, typer.Option("--push", help="send it; without this, nothing leaves the machine")] = False,
    private: Annotated[bool, typer.Option("--private", help="create it so that only its owner sees it")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="delete what is there but not in the clone")] = False,
    root: Annotated[Path, typer.Option(help="the clone of the project")] = Path(),
    json: Json = False,
) -> None:
    """Show what would be published on the Hugging Face Hub; with --push, send what differs, as $HF_TOKEN allows."""
    from dataclasses import asdict

    from canlegalrag import publish as publishing

    with misuse():
        plans = publishing.plan(what, root, repo)
    if not json:
        for one in plans:
            _show(one)
    if not push:
        if json:
            print_json([_about(one) for one in plans])
        note("Nothing was sent: that takes --push")
        return
    done: list[dict[str, Any]] = []
    for one in plans:
        pushed = publishing.push(one, private=private, prune=prune)
        done.append(_about(one) | asdict(pushed))
        said = f"{len(pushed.uploaded)} files sent, {len(pushed.deleted)} deleted" if pushed.commit else "nothing new"
        note(f"{pushed.url}: {said}")
        if pushed.left:
            note(f"  there still, though not in the clone (--prune deletes them): {', '.join(pushed.left)}")
    if json:
        print_json(done)


def _show(plan: "Plan") -> None:
    from rich.table import Table

    table = Table("file", "bytes", "sha256", title=f"{plan.repo_type} {plan.repo}", title_justify="left")
    table.columns[1].justify = "right"
    for path, size, digest in plan.files:
        table.add_row(path, f"{size:,}", digest[:16])
    show(table)
    note(f"{plan.repo}: {len(plan.files)} files, {plan.total:,} bytes; commit: {plan.message}")


def _about(plan: "Plan") -> dict[str, Any]:
    files = [{"path": path, "bytes": size, "sha256": digest} for path, size, digest in plan.files]
    return {
        "repo": plan.repo,
        "repo_type": plan.repo_type,
        "message": plan.message,
        "bytes": plan.total,
        "files": files,
    }
