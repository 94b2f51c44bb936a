"""import_arrow and export_arrow against pyarrow: 200 random tables there and back, addresses, hostile structures."""

import ctypes
import decimal
import gc
import pathlib
import random
import sys
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bridge  # noqa: E402

UNITS = {"s": 86400, "ms": 86400 * 10**3, "us": 86400 * 10**6, "ns": 86400 * 10**9}
INTEGERS = {pa.int8(): (-128, 127), pa.uint8(): (0, 255), pa.int16(): (-(2**15), 2**15 - 1), pa.uint16(): (0, 2**16 - 1),
            pa.int32(): (-(2**31), 2**31 - 1), pa.uint32(): (0, 2**32 - 1), pa.int64(): (-(2**53), 2**53), pa.uint64(): (0, 2**53)}
STRINGS = [pa.string(), pa.large_string(), pa.string_view()]
DECIMALS = [pa.decimal32(9, 2), pa.decimal64(15, 4), pa.decimal128(15, 15), pa.decimal128(38, -2), pa.decimal256(76, 8)]
ZONES = [None, "UTC", "Europe/Rome", "+05:30"]
WORDS = ["", "a", "b", "ä", "?", "NA", "exactly twelv", "twelve bytes", "a word that no view holds inside", "日本", "z"]


@pytest.fixture(autouse=True)
def no_memory_is_left():
    """Whatever a test does, all memory of Arrow comes back."""
    gc.collect()
    before = pa.total_allocated_bytes()
    yield
    gc.collect()
    assert pa.total_allocated_bytes() == before


# ---- random columns ----

def values_of(rng, kind, n):
    """n random values of a type, as pyarrow takes them; nulls come later."""
    if kind in INTEGERS:
        low, high = INTEGERS[kind]
        return [rng.choice([low, high, 0, 1, rng.randint(low, high)]) for _ in range(n)]
    if pa.types.is_floating(kind):
        special = [0.0, -0.0, 1.5, float("inf"), float("-inf"), float("nan")]
        numbers = [rng.choice([*special, rng.gauss(0, 100)]) for _ in range(n)]
        return [np.float16(x) for x in numbers] if kind == pa.float16() else numbers
    if pa.types.is_boolean(kind):
        return [rng.random() < 0.5 for _ in range(n)]
    if pa.types.is_decimal(kind):
        digits = min(kind.precision, 15)
        with decimal.localcontext() as context:
            context.prec = 80
            most = 10**digits - 1 if kind.scale >= 0 else 10**10
            return [decimal.Decimal(rng.choice([0, rng.randint(-most, most)])).scaleb(-kind.scale) for _ in range(n)]
    if pa.types.is_date32(kind) or pa.types.is_date64(kind):
        days = [rng.choice([0, -1, rng.randint(-700000, 2900000)]) for _ in range(n)]
        return days if pa.types.is_date32(kind) else [d * 86400000 for d in days]
    if pa.types.is_timestamp(kind):
        most = min(2**62, 10**5 * UNITS[kind.unit])
        return [rng.choice([0, -1, rng.randint(-most, most)]) for _ in range(n)]
    return [rng.choice(WORDS) for _ in range(n)]


def random_type(rng):
    kind = rng.randrange(9)
    if kind == 0:
        return rng.choice(list(INTEGERS))
    if kind == 1:
        return rng.choice([pa.float16(), pa.float32(), pa.float64()])
    if kind == 2:
        return rng.choice(STRINGS)
    if kind in (3, 4):
        return pa.dictionary(rng.choice(list(INTEGERS)), rng.choice(STRINGS))
    if kind == 5:
        return rng.choice([pa.date32(), pa.date64()])
    if kind == 6:
        return pa.timestamp(rng.choice(list(UNITS)), rng.choice(ZONES))
    if kind == 7:
        return rng.choice(DECIMALS)
    return rng.choice([pa.bool_(), pa.null(), pa.float64()])


def plain_array(rng, kind, n, null_share):
    if pa.types.is_null(kind):
        return pa.nulls(n)
    values = values_of(rng, kind, n)
    mask = [rng.random() < null_share for _ in range(n)]
    if pa.types.is_temporal(kind):
        width = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        return pa.array([None if m else v for v, m in zip(values, mask)], width).cast(kind)
    if kind == pa.float16():
        return pa.array(np.array(values, np.float16), kind, mask=np.array(mask, bool))
    return pa.array([None if m else v for v, m in zip(values, mask)], kind)


