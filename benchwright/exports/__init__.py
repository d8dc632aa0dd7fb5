"""Every format a release can be written in, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from benchwright.exports.beir import BEIR
from benchwright.exports.croissant import CROISSANT
from benchwright.exports.errors import UnknownExportError
from benchwright.exports.exporter import Exporter
from benchwright.exports.hub import HUB
from benchwright.exports.ids_only import IDS_ONLY
from benchwright.exports.ir_datasets import IR_DATASETS
from benchwright.exports.judgments import JUDGMENTS
from benchwright.exports.label_studio import LABEL_STUDIO
from benchwright.exports.mteb import MTEB
from benchwright.exports.sentence_transformers import SENTENCE_TRANSFORMERS
from benchwright.exports.trec import TREC

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
            JUDGMENTS,
            LABEL_STUDIO,
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
