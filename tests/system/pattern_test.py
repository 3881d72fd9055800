#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tessera pattern` beside SciPy and NumPy, which read what it writes and write what it reads.
Usage: pattern_test.py BINARY SOURCE_DIRECTORY TEST_CLASS; needs python3-scipy"""

import collections
import gzip
import io
import json
import math
import re
import sys
import unittest
import zipfile

import numpy
import scipy.io
import scipy.sparse

sys.dont_write_bytecode = True # no folder among the sources
from cli_case import SOURCE, CliTest

BLOCK = 4
ROWS, COLUMNS = 12 * BLOCK, 7 * BLOCK
SPARSE = ["coo", "csr", "csc", "bsr"]
SAFETENSORS = {"BOOL": "?", "F16": "<f2", "F32": "<f4", "F64": "<f8", "I8": "|i1", "U8": "|u1",
               "I16": "<i2", "U16": "<u2", "I32": "<i4", "U32": "<u4", "I64": "<i8", "U64": "<u8"}


def safetensors_bytes(tensors, metadata=None):
    """Of arrays by name; a pair (dtype, array) names a type that NumPy has not."""
    head, data = {}, b""
    if metadata:
        head["__metadata__"] = metadata
    for name, array in tensors.items():
        dtype, array = array if isinstance(array, tuple) else (None, array)
        dtype = dtype or next(d for d, n in SAFETENSORS.items() if numpy.dtype(n) == array.dtype)
        head[name] = {"dtype": dtype, "shape": list(array.shape),
                      "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


def read_safetensors(path):
    """Arrays by name; of BF16 the bits."""
    bytes_ = path.read_bytes()
    length = int.from_bytes(bytes_[:8], "little")
    head, data = json.loads(bytes_[8:8 + length]), bytes_[8 + length:]
    head.pop("__metadata__", None)
    return {name: numpy.frombuffer(data[slice(*tensor["data_offsets"])],
                                   SAFETENSORS.get(tensor["dtype"], "<u2")).reshape(tensor["shape"])
            for name, tensor in head.items()}


def write_smtx(path, matrix):
    csr = matrix.tocsr()
    csr.sort_indices()
    rows, columns = csr.shape
    lines = [f"{rows}, {columns}, {csr.nnz}", " ".join(map(str, csr.indptr)),
             " ".join(map(str, csr.indices))]
    path.write_text("\n".join(lines) + "\n")


def read_smtx(path):
    sizes, starts, indices = path.read_text().split("\n")[:3]
    rows, columns, entries = map(int, sizes.split(","))
    return scipy.sparse.csr_matrix((numpy.ones(entries, bool), numpy.array(indices.split(), int),
                                    numpy.array(starts.split(), int)), (rows, columns))


def write(path, matrix, form):
    """A file as SciPy and NumPy write it."""
    if form in SPARSE:
        stored = matrix.tobsr((BLOCK, BLOCK)) if form == "bsr" else matrix.asformat(form)
        scipy.sparse.save_npz(path, stored)
    elif form.startswith("mtx"):
        text = io.BytesIO()
        field = "pattern" if matrix.dtype == bool else None
        plain = matrix.astype(float) if matrix.dtype in (bool, numpy.float16) else matrix
        scipy.io.mmwrite(text, plain.tocoo(), field=field, precision=17)
        path.write_bytes(gzip.compress(text.getvalue()) if form == "mtx.gz" else text.getvalue())
    elif form == "smtx":
        write_smtx(path, matrix)
    elif form == "npy":
        numpy.save(path, matrix.toarray())
    else:
        path.write_bytes(safetensors_bytes({"w": matrix.toarray()}))


def read(path, form):
    """The same file as SciPy and NumPy read it; masks are of bools."""
    if form in SPARSE:
        return scipy.sparse.load_npz(path)
    if form.startswith("mtx"):
        field = scipy.io.mminfo(str(path))[4]
        matrix = scipy.io.mmread(str(path))
        return matrix.astype(bool) if field == "pattern" else matrix
    if form == "smtx":
        return read_smtx(path)
    if form == "npy":
        return scipy.sparse.coo_matrix(numpy.load(path))
    tensor, = read_safetensors(path).values()
    return scipy.sparse.coo_matrix(tensor)


def converted(matrix, form):
    """What SciPy makes of a matrix for a format: its entries and its type."""
    if form == "bsr":
        blocks = matrix.tobsr((BLOCK, BLOCK))
        if blocks.dtype == bool:
            blocks.data[:] = True # a block is kept as a whole
        return blocks
    if form in SPARSE:
        return matrix.asformat(form)
    if form == "smtx":
        return scipy.sparse.coo_matrix((numpy.ones(matrix.tocoo().nnz, bool),
                                        (matrix.tocoo().row, matrix.tocoo().col)), matrix.shape)
    if form.startswith("mtx"):
        wide = {"f": numpy.float64, "b": bool}.get(matrix.dtype.kind, numpy.int64)
        return matrix.tocoo().astype(wide)
    return scipy.sparse.coo_matrix(matrix.toarray())


def entries(matrix):
    """Explicit zeros too; of bools those that are true."""
    coo = matrix.tocoo()
    return {(r, c): v for r, c, v in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist())
            if coo.dtype != bool or v}


def random_matrix(dtype, rows=ROWS, columns=COLUMNS, seed=1, zeros=True):
    random = numpy.random.default_rng(seed)
    kept = random.random((rows, columns)) < 0.1
    kept[5] = kept[:, 3] = False # an empty row and an empty column
    row, column = numpy.nonzero(kept)
    if dtype == bool:
        values = numpy.ones(row.size, bool)
    elif numpy.dtype(dtype).kind == "f":
        values = random.standard_normal(row.size).astype(dtype)
    else:
        facts = numpy.iinfo(dtype)
        values = random.integers(max(facts.min, -2**52), min(facts.max, 2**52), row.size,
                                 dtype=numpy.int64, endpoint=True).astype(dtype)
    if zeros and dtype != bool:
        values[::7] = 0 # entries all the same
    return scipy.sparse.coo_matrix((values, (row, column)), (rows, columns))


FORMS = SPARSE + ["mtx", "mtx.gz", "smtx", "npy", "safetensors"]


class PatternCase(CliTest):
    def pattern(self, *arguments, code=0):
        return self.tessera("pattern", *arguments, code=code)

    def path(self, name, form):
        return self.scratch / (f"{name}_{form}.npz" if form in SPARSE else f"{name}.{form}")

    def convert(self, source, target, form, *options):
        extra = ["--as", form] if form in SPARSE else []
        extra += ["--block", BLOCK] if form == "bsr" else []
        self.pattern("convert", source, "-o", target, *extra, *options)

    def check_form(self, schema, value, where=""):
        """The parts of JSON Schema that our own schema uses."""
        if "const" in schema or "enum" in schema:
            self.assertIn(value, schema.get("enum", [schema.get("const")]), where)
        elif schema["type"] == "object":
            self.assertLessEqual(set(value), set(schema["properties"]), where)
            self.assertGreaterEqual(set(value), set(schema["required"]), where)
            for key, inner in value.items():
                self.check_form(schema["properties"][key], inner, f"{where}/{key}")
        elif schema["type"] == "array":
            for number, inner in enumerate(value):
                self.check_form(schema["items"], inner, f"{where}/{number}")
        else:
            kinds = {"integer": int, "number": (int, float), "string": str}[schema["type"]]
            self.assertIsInstance(value, kinds, where)
            self.assertTrue(isinstance(value, str) or value >= schema.get("minimum", 0), where)

    def same(self, got, wanted, what):
        self.assertEqual(got.shape, wanted.shape, what)
        self.assertEqual(got.dtype, wanted.dtype, what)
        self.assertEqual(entries(got), entries(wanted), what)


class FormatsTest(PatternCase):
    def check(self, matrix, sources, targets):
        for source in sources:
            first = self.path("first", source)
            write(first, matrix, source)
            start = read(first, source)
            if start.dtype == bool:
                start = scipy.sparse.coo_matrix(start)
                start.eliminate_zeros() # an element of a block that is false is no entry
            for target in targets:
                there, back = self.path("there", target), self.path("back", source)
                self.convert(first, there, target)
                wanted = converted(start, target)
                self.same(read(there, target), wanted, f"{source} to {target}")
                self.convert(there, back, source)
                again = converted(wanted.tocoo(), source)
                self.same(read(back, source), again, f"{source} to {target} and back")

    def test_every_format_to_every_other_and_back_with_values(self):
        self.check(random_matrix(numpy.float32), FORMS, FORMS)

    def test_every_format_to_every_other_and_back_of_masks(self):
        self.check(random_matrix(bool), FORMS, FORMS)

    def test_types_are_kept(self):
        for dtype in ["<f2", "<f8", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8"]:
            matrix = random_matrix(numpy.dtype(dtype))
            # SciPy has no sparse matrices of halves
            sources = ["npy", "safetensors"] if dtype == "<f2" else ["csr", "npy"]
            for source in sources:
                first = self.path("first", source)
                if dtype == "<f2":
                    dense = numpy.zeros(matrix.shape, dtype)
                    dense[matrix.row, matrix.col] = matrix.data
                    if source == "npy":
                        numpy.save(first, dense)
                    else:
                        first.write_bytes(safetensors_bytes({"w": dense}))
                    wanted = {place: value for place, value in entries(matrix).items() if value}
                else:
                    write(first, matrix, source)
                    wanted = {place: value for place, value in entries(matrix).items() if value}
                for name in ["a.npz", "a.npy", "a.safetensors"]:
                    self.pattern("convert", first, "-o", name)
                    if name == "a.npz":
                        with zipfile.ZipFile(self.scratch / name) as archive:
                            data = numpy.load(io.BytesIO(archive.read("data.npy")))
                        self.assertEqual(data.dtype, numpy.dtype(dtype))
                    self.pattern("convert", name, "-o", "b.npy")
                    dense = numpy.load(self.scratch / "b.npy")
                    self.assertEqual(dense.dtype, numpy.dtype(dtype))
                    row, column = numpy.nonzero(dense)
                    got = dict(zip(zip(row.tolist(), column.tolist()),
                                   dense[row, column].tolist()))
                    self.assertEqual(got, wanted, f"{dtype} {source} {name}")

    def test_what_scipy_stores_in_another_way_is_read(self):
        matrix = random_matrix(numpy.float64)
        csr = matrix.tocsr()
        for row in range(csr.shape[0]): # columns that descend
            begin, end = csr.indptr[row:row + 2]
            csr.indices[begin:end] = csr.indices[begin:end][::-1].copy()
            csr.data[begin:end] = csr.data[begin:end][::-1].copy()
        wide = csr.copy()
        wide.indices, wide.indptr = wide.indices.astype(numpy.int64), wide.indptr.astype(numpy.int64)
        oblong = matrix.tobsr((BLOCK, 7))
        for stored, wanted in ((csr, matrix), (wide, matrix), (oblong, oblong)):
            for compressed in (False, True):
                scipy.sparse.save_npz(self.scratch / "a.npz", stored, compressed=compressed)
                self.convert("a.npz", "b.npz", "coo")
                self.same(scipy.sparse.load_npz(self.scratch / "b.npz"), wanted, stored.format)

    def test_a_transpose_is_the_transpose(self):
        matrix = random_matrix(numpy.float64, rows=31, columns=50)
        write(self.path("a", "csr"), matrix, "csr")
        for form in ["coo", "csc", "mtx", "smtx", "npy", "safetensors"]:
            self.convert(self.path("a", "csr"), self.path("t", form), form, "--transpose")
            self.same(read(self.path("t", form), form), converted(matrix.T.tocoo(), form), form)

    def test_whole_blocks_end_with_the_matrix(self):
        matrix = random_matrix(bool, rows=31, columns=50)
        write(self.path("a", "mtx"), matrix, "mtx")
        self.pattern("convert", "a.mtx", "-o", "b.npy", "--block", BLOCK)
        kept = numpy.zeros((31, 50), bool)
        for row, column in entries(matrix):
            row, column = row // BLOCK * BLOCK, column // BLOCK * BLOCK
            kept[row:row + BLOCK, column:column + BLOCK] = True
        self.assertTrue((numpy.load(self.scratch / "b.npy") == kept).all())

    def test_a_type_is_changed_only_exactly(self):
        matrix = scipy.sparse.coo_matrix(numpy.array([[0.0, 1.5], [-3.0, 0.0]]))
        scipy.sparse.save_npz(self.scratch / "a.npz", matrix)
        for name, dtype in (("f16", "<f2"), ("f32", "<f4")):
            self.pattern("convert", "a.npz", "-o", "b.npy", "--type", name)
            dense = numpy.load(self.scratch / "b.npy")
            self.assertEqual(dense.dtype, numpy.dtype(dtype))
            self.assertTrue((dense == matrix.toarray()).all())
        self.pattern("convert", "a.npz", "-o", "b.safetensors:x", "--type", "bf16")
        bits = read_safetensors(self.scratch / "b.safetensors")["x"]
        self.assertEqual(bits.tolist(), [[0, 0x3fc0], [0xc040, 0]])
        done = self.pattern("convert", "a.npz", "-o", "c.npy", "--type", "i8", code=3)
        self.assertIn("c.npy: element [0, 1]: i8 has not exactly the value 1.5", done.stderr)
        done = self.pattern("convert", "b.safetensors", "-o", "c.npy", code=3)
        self.assertIn("NumPy has no type bf16; --type f32 keeps the values", done.stderr)
        self.assertFalse((self.scratch / "c.npy").exists())
        self.pattern("convert", "b.safetensors", "-o", "c.npy", "--type", "f32")
        self.assertTrue((numpy.load(self.scratch / "c.npy") == matrix.toarray()).all())

    def test_zeros_that_a_dense_file_loses_are_told(self):
        write(self.path("a", "csr"), random_matrix(numpy.float32), "csr")
        done = self.pattern("convert", "a_csr.npz", "-o", "b.npy")
        self.assertIn("entries have the value 0", done.stderr)
        self.pattern("convert", "a_csr.npz", "-o", "b.npy", "--type", "mask")
        self.same(read(self.scratch / "b.npy", "npy"),
                  converted(random_matrix(numpy.float32), "smtx"), "mask")

    def test_equal_matrices_are_equal_bytes(self):
        write(self.path("a", "csr"), random_matrix(numpy.float32), "csr")
        made = []
        for name in ("b.npz", "c.npz"):
            self.pattern("convert", "a_csr.npz", "-o", name, "--as", "coo")
            made.append((self.scratch / name).read_bytes())
        self.assertEqual(made[0], made[1])


class ShowTest(PatternCase):
    def test_the_schema_is_that_of_what_is_shown(self):
        schema = json.loads(self.tessera("schema", "pattern").stdout)
        for number, dtype in enumerate((bool, numpy.float32, numpy.int16)):
            write(self.scratch / "a.npz", random_matrix(dtype), "csr")
            self.pattern("show", "a.npz", "--block", 1 + number, "--json", "a.json")
            self.check_form(schema, json.loads((self.scratch / "a.json").read_text()))

    def test_numbers_are_those_of_numpy(self):
        matrix = random_matrix(numpy.float32)
        write(self.path("a", "csr"), matrix, "csr")
        self.pattern("show", "a_csr.npz", "--block", BLOCK, "--json", "a.json")
        shown = json.loads((self.scratch / "a.json").read_text())
        kept = numpy.zeros(matrix.shape, int)
        kept[matrix.row, matrix.col] = 1
        blocks = kept.reshape(ROWS // BLOCK, BLOCK, COLUMNS // BLOCK, BLOCK).sum((1, 3))
        self.assertEqual((shown["rows"], shown["columns"], shown["type"]), (ROWS, COLUMNS, "f32"))
        self.assertEqual(shown["entries"], kept.sum())
        self.assertEqual(shown["zeros"], (matrix.data == 0).sum())
        self.assertAlmostEqual(shown["density"], kept.mean())
        self.assertEqual(shown["blocks"]["kept"], (blocks > 0).sum())
        self.assertEqual(shown["blocks"]["least"], blocks[blocks > 0].min())
        self.assertEqual(shown["blocks"]["whole"], (blocks == BLOCK * BLOCK).sum())
        self.assertAlmostEqual(shown["blocks"]["fill"], blocks[blocks > 0].mean() / BLOCK**2)
        for spread, counts in ((shown["by_row"], kept.sum(1)), (shown["by_column"], kept.sum(0)),
                               (shown["blocks"]["by_row"], (blocks > 0).sum(1)),
                               (shown["blocks"]["by_column"], (blocks > 0).sum(0))):
            self.assertEqual(spread["lines"], counts.size)
            self.assertEqual((spread["line"], spread["most"]), (counts.argmax(), counts.max()))
            self.assertEqual(spread["empty"], (counts == 0).sum())
            self.assertAlmostEqual(spread["skew"], counts.max() / counts.mean())
        bytes_ = lambda m: sum(a.nbytes for a in (m.indices, m.indptr, m.data))
        coo = matrix.tocoo()
        self.assertEqual(shown["bytes"], {
            "coo": coo.row.nbytes + coo.col.nbytes + coo.data.nbytes, "csr": bytes_(matrix.tocsr()),
            "csc": bytes_(matrix.tocsc()), "bsr": bytes_(matrix.tobsr((BLOCK, BLOCK))),
            "dense": matrix.toarray().nbytes})

    def test_a_report_has_the_blocks(self):
        self.pattern("make", "uniform", "64x32", "density=0.25", "--block", 8, "-o", "a.mtx")
        text = self.pattern("show", "a.mtx", "--block", 8).stdout
        self.assertIn("64 x 32, mask", text)
        self.assertIn("8 of 8 x 4 are kept, 25 %", text)
        self.assertIn("100 % of their elements are entries, 64 the least; 8 are whole", text)


class MakeTest(PatternCase):
    def test_generators_keep_as_many_as_they_say(self):
        for words in (["uniform"], ["banded"], ["power_law", "exponent=1.2"],
                      ["n_of_m", "group=4"]):
            self.pattern("make", words[0], "64x96", "density=0.25", "--block", BLOCK, "-o", "a.npz",
                         *words[1:])
            made = scipy.sparse.load_npz(self.scratch / "a.npz")
            self.assertEqual((made.format, made.blocksize), ("bsr", (BLOCK, BLOCK)))
            self.assertEqual(made.nnz, 64 * 96 // 4, words)
            self.assertTrue(made.data.all())

    def test_blocks_are_stored_as_such_and_single_elements_by_rows(self):
        for block, form in ((1, "csr"), (2, "bsr")):
            self.pattern("make", "uniform", "8x8", "density=0.5", "--block", block, "-o", "a.npz")
            self.pattern("convert", "a.npz", "--block", block, "-o", "b.npz")
            for name in ("a.npz", "b.npz"):
                self.assertEqual(scipy.sparse.load_npz(self.scratch / name).format, form, name)
            for form in SPARSE:
                extra = () if form == "bsr" and block == 1 else ("--block", block)
                self.pattern("convert", "a.npz", "--as", form, *extra, "-o", "c.npz")
                self.assertEqual(scipy.sparse.load_npz(self.scratch / "c.npz").format, form)

    def test_a_pattern_is_that_of_a_workload(self):
        self.pattern("make", "power_law", "64x96", "density=0.125", "exponent=2", "seed=5",
                     "-o", "a.mtx")
        products = []
        for source in ("pattern.generator=power_law pattern.density=0.125 pattern.exponent=2 "
                       "pattern.seed=5", "pattern.file=a.mtx"):
            self.file("w.json", json.dumps({"schema_version": 1, "kind": "spmm", "n": 8,
                                            **({} if "file" in source else {"m": 64, "k": 96}),
                                            "pattern": dict(
                                                (key.split(".")[1], value if key.endswith(
                                                    ("file", "generator")) else float(value)
                                                 if "." in value else int(value))
                                                for key, value in (word.split("=") for word in
                                                                   source.split()))}))
            products.append(self.result("w.json", "--machine", "tiny", "--mode", "timing"))
        self.assertEqual(products[0]["cycles"], products[1]["cycles"])

    def test_what_was_written_is_told(self):
        self.assertEqual(self.pattern("make", "uniform", "64x32", "density=0.75", "--block", 8, "-o", "a.mtx").stdout,
                         "a.mtx: 64 x 32, 1,536 entries, mask\n")
        done = self.pattern("convert", "a.mtx", "--type", "f16", "--transpose", "-o", "b.npz")
        self.assertEqual((done.stdout, done.stderr), ("b.npz: 32 x 64, 1,536 entries, f16\n", ""))
        self.assertEqual(self.pattern("make", "uniform", "1x1", "density=1", "-o", "-.mtx").stdout,
                         "-.mtx: 1 x 1, 1 entries, mask\n")
        for zeros in (0, 1, 1200): # a dense file does not tell them from others
            values = numpy.ones(1200, "<f4")
            values[:zeros] = 0
            stored = scipy.sparse.coo_matrix((values, numpy.divmod(numpy.arange(1200), 40)), (30, 40))
            scipy.sparse.save_npz(self.scratch / "a.npz", stored)
            for target in ("b.npy", "b.safetensors", "b.mtx"):
                done = self.pattern("convert", "a.npz", "-o", target)
                self.assertEqual(done.stdout, f"{target}: 30 x 40, 1,200 entries, f32\n")
                self.assertEqual(done.stderr, "" if zeros == 0 or target == "b.mtx" else
                                 f"tessera: warning: {target}: {zeros:,} entries have the value 0, which this format does not "
                                 "tell from elements without an entry; --type mask keeps them\n")

    def test_sizes_are_from_one_to_a_most(self):
        most = 1 << 24
        for size, is_taken in ((f"{most}x1", True), (f"{most + 1}x1", False), (f"1x{most}", True), (f"1x{most + 1}", False),
                               ("1x1", True), ("0x1", False), ("1x0", False)):
            done = self.pattern("make", "banded", size, "density=0.0001", "--block", 1024, "-o", "a.smtx", code=None)
            self.assertEqual(done.stderr, "" if is_taken else f"tessera: pattern make: got '{size}', expected "
                             f"ROWSxCOLUMNS of 1..{most} each, as in 768x3072\n")

    def test_mistakes_are_told_together(self):
        done = self.pattern("make", "uniform", "8x8", "density=2", "sed=1", "-o", "a.mtx", code=3)
        self.assertIn("density: got 2, expected 1e-06..1", done.stderr)
        self.assertIn("sed: unknown key; did you mean 'seed'?", done.stderr)
        done = self.pattern("make", "n_of_m", "8x8", "density=0.3", "-o", "a.mtx", code=3)
        self.assertIn("expected a whole number of them: 0.25 or 0.5", done.stderr)
        for size in ("8", "8x", "0x8", "8x8x8", "x8"):
            done = self.pattern("make", "uniform", size, "density=0.5", "-o", "a.mtx", code=2)
            self.assertIn("expected ROWSxCOLUMNS", done.stderr)
        self.assertEqual(list(self.scratch.iterdir()), [])


class MistakesTest(PatternCase):
    def refused(self, name, message, *options, code=3):
        done = self.pattern("convert", name, "-o", "out.mtx", *options, code=code)
        self.assertIn(message, done.stderr)
        self.assertFalse((self.scratch / "out.mtx").exists())

    def npz(self, **arrays):
        stored = {"format": numpy.array(b"csr"), "shape": numpy.array([2, 3]),
                  "indptr": numpy.array([0, 1, 2]), "indices": numpy.array([2, 0]),
                  "data": numpy.array([1.0, 2.0])}
        stored.update(arrays)
        numpy.savez(self.scratch / "a.npz", **{k: v for k, v in stored.items() if v is not None})

    def test_an_npz_file_is_checked(self):
        array = numpy.array
        self.npz()
        self.pattern("convert", "a.npz", "-o", "out.mtx")
        (self.scratch / "out.mtx").unlink()
        for change, message in (
                ({"format": array(b"dia")}, "format: got 'dia', expected coo, csr, csc or bsr"),
                ({"format": array([1.0])}, "format.npy: got 8 bytes of type '<f8', expected one text"),
                ({"indptr": None}, "indptr.npy is missing"),
                ({"shape": array([2])}, "shape.npy: got 1 sizes, expected 2"),
                ({"shape": array([2, 0])}, "shape.npy, element 1: got 0, expected 1..2147483647"),
                ({"shape": array([2.0, 3.0])}, "expected one size and whole numbers"),
                ({"indptr": array([0, 2])}, "indptr.npy: got 2 numbers from 0 on, expected 3"),
                ({"indptr": array([1, 2, 2])}, "indptr.npy: got 3 numbers from 1 on"),
                ({"indptr": array([0, 2, 1])}, "indptr.npy, element 2: got 1 behind 2"),
                ({"indptr": array([0, 1, 3])}, "indptr.npy, element 2: got 3, expected 0..2"),
                ({"indices": array([3, 0])}, "indices.npy, element 0: got 3, expected 0..2"),
                ({"indices": array([-1, 0])}, "indices.npy, element 0: got -1, expected 0..2"),
                ({"data": array([1.0])}, "data.npy: got 1 values, expected 2 as indptr.npy says"),
                ({"data": array([[1.0, 2.0]])}, "data.npy: got 2 sizes, expected 1"),
                ({"data": array([1.0, numpy.inf])}, "element 1: the value is not finite"),
                ({"data": array([1j, 2j])}, "a.npz: data.npy: descr: got '<c16'"),
                ({"data": array([None, 1])}, "a.npz: data.npy: descr: got '|O'"),
                ({"indptr": array([0, 2, 2]), "indices": array([1, 1])},
                 "element [0, 1] has two entries"),
                ({"format": array(b"bsr")}, "data.npy: got sizes 2, expected blocks"),
                ({"format": array(b"bsr"), "data": numpy.ones((1, 1, 1))},
                 "data.npy: got 1 blocks, expected 2"),
                ({"format": array(b"coo")}, "row.npy is missing")):
            self.npz(**change)
            self.refused("a.npz", message)
        self.file("a.npz", "no zip")
        self.refused("a.npz", "a.npz: not a zip archive that can be read")
        self.npz()
        whole = (self.scratch / "a.npz").read_bytes()
        at = whole.rindex(b"\x93NUMPY") + 130 # in the values of data.npy
        (self.scratch / "a.npz").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
        self.refused("a.npz", "CRC error")

    def safetensors(self, head, data=b""):
        text = head if isinstance(head, bytes) else json.dumps(head).encode()
        (self.scratch / "a.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)

    def test_a_safetensors_file_is_checked(self):
        tensor = lambda **change: {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8], **change}
        for head, message in (
                (b"[]", "head: expected a JSON object"),
                (b"{", "head, byte 2: expected JSON"),
                ({"w": {}}, "tensor 'w': expected dtype, shape and data_offsets"),
                ({"w": tensor(shape=[1, -2])}, "shape: expected whole numbers of at most 2^62"),
                ({"w": tensor(shape=[2**61, 2**61])}, "shape: got more than 2^63 elements"),
                ({"w": tensor(data_offsets=[8, 0])}, "data_offsets: expected the first byte"),
                ({"w": tensor(data_offsets=[8, 16])}, "got bytes from 8 on, expected from 0 on"),
                ({"w": tensor(shape=[1, 3])}, "got 8 bytes, expected 3 elements of 4 bytes"),
                ({"w": tensor(shape=[2])}, "shape: got [2], expected two sizes"),
                ({"w": tensor(dtype="F8_E4M3")}, "dtype: got 'F8_E4M3', expected BOOL, F16"),
                ({"v": tensor(), "w": tensor()}, "got bytes from 0 on, expected from 8 on"),
                ({"v": tensor(), "w": tensor(data_offsets=[8, 16])},
                 "got 2 tensors, expected the name of one, such as 'v'"),
                (b'{"w": 1, "w": 2}', "tensor 'w' is given twice"),
                ({"w": tensor()}, "tensor 'w': got 0 bytes, expected 8; the file is truncated")):
            self.safetensors(head)
            self.refused("a.safetensors", message)
        self.safetensors({"weight": tensor()}, bytes(8))
        self.refused("a.safetensors:wieght",
                     "has no tensor 'wieght'; did you mean 'weight'?")
        self.file("a.safetensors", "short")
        self.refused("a.safetensors", "it ends inside the length of its head")
        (self.scratch / "a.safetensors").write_bytes(b"\xff" * 16)
        self.refused("a.safetensors", "expected at most 100000000")

    def test_marks_are_read_only_where_they_are_said(self):
        weights = numpy.array([[1.0, numpy.nan], [0.0, numpy.nan]], "<f4")
        (self.scratch / "a.safetensors").write_bytes(safetensors_bytes({"fc1": weights}))
        self.refused("a.safetensors", "a.safetensors: tensor 'fc1': element [0, 1] is NaN, the mark "
                     "of a pruned element, and no `sparsity` section says that there are marks")
        self.pattern("convert", "a.safetensors", "-o", "b.npz", "--marks")
        kept = scipy.sparse.load_npz(self.scratch / "b.npz")
        self.assertEqual(entries(kept), {(0, 0): 1.0, (1, 0): 0.0})

    def test_names_and_options(self):
        self.file("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1\n")
        self.refused("a.txt", "a.txt: the ending says no format, expected .mtx, .smtx, .npy, .npz")
        self.refused("a.mtx", "--as is of .npz files", "--as", "csr", code=2)
        self.refused("a.mtx", "--marks is of .safetensors files", "--marks", code=2)
        self.refused("a.mtx", "--block: got 0, expected 1..1024", "--block", 0, code=2)
        self.refused("missing.npz", "missing.npz", code=6)
        done = self.pattern("convert", "a.mtx", code=2)
        self.assertIn("pattern convert: expected --out FILE", done.stderr)
        done = self.pattern("convert", "a.mtx", "-o", "b.npz", "--block", 2, code=3)
        self.assertIn("bsr: got 3 x 3, expected sizes that blocks of 2 x 2 divide", done.stderr)
        self.assertEqual([path.name for path in self.scratch.iterdir()], ["a.mtx"])


def kept_blocks(matrix, block):
    """A matrix of bools over the grid: blocks that have an entry."""
    coo = matrix.tocoo()
    kept = numpy.zeros([-(-size // block) for size in matrix.shape], bool)
    kept[coo.row // block, coo.col // block] = True
    return kept


def block_norms(dense, block):
    """Sums of magnitudes."""
    rows, columns = [-(-size // block) for size in dense.shape]
    padded = numpy.zeros((rows * block, columns * block))
    padded[:dense.shape[0], :dense.shape[1]] = numpy.abs(dense.astype(float))
    return padded.reshape(rows, block, columns, block).sum(axis=(1, 3))


def share(schedule, change):
    cosine = (1 + numpy.cos(numpy.pi * change / schedule["patterns"])) / 2
    return schedule["fraction"] * (cosine if schedule["decay"] == "cosine" else 1)


class EvolveTest(PatternCase):
    NAME = "fc1.weight"

    def weights(self, rows=24, columns=40, block=4, density=0.3, seed=1, dtype="<f4"):
        """Small whole numbers, so that sums are exact and many are equal; of other blocks NaN."""
        random = numpy.random.default_rng(seed)
        kept = random.random((-(-rows // block), -(-columns // block))) < density
        values = random.integers(-3, 4, (rows, columns)).astype(dtype)
        values[~kept.repeat(block, 0).repeat(block, 1)[:rows, :columns]] = numpy.nan
        return values

    def checkpoint(self, name="a.safetensors", **tensors):
        tensors = {n.replace("__", "."): t for n, t in tensors.items()}
        (self.scratch / name).write_bytes(safetensors_bytes(tensors))

    def schedule(self, **keys):
        schedule = {"prune": "magnitude", "regrow": "random", "fraction": 0.5, "decay": "cosine",
                    "patterns": 6, "seed": 3, **keys}
        self.file("s.json", json.dumps(schedule))
        return schedule

    def evolve(self, *options, block=4, out="out", code=0):
        done = self.pattern("evolve", "a.safetensors", "--schedule", "s.json", "-o", out, "--marks",
                            "--block", block, *options, code=code)
        self.assertFalse((self.scratch / f"{out}.part").exists())
        return done

    def patterns(self, tensor=NAME, out="out"):
        return [scipy.sparse.load_npz(path)
                for path in sorted((self.scratch / out / tensor).iterdir())]

    def check_sequence(self, matrices, weights, schedule, block):
        """What holds where blocks come at random and enough are left; returns for each pattern
        what was kept before, what went, and the norms."""
        self.assertEqual(len(matrices), schedule["patterns"])
        values = numpy.nan_to_num(weights)
        kept = block_norms(~numpy.isnan(weights), block) > 0
        changes = []
        for number, matrix in enumerate(matrices):
            self.assertEqual(matrix.shape, weights.shape)
            now = kept_blocks(matrix, block)
            inside = now.repeat(block, 0).repeat(block, 1)[:weights.shape[0], :weights.shape[1]]
            self.assertEqual(matrix.nnz, inside.sum()) # blocks are whole
            went, came = kept & ~now, now & ~kept
            moves = int(share(schedule, number - 1) * kept.sum() + 0.5) if number else 0
            self.assertEqual((went.sum(), came.sum()), (moves, moves))
            changes.append((kept, went, block_norms(values, block)))
            values = values * inside # what came is zero
            self.assertTrue((matrix.toarray() == values).all())
            kept = now
        return changes

    def least(self, norms, allowed, count):
        """Of equal ones the last."""
        numbers = numpy.flatnonzero(allowed)[::-1]
        order = numbers[numpy.argsort(norms.ravel()[numbers], kind="stable")][:count]
        chosen = numpy.zeros(allowed.size, bool)
        chosen[order] = True
        return chosen.reshape(allowed.shape)

    def test_blocks_of_the_least_norms_go_as_numpy_says(self):
        for block, rows, columns in ((4, 24, 40), (4, 23, 37), (1, 9, 30), (16, 64, 96)):
            for decay in ("cosine", "none"):
                weights = self.weights(rows, columns, block)
                self.checkpoint(fc1__weight=weights)
                schedule = self.schedule(decay=decay)
                out = f"out_{block}_{rows}_{decay}"
                self.evolve(block=block, out=out)
                changes = self.check_sequence(self.patterns(out=out), weights, schedule, block)
                for kept, went, norms in changes:
                    self.assertTrue((went == self.least(norms, kept, went.sum())).all())

    def test_blocks_of_the_largest_gradients_come_as_numpy_says(self):
        for block, rows, columns in ((4, 24, 40), (1, 9, 30), (8, 30, 50)):
            weights = self.weights(rows, columns, block)
            gradients = self.weights(rows, columns, block, density=1, seed=2)
            other = numpy.zeros((3, 3), "<f4")
            self.checkpoint(other=other, fc1__weight=weights)
            self.checkpoint("g.safetensors", fc1__weight=gradients.astype("<f2"), unused=other)
            schedule = self.schedule(regrow="gradient", param_name_patterns="^fc")
            out = f"out_{block}"
            self.evolve("--gradients", "g.safetensors", block=block, out=out)
            values = numpy.nan_to_num(weights)
            kept = block_norms(~numpy.isnan(weights), block) > 0
            wanted_by = block_norms(gradients, block)
            for number, matrix in enumerate(self.patterns(out=out)):
                if number:
                    moves = int(share(schedule, number - 1) * kept.sum() + 0.5)
                    stay = kept & ~self.least(block_norms(values, block), kept, moves)
                    flipped = self.least(-wanted_by[::-1, ::-1], ~stay[::-1, ::-1], moves)
                    kept = stay | flipped[::-1, ::-1] # of equal ones the first
                    values = values * stay.repeat(block, 0).repeat(block, 1)[:rows, :columns]
                self.assertTrue((kept_blocks(matrix, block) == kept).all(), (block, number))
                self.assertTrue((matrix.toarray() == values).all())

    def test_what_is_drawn_is_by_seed_and_name_alone(self):
        weights = self.weights()
        self.schedule(prune="random")
        self.checkpoint(fc1__weight=weights, fc2__weight=weights)
        self.evolve()
        self.checkpoint(fc2__weight=weights, another__weight=weights, fc1__weight=weights)
        self.evolve(out="again")
        self.schedule(prune="random", seed=4)
        self.evolve(out="other")
        all_of = lambda *where: [entries(matrix) for matrix in self.patterns(*where)]
        for tensor in ("fc1.weight", "fc2.weight"):
            self.assertEqual(all_of(tensor), all_of(tensor, "again"))
            self.assertNotEqual(all_of(tensor), all_of(tensor, "other"))
        self.assertNotEqual(all_of("fc1.weight"), all_of("fc2.weight"))
        self.assertEqual(all_of("fc1.weight")[0], all_of("fc2.weight")[0])

    def test_what_was_done_is_told(self):
        kept, rows, columns, block = 1100, 80, 84, 2
        grid = numpy.arange(rows // block * columns // block).reshape(rows // block, -1) < kept
        weights = numpy.where(grid.repeat(block, 0).repeat(block, 1), numpy.float32(1), numpy.float32(numpy.nan))
        self.checkpoint(bias=weights[0], fc1__weight=weights, last=weights)
        head = "tensor size blocks kept patterns first change moves last".split()
        for patterns, names in ((1, ["last"]), (2, ["fc1.weight"]), (4, ["fc1.weight", "last"])):
            schedule = self.schedule(patterns=patterns, param_name_patterns=names)
            told = [f"{int(share(schedule, change) * kept + 0.5):,}" for change in range(patterns - 1)]
            done = self.evolve(block=block, out=f"out{patterns}")
            self.assertEqual([line.split() for line in done.stdout.splitlines()], [
                head, *([name, f"{rows}", "x", f"{columns}", f"{grid.size:,}", f"{kept:,}", f"{patterns}", *told[:1], *told[-1:]]
                        for name in names)])
        self.assertEqual(self.evolve("-q", block=block, out="quiet").stdout, "")

    def test_types_and_shapes_of_files(self):
        weights = self.weights()
        bits = (weights.view("<u4") >> 16).astype("<u2")
        self.checkpoint(half=weights.astype("<f2"), brain=("BF16", bits), single=weights,
                        norm=weights, bias=weights[0], ids=numpy.arange(4).reshape(2, 2))
        self.schedule(patterns=2)
        self.evolve()
        self.assertEqual(sorted(path.name for path in (self.scratch / "out").iterdir()),
                         ["brain", "half", "single"])
        for tensor, dtype in (("half", "<f2"), ("brain", "<f4"), ("single", "<f4")):
            for matrix in self.patterns(tensor):
                self.assertEqual((matrix.format, matrix.dtype), ("bsr", numpy.dtype(dtype)))
        self.assertEqual(entries(self.patterns("brain")[0]), entries(self.patterns("single")[0]))
        shown = self.pattern("show", "out/half/000001.npz", "--block", 4).stdout
        self.assertIn("100 % of their elements are entries", shown)
        self.schedule(patterns=1)
        self.evolve(out="one")
        self.assertEqual(len(self.patterns("half", "one")), 1)

    def test_without_marks_zeros_are_pruned(self):
        weights = numpy.nan_to_num(self.weights(block=1))
        self.checkpoint(fc1__weight=weights)
        self.schedule(patterns=1)
        self.pattern("evolve", "a.safetensors", "--schedule", "s.json", "-o", "out")
        self.assertEqual(self.patterns()[0].nnz, numpy.count_nonzero(weights))
        self.assertEqual(self.patterns()[0].format, "csr")
        for block, form in ((4, "bsr"), (5, "csr"), (16, "csr"), (8, "bsr")): # of 24 x 40
            self.pattern("evolve", "a.safetensors", "--schedule", "s.json", "-o", f"out{block}", "--block", block)
            self.assertEqual(self.patterns(out=f"out{block}")[0].format, form)

    def test_full_and_empty(self):
        for density in (0, 1):
            weights = self.weights(density=density)
            self.checkpoint(fc1__weight=weights)
            self.schedule(fraction=1)
            self.evolve(out=f"out_{density}")
            for number, matrix in enumerate(self.patterns(out=f"out_{density}")):
                self.assertEqual(matrix.nnz, density * weights.size)
                if number: # all went, and came back
                    self.assertFalse(matrix.toarray().any())

    def refused(self, message, *options, code=3, **kind):
        done = self.evolve(*options, code=code, **kind)
        self.assertIn(message, done.stderr)
        self.assertFalse((self.scratch / "out").exists())

    def test_mistakes(self):
        weights = self.weights()
        self.checkpoint(fc1__weight=weights, bias=weights[0], ids=numpy.arange(4).reshape(2, 2))
        for keys, message in (
                ({"fraction": 1.5}, "s.json:1:56: /fraction: got 1.5, expected 0..1"),
                ({"prune": "magnitud"}, "s.json:1:11: /prune: got string \"magnitud\", "
                 "expected one of magnitude, random; did you mean 'magnitude'?"),
                ({"regrowth": "random"}, "/regrowth: unknown key; did you mean 'regrow'?"),
                ({"patterns": 0}, "/patterns: got 0 patterns, expected 1..1000000 patterns"),
                ({"param_name_patterns": "fc("}, "got 'fc(', expected an expression of RE2"),
                ({"param_name_patterns": {"fc": 0.5}}, "/param_name_patterns: got an object"),
                ({"param_name_patterns": ["fc1", "fc1.wieght"]}, "/param_name_patterns/1: "
                 "'fc1.wieght' matches no tensor of a.safetensors; did you mean 'fc1.weight'?"),
                ({"param_name_patterns": "bias"}, "a.safetensors: tensor 'bias': shape: got [40], "
                 "expected two sizes, since 'bias' names it"),
                ({"param_name_patterns": "ids"}, "tensor 'ids': dtype: got 'I64', expected F16, "
                 "BF16 or F32, since 'ids' names it")):
            self.schedule(**keys)
            self.refused(message)
        self.schedule()
        self.refused("got --gradients, and the schedule does not regrow by gradient", "--gradients",
                     "g.safetensors", code=2)
        self.schedule(regrow="gradient")
        self.refused("expected --gradients FILE, since the schedule regrows by gradient", code=2)
        with_gradients = ("--gradients", "g.safetensors")
        self.refused("g.safetensors", *with_gradients, code=6)
        self.checkpoint("g.safetensors", fc1__weigth=weights)
        self.refused("g.safetensors: has no gradient of tensor 'fc1.weight'; did you mean "
                     "'fc1.weigth'?", *with_gradients)
        self.checkpoint("g.safetensors", fc1__weight=weights[1:])
        self.refused("got [23, 40] of F32, expected a gradient of the shape of [24, 40] of F32",
                     *with_gradients)
        for dtype, name in (("<i8", "I64"), ("<f8", "F64"), ("u1", "U8")):
            self.checkpoint("g.safetensors", fc1__weight=numpy.nan_to_num(weights).astype(dtype))
            self.refused(f"got [24, 40] of {name}, expected a gradient of the shape of [24, 40] of "
                         "F32, of F16, BF16 or F32", *with_gradients)
        self.checkpoint("g.safetensors", fc1__weight=weights)
        self.refused("is not finite, expected a finite number", *with_gradients)
        self.schedule()
        self.checkpoint(**{"a/b": weights})
        self.refused("tensor 'a/b': its name is no name of a folder, expected one without '/'")
        for name in (".", "..", "/", "w" * 256):
            self.checkpoint(**{name: weights})
            self.refused("its name is no name of a folder")
        for number, name in enumerate(("...", "w", "w" * 255)):
            self.checkpoint(**{name: weights})
            self.evolve(out=f"named{number}")
            self.assertTrue(self.patterns(name, f"named{number}"))
        self.checkpoint(norm=weights)
        self.refused("a.safetensors: no tensor is named")
        self.checkpoint(fc1__weight=weights)
        done = self.pattern("evolve", "a.safetensors", "--schedule", "s.json", "-o", "out", code=3)
        self.assertIn("is NaN, the mark of a pruned element", done.stderr)
        whole = (self.scratch / "a.safetensors").read_bytes()
        (self.scratch / "a.safetensors").write_bytes(whole + b"x")
        self.refused("got more bytes than those of the tensors")

    def test_a_folder_is_new_or_empty(self):
        self.checkpoint(fc1__weight=self.weights())
        self.schedule()
        (self.scratch / "out").mkdir()
        self.evolve()
        done = self.evolve(code=6)
        self.assertIn("out: is there already, expected a new folder or an empty one", done.stderr)
        self.evolve(out="deeper/down/")
        (self.scratch / "new.part").mkdir()
        done = self.pattern("evolve", "a.safetensors", "--schedule", "s.json", "-o", "new",
                            "--marks", code=6)
        self.assertIn("new.part: is there already: another run writes into it, or one was killed",
                      done.stderr)
        self.assertFalse((self.scratch / "new").exists())


class EncodeTest(PatternCase):
    """The buckets are read again here, by the page's description of their words."""
    ELEMENT_HEADER, BLOCK_HEADER, ENTRY = 9, 7, 5
    WORKERS = 6

    def workload(self, name="w.json", **keys):
        self.file(name, json.dumps({
            "schema_version": 1, "kind": "spmm", "mode": "dynamic", "m": ROWS, "k": COLUMNS, "n": 16,
            "block": BLOCK, "capacity": 0.4, "pattern": {"generator": "uniform", "density": 0.1},
            **keys}))

    def encode(self, *options, file="a.npz", workload="w.json", machine="tiny", code=0):
        return self.pattern("encode", file, workload, "--machine", machine, *options, code=code)

    def encoded(self, *options, **keys):
        self.encode("--json", "e.json", "-o", "e.npz", *options, **keys)
        return json.loads((self.scratch / "e.json").read_text()), numpy.load(self.scratch / "e.npz")

    def groups(self, told, words):
        """(x, y, rows) of each sub-group of a bucket, rows with their columns in the matrix."""
        block, at = told["plan"]["block"], 0
        part = told["plan"]["part"]
        while words[at]:
            number, x, y, blocks, size, rows = words[at:at + 6].tolist()
            self.assertEqual(number, 1 + x * told["plan"]["split"]["y"] + y)
            row_at = at + self.BLOCK_HEADER if block > 1 else (
                at + self.ELEMENT_HEADER + self.ENTRY * self.WORKERS)
            found = []
            for _ in range(rows + 1):
                row, count = words[row_at:row_at + 2].tolist()
                places = words[row_at + 2:row_at + 3 + count].astype(int)
                if block == 1:
                    places //= part["n"] * self.element_bytes
                found.append((x * part["rows"] + row, (y * part["columns"] + places).tolist()))
                row_at += 3 + count
            self.assertEqual(row_at - at, size)
            self.assertEqual(sum(len(columns) for _, columns in found), blocks)
            yield x, y, found
            at += size

    def decoded(self, told, arrays, shape):
        """The matrix in whole blocks, and blocks that are not in a bucket of their own part."""
        block, split = told["plan"]["block"], told["plan"]["split"]
        room = told["plan"]["bucket"]
        self.assertEqual(arrays["metadata"].shape, (numpy.prod(list(split.values())), room["words"]))
        self.assertEqual(arrays["values"].shape,
                         (len(arrays["metadata"]), room["blocks"], block, block))
        dense = numpy.zeros([-(-size // 16) * 16 for size in shape], arrays["values"].dtype)
        away, held = 0, []
        for number, (words, values) in enumerate(zip(arrays["metadata"], arrays["values"])):
            place = (number % split["x"], number // split["x"] // split["z"])
            held.append(0)
            for x, y, rows in self.groups(told, words):
                for row, columns in rows:
                    for column in columns:
                        dense[row * block:(row + 1) * block,
                              column * block:(column + 1) * block] = values[held[-1]]
                        held[-1] += 1
                        away += (x, y) != place
        return dense[:shape[0], :shape[1]], away, held

    def test_buckets_hold_the_matrix(self):
        for block, dtype, rows, columns in ((BLOCK, "f32", ROWS, COLUMNS), (1, "f16", 31, 50),
                                            (8, "f16", 50, 31), (16, "f32", 64, 96)):
            matrix = random_matrix(numpy.float32, rows, columns)
            matrix.data = numpy.round(matrix.data * 8)
            write(self.scratch / "a.npz", matrix, "csr")
            self.element_bytes = {"f16": 2, "f32": 4}[dtype]
            self.workload(block=block, dtype=dtype, partials=dtype, m=rows, k=columns, capacity=0.9)
            told, arrays = self.encoded()
            kept = kept_blocks(matrix, block).sum()
            cut = block // told["plan"]["block"]
            self.assertEqual(cut, 2 if (block, dtype) == (16, "f32") else 1)
            dense, away, held = self.decoded(told, arrays, matrix.shape)
            self.assertEqual(arrays["values"].dtype, numpy.dtype("<f2" if dtype == "f16" else "<f4"))
            self.assertTrue((dense == matrix.toarray()).all(), (block, dtype))
            self.assertEqual(told["pattern"]["blocks"], kept)
            self.assertEqual(told["spills"]["away"], away)
            self.assertEqual(told["fill"]["empty"], held.count(0))
            self.assertEqual(told["fill"]["blocks"], {
                "least": min(held), "most": max(held), "mean": kept * cut**2 / len(held)})
            self.assertEqual(told["plan"]["bucket"]["bytes"],
                             arrays["values"][0].nbytes + arrays["metadata"][0].nbytes)

    def skewed(self):
        """Twice what the buckets of the first rows hold, and a plan with several parts."""
        kept = numpy.zeros((16, 16), numpy.float32)
        kept[:2] = kept[2:4, ::2] = 1
        scipy.sparse.save_npz(self.scratch / "a.npz", scipy.sparse.coo_matrix(
            numpy.kron(kept, numpy.ones((BLOCK, BLOCK), numpy.float32))))
        self.workload(m=64, k=64, n=4, capacity=0.25, dtype="f32", partials="f32")

    def test_the_run_takes_the_steps_that_are_told(self):
        self.skewed()
        told, arrays = self.encoded()
        travel = told["travel"]
        self.assertGreater(travel["steps"], 0)
        self.element_bytes = 4
        self.assertEqual(self.decoded(told, arrays, (64, 64))[1], told["spills"]["away"])
        self.workload(m=64, k=64, n=4, capacity=0.25, dtype="f32", partials="f32",
                      pattern={"file": "a.npz"})
        run = self.result("w.json", "--machine", "tiny")
        times = lambda list_, start: sum(step["executions"] for step in run[list_]
                                         if step["name"].startswith(start))
        self.assertEqual(times("compute_sets", "multiply moved"), travel["looks"])
        for axis in "xy":
            self.assertEqual(times("exchanges", f"move buckets along {axis}"),
                             travel[f"moves_{axis}"])
        self.assertEqual(len(travel["codes"]), travel["looks"] + travel["moves_x"] +
                         travel["moves_y"])
        self.assertEqual(arrays["control"][0], 1) # there is something to do

    def test_an_overflow_names_its_bucket_and_the_excess_that_would_do(self):
        self.skewed()
        (self.scratch / "e.npz").write_bytes(b"as it was")
        done = self.encode("-o", "e.npz", "--set", "workload.excess=0", "--set",
                           "workload.capacity=0.05", code=4)
        found = re.search(r"does not fit into buckets of \d+ blocks and \d+ words: bucket (\d+) "
                          r"\(x \d+, y \d+, z \d+\), sub-group \d+: got \d+ blocks, of which \d+ "
                          r"have a place; an excess of ([\d.]+) is enough", done.stderr)
        self.assertTrue(found, done.stderr)
        self.assertEqual((self.scratch / "e.npz").read_bytes(), b"as it was")
        sets = ["--set", "workload.capacity=0.05", "--set"]
        self.encode(*sets, f"workload.excess={found[2]}")
        self.encode(*sets, f"workload.excess={float(found[2]) - 0.01}", code=4)

    def test_a_bucket_is_shown_in_words_and_as_numbers(self):
        self.skewed()
        told, arrays = self.encoded("--bucket", 0)
        shown = told["bucket"]
        words = arrays["metadata"][0]
        self.assertTrue(any(len(row["columns"]) > 1 for group in shown["groups"] for row in group["rows"]), shown)
        self.assertEqual(shown["words"], words[:len(shown["words"])].tolist())
        self.assertEqual([(group["x"], group["y"], [(row["row"], row["columns"])
                                                    for row in group["rows"]])
                          for group in shown["groups"]], list(self.groups(told, words)))
        text = self.encode("--bucket", 0).stdout
        self.assertIn(f"bucket 0 (x {shown['x']}, y {shown['y']}, z {shown['z']}): "
                      f"{shown['blocks']} of ", text)
        self.assertRegex(text, r"\n  word  numbers +say\n     0  ")
        self.assertIn("the end", text)
        self.assertEqual(self.encode("-q").stdout, "")
        self.assertEqual(json.loads(self.encode("--json", "-", "--bucket", 0).stdout), told)

    @staticmethod
    def lines(told, tiles):
        """The lines of the text that says what the JSON says."""
        def count(number, what):
            return f"{number:,} {what}{'' if number == 1 else 's'}"

        def percent(share):
            return f"{100 * share:.4g} %"

        def spread(fill, room):
            return (f"{fill['least']:,} the least, {fill['mean']:.4g} the mean, {fill['most']:,} the most; "
                    f"{percent(fill['mean'] / room)} of the room")

        pattern, plan, travel, spills = told["pattern"], told["plan"], told["travel"], told["spills"]
        split, part, room, end = plan["split"], plan["part"], plan["bucket"], travel["end"]
        unit = "element" if plan["block"] == 1 else "block"
        blocks = lambda number, block: count(number, unit) + ("" if block == 1 else f" of {block} x {block}")
        dense = count(told["capacity"]["n"], "column")
        buckets = math.prod(split.values())
        grid = math.prod(-(-pattern[side] // pattern["block"]) for side in ("rows", "columns"))
        empty, codes = told["fill"]["empty"], travel["codes"]
        said = ["a.npz in buckets of w on tiny",
                f"pattern {pattern['rows']} x {pattern['columns']}: {pattern['blocks']:,} of "
                f"{blocks(grid, pattern['block'])} are kept, {percent(pattern['density'])}",
                f"capacity {percent(told['capacity']['density'])} of the {unit}s, and "
                f"{percent(told['capacity']['excess'])} more of it in each bucket",
                f"plan x: rows in {count(split['x'], 'part')}, y: columns in {split['y']}, z: {dense} of the dense "
                f"operand in {split['z']}",
                f"part {part['rows']} x {part['columns']} {unit}s, {count(part['n'], 'column')} of the dense operand",
                f"buckets {buckets:,}, on {buckets:,} of {tiles:,} tiles; room for "
                f"{blocks(room['blocks'], plan['block'])} and {room['words']:,} words, {room['bytes']:,} bytes",
                f"{unit}s in a bucket {spread(told['fill']['blocks'], room['blocks'])}" +
                (f"; {empty:,} have none" if empty else ""),
                f"words in a bucket {spread(told['fill']['words'], room['words'])}",
                "over-full " + (count(spills["overfull"], "bucket") + ", of whose own blocks others have some"
                                if spills["overfull"] else "none"),
                "away from home " + (f"{count(spills['away'], unit)}, in {count(spills['hosts'], 'bucket')} of other parts"
                                     if spills["away"] else "none")]
        if not travel["steps"]:
            return [*said, "travel none: each tile finds its blocks in the buckets of its part"]
        more = f" and {len(codes) - 12} more" if len(codes) > 12 else ""
        return [*said, f"travel x ends at {end['x']}, y at {end['y']}, z at {end['z']}; x in use: "
                f"{' '.join(map(str, travel['x_in_use']))}; {count(travel['steps'], 'step')}",
                f"codes {count(travel['looks'], 'look')}, {count(travel['moves_x'], 'move')} along x, "
                f"{travel['moves_y']} along y: {', '.join(codes[:12])}{more}"]

    def test_the_text_says_what_the_numbers_are(self):
        self.skewed()
        lengths, splits = set(), set()
        for tiles, *keys in ((4,), (4, "capacity=0.95"), (4, "block=1"), (16, "n=1", "capacity=0.1"),
                             (16, "n=1", "capacity=0.06"), (16, "n=64", "capacity=0.06", "excess=3"),
                             (64, "n=8", "capacity=0.3", "excess=3")):
            with self.subTest(tiles=tiles, keys=keys):
                sets = [f"chip.tiles={tiles}", *(f"workload.{key}" for key in keys)]
                options = [word for one in sets for word in ("--set", one)]
                told, _ = self.encoded(*options)
                self.assertEqual(self.encode(*options).stdout.split(), " ".join(self.lines(told, tiles)).split())
                lengths.add(len(told["travel"]["codes"]))
                splits.add(tuple(told["plan"]["split"][axis] > 1 for axis in "yz"))
        self.assertLessEqual({0, 2, 12, 13}, lengths) # twelve are named
        self.assertEqual(len(splits), 3)

    def test_the_schema_is_that_of_what_is_told(self):
        text = self.tessera("schema", "buckets").stdout
        self.assertEqual(text, (SOURCE / "configs/schemas/buckets.schema.json").read_text())
        schema = json.loads(text)
        self.skewed()
        for options in ([], ["--bucket", 0]):
            self.check_form(schema, self.encoded(*options)[0])

    def test_a_transposed_operand_is_in_the_file_as_in_the_workload(self):
        matrix = random_matrix(numpy.float32)
        write(self.scratch / "a.npz", matrix, "csr")
        write(self.scratch / "t.npz", matrix.T.tocoo(), "csr")
        self.workload(dtype="f32", partials="f32", capacity=0.9)
        straight = self.encoded()[1]
        self.workload(dtype="f32", partials="f32", capacity=0.9, transpose_a=True)
        turned = self.encoded(file="t.npz")[1]
        self.assertTrue((straight["metadata"] == turned["metadata"]).all())
        self.assertTrue((straight["values"] == turned["values"]).all())

    def test_a_tensor_of_a_pipeline(self):
        rows, columns, n = 300, 260, 48 # for which the plans of these two passes differ
        write(self.scratch / "a.npz", random_matrix(numpy.float32, rows, columns), "csr")
        sparse = {"shape": [rows, columns], "mode": "dynamic", "block": BLOCK, "capacity": 0.9,
                  "pattern": {"generator": "uniform", "density": 0.1}}
        step = lambda output, inputs, **keys: {"family": "spmm", "inputs": inputs, "output": output,
                                               **keys}
        self.file("p.json", json.dumps({
            "schema_version": 1, "kind": "pipeline",
            "tensors": {"weights1": sparse, "weights2": {**sparse, "excess": 1},
                        "x": {"shape": [columns, n]}, "dy": {"shape": [rows, n]}},
            "steps": [step("y1", ["weights1", "x"], partials="f32", plan="published"),
                      step("dx", ["weights1", "dy"], partials="f16", transpose_a=True),
                      step("y2", ["weights2", "x"])]}))
        options = {"workload": "p.json", "machine": "bow"}
        tiles = ["--set", "chip.tiles=128"]
        done = self.encode(*tiles, **options, code=2)
        self.assertIn("pattern encode: expected --tensor with one of weights1, weights2",
                      done.stderr)
        done = self.encode(*tiles, "--tensor", "wieghts1", **options, code=2)
        self.assertIn("--tensor: got 'wieghts1', expected weights1 or weights2; "
                      "did you mean 'weights1'?", done.stderr)
        done = self.encode(*tiles, "--tensor", "weights1", **options, code=2)
        self.assertIn("pattern encode: expected --step with one of y1, dx", done.stderr)
        plans = []
        for name in ("y1", "dx"):
            told = self.encoded(*tiles, "--tensor", "weights1", "--step", name, **options)[0]
            self.assertEqual((told["tensor"], told["step"]), ("weights1", name))
            plans.append(told["plan"])
        self.assertNotEqual(*plans)
        told = self.encoded(*tiles, "--tensor", "weights2", **options)[0]
        self.assertEqual((told["tensor"], told["step"], told["capacity"]["excess"]),
                         ("weights2", "y2", 1))
        self.assertIn("(tensor weights2, step y2) on bow",
                      self.encode(*tiles, "--tensor", "weights2", **options).stdout)

    def test_mistakes(self):
        write(self.scratch / "a.npz", random_matrix(numpy.float32), "csr")
        self.workload()
        done = self.encode("--bucket", 99, code=2)
        self.assertRegex(done.stderr, r"--bucket: got 99, expected 0\.\.\d+")
        done = self.encode("--step", "x", code=2)
        self.assertIn("--step: got 'x', expected none of a workload that is one product", done.stderr)
        done = self.encode("-o", "e.txt", code=2)
        self.assertIn("--out: got 'e.txt', expected a name that ends in .npz", done.stderr)
        done = self.encode("--marks", code=2)
        self.assertIn("--marks is of .safetensors files", done.stderr)
        done = self.encode("--set", "workload.m=64", code=3)
        self.assertIn(f"a.npz: got a matrix of {ROWS} x {COLUMNS}, expected 64 x {COLUMNS} as "
                      "tensor a of w has", done.stderr)
        done = self.encode("--set", f"workload.m={COLUMNS}", "--set", f"workload.k={ROWS}", code=3)
        self.assertIn("`tessera pattern convert --transpose` turns it", done.stderr)
        done = self.encode("--set", "workload.mode=static", "--set", "workload.capacity=0", code=3)
        self.assertIn("w: has no sparse operand whose pattern comes when it runs", done.stderr)
        done = self.encode(workload="tiny_matmul", code=3)
        self.assertIn("tiny_matmul: has no sparse operand", done.stderr)
        done = self.encode(machine="tny", code=None)
        self.assertIn("did you mean 'tiny'?", done.stderr)
        huge = random_matrix(numpy.float32)
        huge.data[:] = 1e6
        write(self.scratch / "a.npz", huge, "csr")
        self.workload(capacity=0.9)
        self.encode()
        done = self.encode("-o", "e.npz", code=3)
        self.assertIn("a.npz: the value 1000000 is not finite in f16", done.stderr)
        self.assertFalse((self.scratch / "e.npz").exists())


class WorkloadsTest(PatternCase):
    PRODUCT = {"schema_version": 1, "kind": "spmm", "n": 8, "values": "uniform"}

    def product(self, file, **pattern):
        workload = self.file("product.json", json.dumps(
            self.PRODUCT | {"pattern": {"file": file, **pattern}}))
        result = self.result(workload, "--machine", "tiny", "--out", "out")
        self.assertTrue(result["check"]["passed"])
        return result["cycles"], numpy.load(self.scratch / "out" / "output.npy").tolist()

    def test_a_product_is_the_same_with_files_of_all_formats(self):
        matrix = random_matrix(numpy.float32, zeros=False)
        block = matrix.tobsr((BLOCK, BLOCK)).tocoo() # zeros are entries
        for values, same, forms in (("file", matrix, SPARSE[:3] + ["mtx", "npy", "safetensors"]),
                                    ("ones", matrix, FORMS[:3] + FORMS[4:]),
                                    ("file", block, SPARSE)):
            results = []
            for form in forms:
                write(self.path("a", form), same, form)
                results.append(self.product(self.path("a", form).name, values=values))
            self.assertTrue(all(result == results[0] for result in results), (values, forms))

    def test_a_file_stands_for_a_product(self):
        matrix = random_matrix(numpy.float32)
        write(self.scratch / "a.npz", matrix, "csr")
        done = self.tessera("run", "a.npz", "--machine", "tiny", "--set", "workload.n=4")
        self.assertIn(f"{ROWS} x {COLUMNS}", done.stdout)
        self.assertRegex(self.tessera("check", "a.npz").stdout,
                         rf"{ROWS} x {COLUMNS}, {matrix.nnz} entries")

    def test_a_tensor_is_named_where_there_are_several(self):
        one, other = (random_matrix(numpy.float32, seed=seed, zeros=False).toarray()
                      for seed in (1, 2))
        (self.scratch / "a.safetensors").write_bytes(
            safetensors_bytes({"one": one, "other": other, "bias": one[0]}))
        products = []
        for name, dense in (("one", one), ("other", other)):
            numpy.save(self.scratch / "a.npy", dense)
            products.append(self.product("a.safetensors", tensor=name))
            self.assertEqual(products[-1], self.product("a.npy"))
        self.assertNotEqual(products[0], products[1])
        run = ("run", "a.safetensors", "--machine", "tiny", "--set", "workload.n=4")
        self.assertIn("got 3 tensors, expected the name of one, such as 'one'",
                      self.tessera(*run, code=3).stderr)
        self.tessera(*run, "--set", "workload.pattern.tensor=other")
        for name, message in (("othr", "has no tensor 'othr'; did you mean 'other'?"),
                              ("bias", f"tensor 'bias': shape: got [{COLUMNS}], expected two")):
            self.assertIn(message, self.tessera(*run, "--set", f"workload.pattern.tensor={name}",
                                                code=3).stderr)
        one[0, 0] = numpy.nan
        (self.scratch / "a.safetensors").write_bytes(safetensors_bytes({"one": one}))
        self.assertIn("tensor 'one': element [0, 0] is NaN, the mark of a pruned element",
                      self.tessera(*run, code=3).stderr)

    def test_entries_of_one_place_are_a_mistake_or_their_sum(self):
        twice = scipy.sparse.coo_matrix(([1, 2, 3], ([0, 0, 2], [1, 1, 0])), (3, 4), dtype="<f4")
        scipy.sparse.save_npz(self.scratch / "a.npz", twice)
        workload = self.file("a.json", json.dumps(self.PRODUCT | {"pattern": {"file": "a.npz"}}))
        self.assertIn("a.npz: element [0, 1] has two entries, expected one",
                      self.tessera("run", workload, "--machine", "tiny", code=3).stderr)
        numpy.save(self.scratch / "a.npy", twice.toarray())
        self.assertEqual(self.product("a.npz", duplicates="sum"), self.product("a.npy"))

    def test_the_pattern_of_a_pipeline_takes_its_size_from_the_file(self):
        matrix = random_matrix(numpy.float32)
        write(self.scratch / "a.npz", matrix, "bsr")
        (self.scratch / "a.safetensors").write_bytes(
            safetensors_bytes({"w": matrix.toarray(), "v": matrix.toarray().T.copy()}))
        for pattern in ({"file": "a.npz"}, {"file": "a.safetensors", "tensor": "w"}):
            pipeline = self.file("p.json", json.dumps(
                {"schema_version": 1, "kind": "pipeline", "tensors": {
                    "a": {"pattern": pattern}, "x": {"shape": [COLUMNS, 8]}},
                 "steps": [{"family": "spmm", "inputs": ["a", "x"], "output": "y"}]}))
            self.assertTrue(self.result(pipeline, "--machine", "tiny")["check"]["passed"])


class CheckpointTest(PatternCase):
    NAMES = ["encoder.fc1.weight", "encoder.fc2.weight", "encoder.norm.weight", "encoder.fc1.bias",
             "token_embedding.weight", "lm_head.weight", "head.weight"]

    def weights(self, dtype="F32", order=1, **others):
        """A checkpoint as a.safetensors; its tensors by name, of BF16 as f4."""
        random = numpy.random.default_rng(3)
        tensors = {}
        for name in self.NAMES:
            shape = (24,) if "bias" in name else (17, 24)
            values = random.standard_normal(shape).astype("<f4")
            values[..., ::5] = numpy.float32(0.5) # equal magnitudes
            values[..., 1::5] *= -1
            tensors[name] = values.astype("<f2") if dtype == "F16" else values
            if dtype == "BF16":
                tensors[name] = (values.view("<u4") >> 16).astype("<u2")
        tensors.update(others)
        stored = {name: (dtype if name in self.NAMES else None, tensors[name])
                  for name in list(tensors)[::order]}
        (self.scratch / "a.safetensors").write_bytes(
            safetensors_bytes(stored, {"format": "pt"}))
        return {name: self.floats(values, dtype) for name, values in tensors.items()}

    @staticmethod
    def floats(values, dtype):
        if dtype == "BF16" and values.dtype == numpy.dtype("<u2"):
            return (values.astype("<u4") << 16).view("<f4")
        return values

    def sparsify(self, section, source="a.safetensors", target="b.safetensors", code=0, dtype="F32"):
        self.file("s.json", json.dumps(section))
        done = self.pattern("sparsify", source, "--config", "s.json", "-o", target, code=code)
        if code:
            self.assertFalse((self.scratch / target).exists())
            return done.stderr
        return self.read(target, dtype)

    def read(self, name, dtype="F32"):
        return {n: self.floats(v, dtype)
                for n, v in read_safetensors(self.scratch / name).items()}

    def kept_by_numpy(self, values, level):
        """Those of largest magnitude, of equal ones the first."""
        magnitude = numpy.abs(values.astype(float)).ravel()
        order = numpy.argsort(-magnitude, kind="stable")
        kept = numpy.zeros(values.size, bool)
        kept[order[:values.size - int(numpy.floor(level * values.size + 0.5))]] = True
        return kept.reshape(values.shape)

    def check_topk(self, before, after, levels):
        for name, values in before.items():
            level = levels.get(name)
            wanted = (numpy.ones(values.shape, bool) if level is None
                      else self.kept_by_numpy(values, level))
            self.assertTrue((~numpy.isnan(after[name].astype(float)) == wanted).all(), name)
            self.assertTrue((after[name][wanted] == values[wanted]).all(), name)

    def test_topk_keeps_what_numpy_keeps(self):
        by_default = ["encoder.fc1.weight", "encoder.fc2.weight", "head.weight"]
        fc = by_default[:2]
        for dtype in ("F32", "F16", "BF16"):
            before = self.weights(dtype)
            for patterns, levels in (
                    (None, dict.fromkeys(by_default, 0.7)),
                    ("fc[12].weight", dict.fromkeys(fc, 0.7)),
                    (["fc1.weight", "^lm_head"],
                     dict.fromkeys(["encoder.fc1.weight", "lm_head.weight"], 0.7)),
                    ({"fc1.w": 0.3, "fc2.w": 0.9, r"norm\.weight$": 0.5},
                     {fc[0]: 0.3, fc[1]: 0.9, "encoder.norm.weight": 0.5}),
                    ("bias", {"encoder.fc1.bias": 0.7}), ("none", {})):
                section = {"sparsity": 0.7, "init_method": "topk"}
                if patterns is not None:
                    section["param_name_patterns"] = patterns
                self.check_topk(before, self.sparsify(section, dtype=dtype), levels)
        del section["sparsity"]
        section["param_name_patterns"] = {"fc1.w": 0.25}
        self.check_topk(before, self.sparsify(section, dtype=dtype), {fc[0]: 0.25})
        self.check_topk(before, self.sparsify({"model": {}, "sparsity": section}, dtype=dtype),
                        {fc[0]: 0.25})

    def test_random_keeps_as_many_by_seed_and_name_alone(self):
        section = {"sparsity": 0.7, "seed": 11}
        before = self.weights()
        first = self.sparsify(section)
        for name, values in before.items():
            pruned = numpy.isnan(first[name])
            wanted = 0 if name not in ("encoder.fc1.weight", "encoder.fc2.weight",
                                       "head.weight") else int(0.7 * values.size + 0.5)
            self.assertEqual(pruned.sum(), wanted, name)
            self.assertTrue((first[name][~pruned] == values[~pruned]).all())
        marks = {name: numpy.isnan(values) for name, values in first.items()}
        self.assertTrue((marks["encoder.fc1.weight"] != marks["encoder.fc2.weight"]).any())
        self.weights(order=-1, another=numpy.ones((3, 3), "<f4"))
        for name, values in self.sparsify(section).items():
            if name in marks:
                self.assertTrue((numpy.isnan(values) == marks[name]).all(), name)
        other = self.sparsify({**section, "seed": 12})
        self.assertTrue((numpy.isnan(other["head.weight"]) != marks["head.weight"]).any())

    def test_finalized_has_no_marks_and_is_equal_otherwise(self):
        for dtype, bits in (("F32", "<u4"), ("F16", "<u2"), ("BF16", "<u2")):
            self.weights(dtype, ids=numpy.arange(6).reshape(2, 3), mask=numpy.ones((2, 2), bool),
                         wide=numpy.array([[numpy.pi, numpy.nan]]))
            before = (self.scratch / "a.safetensors").read_bytes()
            self.pattern("finalize", "a.safetensors", "-o", "c.safetensors")
            self.assertEqual((self.scratch / "c.safetensors").read_bytes()[:-16], before[:-16])
            self.assertEqual(self.read("c.safetensors", "F32")["wide"].tolist(), [[numpy.pi, 0]])
            section = {"sparsity": 0.5, "init_method": "random"}
            marked = self.sparsify(section, "c.safetensors", "b.safetensors", dtype=dtype)
            self.pattern("finalize", "b.safetensors", "-o", "d.safetensors")
            raw_b = read_safetensors(self.scratch / "b.safetensors")
            for name, values in read_safetensors(self.scratch / "d.safetensors").items():
                if name in self.NAMES:
                    nan = numpy.isnan(marked[name].astype(float))
                    self.assertTrue((values.view(bits)[nan] == 0).all())
                    self.assertTrue((values.view(bits)[~nan] == raw_b[name].view(bits)[~nan]).all())
                else:
                    self.assertEqual(values.tobytes(), raw_b[name].tobytes())
            # sparsified again it keeps the same
            again = self.sparsify(section, "d.safetensors", "e.safetensors", dtype=dtype)
            for name in self.NAMES:
                self.assertTrue((numpy.isnan(again[name].astype(float)) ==
                                 numpy.isnan(marked[name].astype(float))).all(), name)

    def test_more_keeps_what_is_pruned_and_less_regrows_zeros(self):
        for method in ("topk", "random"):
            before = self.weights()
            section = lambda level: {"sparsity": level, "init_method": method}
            low = self.sparsify(section(0.3))
            high = self.sparsify(section(0.9), "b.safetensors", "c.safetensors")
            for name in ("encoder.fc1.weight", "head.weight"):
                was, now = numpy.isnan(low[name]), numpy.isnan(high[name])
                self.assertTrue(now[was].all())
                self.assertEqual(now.sum(), int(0.9 * was.size + 0.5))
                self.assertTrue((high[name][~now] == before[name][~now]).all())
            if method == "topk": # in one step or two
                self.check_topk(before, high, {name: 0.9 for name in
                                               ("encoder.fc1.weight", "encoder.fc2.weight",
                                                "head.weight")})
            back = self.sparsify(section(0.3), "c.safetensors", "d.safetensors")
            for name in ("encoder.fc1.weight", "head.weight"):
                was, now = numpy.isnan(high[name]), numpy.isnan(back[name])
                self.assertFalse(now[~was].any())
                self.assertEqual(now.sum(), int(0.3 * was.size + 0.5))
                self.assertTrue((back[name][~was] == high[name][~was]).all())
                self.assertTrue((back[name][was & ~now] == 0).all())
            self.sparsify(section(0), "d.safetensors", "e.safetensors")
            self.assertFalse(numpy.isnan(self.read("e.safetensors")["head.weight"]).any())

    def test_what_was_done_is_told(self):
        values = numpy.arange(1, 41, dtype="<f4").reshape(4, 10)
        tensors = {"fc.weight": values, "bias": values[0], "other.weight": values[:, :5].copy()}
        (self.scratch / "a.safetensors").write_bytes(
            safetensors_bytes({name: (None, one) for name, one in tensors.items()}))

        def told(target, source, patterns, level):
            self.file("s.json", json.dumps({"sparsity": level, "init_method": "topk",
                                            "param_name_patterns": patterns}))
            done = self.pattern("sparsify", source, "--config", "s.json", "-o", target)
            return [line.split() for line in done.stdout.splitlines()]

        head = "tensor elements pruned before after".split()
        self.assertEqual(told("b.safetensors", "a.safetensors", "fc", 0.3),
                         [head, "fc.weight 40 0 12 30 %".split(), "2 tensors left dense".split()])
        self.assertEqual(told("c.safetensors", "b.safetensors", "weight", 0.75), [
            head, "fc.weight 40 12 30 75 %".split(), "other.weight 20 0 15 75 %".split(),
            "1 tensor left dense".split()])
        self.assertEqual(told("d.safetensors", "a.safetensors", "none", 0.75),
                         ["3 tensors left dense".split()])
        for source, what in (("a", "0 pruned elements of 0 tensors"),
                             ("b", "12 pruned elements of 1 tensor"),
                             ("c", "45 pruned elements of 2 tensors")):
            done = self.pattern("finalize", source + ".safetensors", "-o", "e.safetensors")
            self.assertEqual(done.stdout, f"e.safetensors: {what} are 0\n")
        done = self.pattern("finalize", "c.safetensors", "-o", "e.safetensors", "-q")
        self.assertEqual(done.stdout, "")

    def test_a_file_may_be_replaced(self):
        before = self.weights()
        after = self.sparsify({"sparsity": 0.5, "init_method": "topk"}, target="a.safetensors")
        self.check_topk(before, after, dict.fromkeys(
            ["encoder.fc1.weight", "encoder.fc2.weight", "head.weight"], 0.5))

    def test_mistakes(self):
        self.weights(ids=numpy.arange(6).reshape(2, 3), hole=numpy.array([[1, numpy.nan]], "<f4"))
        for section, message in (
                ({"sparsity": 1.5}, "s.json:1:14: /sparsity: got 1.5, expected 0..1"),
                ({"sparsty": 0.5}, "unknown key; did you mean 'sparsity'?"),
                ({"seed": 1}, "sparsity: expected the share of elements that is pruned, 0..1"),
                ({"sparsity": 0.5, "init_method": "top"}, "did you mean 'topk'?"),
                ({"sparsity": 0.5, "param_name_patterns": 3}, "/param_name_patterns: got number 3"),
                ({"sparsity": 0.5, "param_name_patterns": [3]},
                 "/param_name_patterns/0: got number 3, expected an expression"),
                ({"sparsity": 0.5, "param_name_patterns": "fc("}, "got 'fc(', expected an expression "
                 "of RE2: missing ): fc("),
                ({"param_name_patterns": {"a": 2}}, "/param_name_patterns/a: got number 2"),
                ({"param_name_patterns": {"fc": 0.5, "fc1": 0.6}}, "a.safetensors: tensor "
                 "'encoder.fc1.weight': 'fc' and 'fc1' both name it, with the levels 0.5 and 0.6"),
                ({"sparsity": 0.5, "param_name_patterns": "ids"},
                 "tensor 'ids': dtype: got 'I64', expected F16, BF16 or F32, since 'ids' names it"),
                ({"sparsity": 0.5, "param_name_patterns": "fc"},
                 "tensor 'hole': has elements that are NaN, the mark of pruned ones, and the "
                 "`sparsity` section leaves it dense")):
            self.assertIn(message, self.sparsify(section, code=3))
        self.sparsify({"sparsity": 0.5})
        self.assertIn("c.txt', expected a .safetensors file",
                      self.sparsify({"sparsity": 0.5}, target="c.txt", code=2))
        done = self.pattern("sparsify", "a.safetensors", "-o", "d.safetensors", code=2)
        self.assertIn("pattern sparsify: expected --config FILE", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], sys.argv[3]], verbosity=2)
