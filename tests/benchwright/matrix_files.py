"""Files of matrices as bytes: good ones, and those that pretend."""

import io
import zipfile

import numpy as np
import polars as pl


def npy(array, **options):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), **options)
    return out.getvalue()


def announced(shape, dtype="<f4"):
    """An npy file that announces more than it holds."""
    out = io.BytesIO()
    header = {"shape": shape, "fortran_order": False, "descr": dtype}
    np.lib.format.write_array_header_1_0(out, header)
    return out.getvalue() + bytes(64)


def pickled(*values):
    return npy(np.array(values, dtype=object), allow_pickle=True)


def npz(_method=zipfile.ZIP_DEFLATED, **arrays):
    return packed({f"{name}.npy": content for name, content in arrays.items()}, _method)


def packed(members, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return out.getvalue()


def table(_overrides=None, **columns):
    out = io.BytesIO()
    pl.DataFrame(columns, schema_overrides=_overrides).write_parquet(out, row_group_size=77)
    return out.getvalue()
