#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes small good files for npz_fuzz and safetensors_fuzz to begin with.

usage: tests/fuzz/seeds.py FOLDER     FOLDER/npz and FOLDER/safetensors; needs python3-scipy
"""
import io
import json
import pathlib
import sys
import zipfile

import numpy
import scipy.sparse

MEMBERS = ["format", "shape", "data", "indices", "indptr", "row", "col"]


def main():
    folder = pathlib.Path(sys.argv[1])
    for name in ("npz", "safetensors"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    dense = numpy.zeros((4, 6))
    dense[0, 1], dense[2, 3], dense[3, 5] = 1, -2, 3
    for dtype in ("f4", "f8", "?", "i1"):
        for form in ("coo", "csr", "csc", "bsr"):
            matrix = scipy.sparse.coo_matrix(dense.astype(dtype))
            matrix = matrix.tobsr((2, 2)) if form == "bsr" else matrix.asformat(form)
            file = io.BytesIO()
            scipy.sparse.save_npz(file, matrix, compressed=dtype == "f4")
            (folder / "npz" / f"zip_{form}_{dtype[0]}").write_bytes(b"\0" + file.getvalue())
            text = b"\1"
            with zipfile.ZipFile(file) as archive:
                for member in MEMBERS:
                    has = f"{member}.npy" in archive.namelist()
                    data = archive.read(f"{member}.npy") if has else b""
                    text += len(data).to_bytes(2, "little") + data
            (folder / "npz" / f"members_{form}_{dtype[0]}").write_bytes(text)
    for dtype, bytes_ in (("F32", 4), ("BF16", 2), ("BOOL", 1), ("F8_E5M2", 1)):
        head = json.dumps({"__metadata__": {"format": "pt"},
                           "a": {"dtype": dtype, "shape": [2, 3], "data_offsets": [0, 6 * bytes_]},
                           "b": {"dtype": "U8", "shape": [2],
                                 "data_offsets": [6 * bytes_, 6 * bytes_ + 2]}}).encode()
        (folder / "safetensors" / dtype).write_bytes(
            len(head).to_bytes(8, "little") + head + bytes(6 * bytes_ + 2))


if __name__ == "__main__":
    main()