def random_array(rng, kind, n, null_share):
    """An array of n elements, often a slice of a longer one. Dictionaries have unused, repeated and null values."""
    before, after = (rng.randrange(20), rng.randrange(20)) if rng.random() < 0.5 else (0, 0)
    length = before + n + after
    if not pa.types.is_dictionary(kind):
        return plain_array(rng, kind, length, null_share).slice(before, n)
    dictionary = plain_array(rng, kind.value_type, 1 + rng.randrange(12), rng.choice([0, 0, 0.3]))
    indices = [None if rng.random() < null_share else rng.randrange(len(dictionary)) for _ in range(length)]
    return pa.DictionaryArray.from_arrays(pa.array(indices, kind.index_type), dictionary).slice(before, n)


def random_table(rng):
    n = rng.choice([0, 1, 7, 8, 9, 64, rng.randrange(300)])
    columns = []
    for _ in range(rng.randrange(1, 7)):
        kind, null_share = random_type(rng), rng.choice([0, 0, 0.2, 1])
        cuts = sorted({0, n, *(rng.randrange(n + 1) for _ in range(rng.choice([0, 0, 1, 3])))})
        chunks = [random_array(rng, kind, b - a, null_share) for a, b in zip(cuts, cuts[1:])]
        columns.append(pa.chunked_array(chunks, kind))
    return pa.table({f"column {i}": column for i, column in enumerate(columns)})


# ---- what a column should become ----

def units_per_day(kind):
    if pa.types.is_date32(kind):
        return 1
    return UNITS["ms"] if pa.types.is_date64(kind) else UNITS[kind.unit]


def expected_numbers(column):
    kind = column.type
    if pa.types.is_temporal(kind):
        width = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        whole = column.cast(width).to_pylist()
        # Python's division of integers is rounded correctly.
        return [float("nan") if v is None else float(Fraction(v, units_per_day(kind))) for v in whole]
    return [float("nan") if v is None else float(v) for v in column.to_pylist()]


def expected_strings(column):
    if pa.types.is_boolean(column.type):
        return [None if v is None else str(v).lower() for v in column.to_pylist()]
    return column.to_pylist()


def expected_value_list(column, by_appearance):
    if pa.types.is_boolean(column.type):
        return ["false", "true"]
    if pa.types.is_dictionary(column.type):
        values = [v for chunk in column.chunks if len(chunk) > 0 for v in chunk.dictionary.to_pylist()]
        return list(dict.fromkeys(v for v in values if v is not None))
    values = list(dict.fromkeys(v for v in column.to_pylist() if v is not None))
    return values if by_appearance else sorted(values, key=lambda v: v.encode())


def is_nominal(kind):
    return pa.types.is_dictionary(kind) or pa.types.is_boolean(kind) or kind in STRINGS


