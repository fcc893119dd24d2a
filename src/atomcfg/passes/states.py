"""What flows from pass to pass. Each state holds the one before it, so no fact is copied."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from atomcfg.cellkey import CellKey
from atomcfg.diagnostics import Span
from atomcfg.documents import Document, JsonPath
from atomcfg.model import Cluster, Run, Settings
from atomcfg.plan import Spec
from atomcfg.sources import Options, Sources


@frozen(eq=False, repr=False)
class Parsed:
    """After `read` and `settle`: every text is a document."""

    sources: Sources
    options: Options
    config: Document
    cluster: Document | None
    lab: Document | None
    thresholds: Mapping[str, Document]
    used_lab: frozenset[JsonPath] = frozenset()


@frozen(eq=False, repr=False)
class StatedKey:
    """A cell that was written as a key: `path` is its place in the flat document's `sweep.runs`."""

    key: CellKey
    path: JsonPath


@frozen(eq=False, repr=False)
class Flat:
    """After `normalise`: one profile as a flat document, whatever the dialect was."""

    parsed: Parsed
    document: Document
    stem: str
    dialect: str
    profile: str
    profile_source: str  # option | environment | file | default | only
    threshold_profile: str
    stated_keys: tuple[StatedKey, ...]
    unordered_cells: bool  # the cells come from object keys, so no order was stated


@frozen(eq=False, repr=False)
class Enlisted:
    """After `enlist`: the flat document and the cluster it runs on. `unresolved`: what a lab must still supply."""

    flat: Flat
    cluster: Cluster
    unresolved: tuple[str, ...]


@frozen(eq=False, repr=False)
class Built:
    """After `build` and `govern`: typed and consistent."""

    enlisted: Enlisted
    settings: Settings


@frozen(eq=False, repr=False)
class PlannedCell:
    """One cell of the sweep, before its command is written."""

    id: str
    key: CellKey
    run: Run
    input_range: tuple[int, int]
    output_range: tuple[int, int]


@frozen(eq=False, repr=False)
class Expanded:
    built: Built
    cells: tuple[PlannedCell, ...]
    sibling_keys: frozenset[CellKey] = frozenset()  # cells of the file's other profiles


@frozen(eq=False, repr=False)
class BoundTable:
    """The specs of one cell, task or check, and where they stand: `written[i]` is the key of `specs[i]`."""

    specs: tuple[Spec, ...]
    document: Document
    path: JsonPath
    written: tuple[str, ...]

    def span(self, index: int) -> Span:
        """The place of a spec's key."""
        return self.document.span((*self.path, self.written[index]), key=True)


@frozen(eq=False, repr=False)
class Bound:
    """After `bind`: every cell, task and check with its specs."""

    expanded: Expanded
    cells: Mapping[str, BoundTable]  # by cell id
    accuracy: Mapping[str, BoundTable]  # by task id
    long_context: Mapping[str, BoundTable]  # by needle id
    mtp_quality: BoundTable | None
    quant_parity: BoundTable | None
