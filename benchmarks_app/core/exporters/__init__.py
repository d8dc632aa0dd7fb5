"""Every format a release can be written in, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from benchmarks_app.core.export_errors import UnknownExportError
from benchmarks_app.core.exporters.beir import BEIR
from benchmarks_app.core.exporters.croissant import CROISSANT
from benchmarks_app.core.exporters.exporter import Exporter
from benchmarks_app.core.exporters.hub import HUB
from benchmarks_app.core.exporters.ids_only import IDS_ONLY
from benchmarks_app.core.exporters.ir_datasets import IR_DATASETS
from benchmarks_app.core.exporters.mteb import MTEB
from benchmarks_app.core.exporters.sentence_transformers import SENTENCE_TRANSFORMERS
from benchmarks_app.core.exporters.trec import TREC

__all__ = ["BEIR", "EXPORTERS", "Exporter", "exporter_of"]

EXPORTERS: Mapping[str, Exporter] = MappingProxyType(
    {
        exporter.name: exporter
        for exporter in (
            BEIR,
            HUB,
            MTEB,
            SENTENCE_TRANSFORMERS,
            TREC,
            IR_DATASETS,
            CROISSANT,
            IDS_ONLY,
        )
    }
)


def exporter_of(name: str) -> Exporter:
    """Return the format of a name.

    Raises
    ------
    UnknownExportError
        If there is no such format; names those there are.
    """
    try:
        return EXPORTERS[name]
    except KeyError:
        raise UnknownExportError(format=name, known=", ".join(EXPORTERS)) from None