def same_bits(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    present = ~np.isnan(a)
    return np.array_equal(np.isnan(a), np.isnan(b)) and np.array_equal(a[present].view(np.int64), b[present].view(np.int64))


def check_import(table, source, by_appearance):
    assert table.n_rows == source.num_rows
    assert table.names == source.column_names
    for i, column in enumerate(source.columns):
        if is_nominal(column.type):
            assert table.strings(i) == expected_strings(column), column.type
            if source.num_rows > 0:
                assert table.value_list(i) == expected_value_list(column, by_appearance), column.type
            assert table.type(i) == ("binominal" if pa.types.is_boolean(column.type) else "polynominal")
        else:
            assert same_bits(table.numbers(i), expected_numbers(column)), column.type
            assert (table.type(i) == "date") == pa.types.is_temporal(column.type)
            whole = pa.types.is_integer(column.type) or (pa.types.is_decimal(column.type) and column.type.scale <= 0)
            assert (table.type(i) == "integer") == whole


def check_export(table, exported):
    exported.validate(full=True)
    for i in range(exported.num_columns):
        column = exported.column(i)
        if pa.types.is_dictionary(column.type):
            assert column.to_pylist() == table.strings(i)
        else:
            assert same_bits(expected_numbers(column), table.numbers(i)), column.type
            assert column.null_count == int(np.isnan(table.numbers(i)).sum())


def check_same(a, b):
    assert a.names == b.names and a.n_rows == b.n_rows
    for i in range(len(a.names)):
        assert (a.type(i), a.role(i), a.value_list(i)) == (b.type(i), b.role(i), b.value_list(i))
        assert same_bits(a.numbers(i), b.numbers(i))


@pytest.mark.parametrize("seed", range(200))
def test_random_table_goes_in_and_comes_back(seed):
    rng = random.Random(seed)
    source = random_table(rng)
    by_appearance, copied = rng.random() < 0.3, rng.random() < 0.2
    reader = source.to_reader(max_chunksize=rng.choice([None, 1, 17]))
    with bridge.from_stream(reader, by_appearance, copied) as table:
        check_import(table, source, by_appearance)
        for i in range(len(table.names)):
            table.set_role(i, rng.choice(bridge.ROLES))
        exported = table.to_stream(rng.choice([0, 1, 10]))
        check_export(table, exported)
        check_export(table, pa.Table.from_batches([table.to_batch()]))
        with bridge.from_batch(table.to_batch()) as back:
            check_same(table, back)
        if source.num_rows > 0:  # pyarrow's readers leave out batches without rows, and with them their dictionaries
            with bridge.from_stream(exported.to_reader()) as back:
                check_same(table, back)
        del exported, reader


# ---- which memory is shared ----

def data_address(array):
    width = array.type.index_type.bit_width if pa.types.is_dictionary(array.type) else array.type.bit_width
    return array.buffers()[1].address + array.offset * width // 8


def shareable():
    codes = pa.array([2, 0, 1, 2, 0], pa.int32())
    words = pa.array(["b", "a", "c"])
    return pa.RecordBatch.from_arrays(
        [pa.array([1.5, float("nan"), 3, 4, 5]), pa.array([1.5, 2, 3, 4, 5], pa.float32()),
         pa.DictionaryArray.from_arrays(codes, words), pa.DictionaryArray.from_arrays(codes.cast(pa.uint32()), words),
         pa.array([None, 1.0, 2, 3, 4])],
        ["g", "f", "i", "u", "null first"])


@pytest.mark.parametrize("first, length", [(0, 5), (1, 3), (4, 1)])
def test_one_batch_of_floats_and_codes_is_shared(first, length):
    batch = shareable().slice(first, length)
    with bridge.from_batch(batch) as table:
        for i in range(4):
            assert table.address(i) == data_address(batch.column(i)), batch.schema.names[i]
        assert (table.address(4) == data_address(batch.column(4))) == (first > 0)  # the slice without its null
        out = table.to_batch()
        for i in range(5):
            assert data_address(out.column(i)) == table.address(i)
        pieces = table.to_stream(2)
        assert data_address(pieces.column(0).chunk(0)) == table.address(0)
        if length > 2:
            assert data_address(pieces.column(0).chunk(1)) == table.address(0) + 16
        del out, pieces


def test_shared_memory_lives_as_long_as_the_table():
    batch = shareable()
    with bridge.from_batch(batch) as table:
        before = table.numbers(0)
        held = pa.total_allocated_bytes()
        del batch
        gc.collect()
        assert pa.total_allocated_bytes() >= held - 1024
        assert same_bits(table.numbers(0), before)


@pytest.mark.parametrize("column", [
    pa.array([1.0, None]), pa.array([1, 2]), pa.array([1, 2], pa.int32()),
    pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["a", "b"])),
    pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["a", "a"])),
    pa.DictionaryArray.from_arrays(pa.array([0, None], pa.int32()), pa.array(["a", "b"])),
])
def test_everything_else_is_copied(column):
    with bridge.from_batch(pa.RecordBatch.from_arrays([column], ["x"])) as table:
        assert table.address(0) != data_address(column)


def test_roles_and_types_come_back():
    with bridge.from_batch(shareable()) as table:
        for i, role in enumerate(bridge.ROLES):
            table.set_role(i, role)
        out = table.to_batch()
        assert out.schema.field(1).metadata == {b"stope.role": b"label"}
        with bridge.from_batch(out) as back:
            assert [back.role(i) for i in range(5)] == bridge.ROLES
        del out


# ---- what is refused ----

@pytest.mark.parametrize("column, name", [
    (pa.array([b"x"]), "binary"), (pa.array([b"x"], pa.large_binary()), "large binary"), (pa.array([b"x"], pa.binary_view()), "binary view"),
    (pa.array([b"xy"], pa.binary(2)), "fixed-size binary"), (pa.array([1], pa.time32("s")), "time"), (pa.array([1], pa.time64("ns")), "time"),
    (pa.array([1], pa.duration("ms")), "duration"), (pa.array([(1, 2, 3)], pa.month_day_nano_interval()), "interval"),
    (pa.array([[1]]), "list"), (pa.array([[1]], pa.large_list(pa.int8())), "large list"), (pa.array([[1]], pa.list_view(pa.int8())), "list view"),
    (pa.array([[1]], pa.list_(pa.int8(), 1)), "fixed-size list"), (pa.array([{"a": 1}]), "struct"),
    (pa.array([[(1, 2)]], pa.map_(pa.int8(), pa.int8())), "map"),
    (pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]), "sparse union"),
    (pa.UnionArray.from_dense(pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([1])]), "dense union"),
    (pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), pa.array([1])), "run-end encoded"),
    (pa.array([7]).dictionary_encode(), "dictionary of int64"),
])
def test_a_type_that_a_table_cannot_hold_is_refused_by_name(column, name):
    batch = pa.RecordBatch.from_arrays([pa.array([1.0]), column], ["good", "bad one"])
    with pytest.raises(bridge.Refused, match=f"^unsupported: column 'bad one'.* {name}"):
        bridge.from_batch(batch)


