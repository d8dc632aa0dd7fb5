"""Sending in embeddings: their files, how they are searched, and what is said of the system."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from benchmarks_app.common.forms import NameField
from benchmarks_app.common.parameters import form_field
from benchwright.matrices.arrays import NPY_MAGIC
from benchwright.recipes import submissions
from benchwright.retrieval.dense.bundles import DEPTH, Settings
from scoring.submissions.forms.submissions import SubmissionForm
from scoring.submissions.services.embedding_submitting import EmbeddingFiles

VECTORS = _(".npy, .npz with ids and vectors, or Parquet with an id and a list of numbers a row.")
IDS = _("For .npy: one id a line, in the order of the rows.")
SIMILARITIES = [
    ("cosine", _("Cosine: lengths do not count")),
    ("dot", _("Dot product: as the numbers are")),
]
NEEDS_IDS = _("An .npy file holds no ids: choose a file of them below, one a line.")


def _file(label: Any, help_text: Any, *, required: bool = False) -> forms.FileField:
    return forms.FileField(
        label=label, help_text=help_text, required=required, allow_empty_file=True
    )


class EmbeddingForm(SubmissionForm):
    """As a run is submitted, with vectors in place of a ranking."""

    file = None  # type: ignore[assignment]  # Django's way to take a declared field away
    query_embeddings = _file(_("Query embeddings"), VECTORS, required=True)
    query_ids = _file(_("Query ids"), IDS)
    document_embeddings = _file(_("Document embeddings"), VECTORS, required=True)
    document_ids = _file(_("Document ids"), IDS)
    name = NameField(
        label=_("Name"),
        max_length=120,
        help_text=_("What the run is called on the leaderboard, such as “e5-base, cosine”."),
    )
    similarity = forms.ChoiceField(
        choices=SIMILARITIES, initial="cosine", widget=forms.RadioSelect, label=_("Similarity")
    )
    depth = form_field(submissions.DEPTH)
    approximate = _file(
        _("Run of an approximate index"),
        _(
            "Of the same vectors, in any form of a run. It is a submission of its own; the two are "
            "then compared: how much of exact search the index keeps, and what that costs."
        ),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        for what in ("query", "document"):
            file, ids = cleaned.get(f"{what}_embeddings"), cleaned.get(f"{what}_ids")
            if file and not ids and _is_npy(file):
                self.add_error(f"{what}_embeddings", NEEDS_IDS)
        return cleaned

    def files_given(self) -> EmbeddingFiles:
        files = self.cleaned_data
        return EmbeddingFiles(
            query_embeddings=files["query_embeddings"],
            document_embeddings=files["document_embeddings"],
            query_ids=files["query_ids"] or None,
            document_ids=files["document_ids"] or None,
        )

    def how(self) -> Settings:
        cleaned = self.cleaned_data
        return Settings(cleaned["similarity"], cleaned["depth"] or DEPTH)


def _is_npy(file: UploadedFile) -> bool:
    start = file.read(len(NPY_MAGIC))
    file.seek(0)
    return bool(start == NPY_MAGIC)