@pytest.mark.parametrize("column, row", [
    (pa.array([0, 2**53 + 1]), 1), (pa.array([-(2**53) - 1, 0]), 0), (pa.array([0, 0, 2**64 - 1], pa.uint64()), 2),
    (pa.array([decimal.Decimal("0.1"), decimal.Decimal("1234567890123456.7")]), 1),
    (pa.array([decimal.Decimal(10**30 + 1)], pa.decimal256(40, 0)), 0),
])
def test_a_number_without_a_double_is_refused_with_its_row(column, row):
    with pytest.raises(bridge.Refused, match=f"^unsupported: column 'x', row {row}: "):
        bridge.from_batch(pa.RecordBatch.from_arrays([column], ["x"]))


def test_names_may_not_repeat():
    with pytest.raises(bridge.Refused, match="two columns are named 'x'"):
        bridge.from_batch(pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"]))


def test_a_device_that_is_not_the_cpu_is_refused_in_words():
    with bridge.from_device(shareable(), 1) as table:
        assert table.n_rows == 5
    with pytest.raises(bridge.Refused, match="unsupported: .* a CUDA GPU"):
        bridge.from_device(shareable(), 2)


def test_a_producer_that_fails_is_quoted():
    def batches():
        yield shareable()
        raise ValueError("the cable was cut")

    with pytest.raises(bridge.Refused, match="io: .*the cable was cut"):
        bridge.from_stream(pa.RecordBatchReader.from_batches(shareable().schema, batches()))


def hostile_batch():
    return pa.RecordBatch.from_arrays(
        [pa.array([1.0, None]), pa.array(["a", "b"]), pa.array(["a", "b"], pa.string_view()),
         pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["a", "b"]))], ["x", "s", "v", "d"])


def set_field(which, field, value):
    def spoil(schema, array):
        at = {"schema": schema, "array": array}.get(which)
        if at is None:
            at = array.children["xsvd".index(which)].contents
        setattr(at, field, value)
    return spoil


def set_buffer(column, index, bytes_):
    """Puts other bytes (None: a null pointer) into a buffer."""
    def spoil(_, array):
        kept = None if bytes_ is None else ctypes.create_string_buffer(bytes_, len(bytes_))
        array.children["xsvd".index(column)].contents.buffers[index] = None if kept is None else ctypes.addressof(kept)
        return kept
    return spoil


def int32s(*values):
    return np.array(values, np.int32).tobytes()


@pytest.mark.parametrize("spoil", [
    set_field("array", "length", -1), set_field("array", "length", 2**63 - 1), set_field("array", "length", 3),
    set_field("array", "offset", -1), set_field("array", "offset", 1), set_field("array", "n_buffers", 2),
    set_field("array", "null_count", 1), set_field("schema", "format", b"+l"), set_field("schema", "format", b"g"),
    set_field("x", "length", -2), set_field("x", "length", 1), set_field("x", "offset", -1), set_field("x", "offset", 2**63 - 1),
    set_field("x", "null_count", 3), set_field("x", "null_count", -7), set_field("x", "n_buffers", 1),
    set_field("x", "n_buffers", 3), set_field("x", "n_buffers", -1), set_field("x", "buffers", None), set_field("s", "n_buffers", 2),
    set_field("v", "n_buffers", 1), set_field("d", "n_buffers", 3),
    set_buffer("x", 0, None), set_buffer("x", 1, None), set_buffer("s", 1, None), set_buffer("d", 1, None),
    set_buffer("s", 1, int32s(0, -1, 1)), set_buffer("s", 1, int32s(1, 0, 1)), set_buffer("s", 1, int32s(-1, 0, 1)),
    set_buffer("s", 2, None), set_buffer("s", 2, b"\xff\xff"), set_buffer("v", 1, int32s(-1, 0, 0, 0) * 2),
    set_buffer("v", 1, int32s(13, 0, 0, 0) * 2), set_buffer("v", 1, int32s(13, 0, -1, 0) * 2),
    set_buffer("d", 1, b"\x00\x02"), set_buffer("d", 1, b"\xff\x00"),
])
def test_a_structure_that_contradicts_itself_is_refused_and_released(spoil):
    with pytest.raises(bridge.Refused, match="^(invalid_data|unsupported): "):
        bridge.from_batch(hostile_batch(), spoil)
