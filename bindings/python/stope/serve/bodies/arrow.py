"""Arrow bodies: IPC streams and files, read batch by batch. Every batch is checked to the last code before its use."""

import struct
from collections import deque

from ... import _core
from ..._columns import sorted_codes
from ..problems import Problem
from .arrow_messages import BATCH, END, SCHEMA, DeltaWork, Message, in_groups, malformed, messages, said_by
from .byte_stream import Kept, in_thread, temporary_file
from .columns import check_columns, check_names, check_rows, index_named, missing_column, shown, with_option_roles

__all__ = ["AS_CODED", "Choice", "arrow_blocks", "arrow_table", "as_met", "table_of_batches"]

# Metadata of a schema that stope has written: dictionaries have the order of the engine's codes, and keep it.
AS_CODED = {b"stope.values": b"as-coded"}
_MAPPED_BYTES = 16 << 20  # batches that are decoded and have more bytes go through a file


def _arrow():
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise Problem(
            415, "media-type", "Arrow and Parquet need the package pyarrow on the server; send CSV or JSON."
        ) from None
    return pyarrow


class Choice:
    """The columns of a schema that a model and ``keep`` want, and how the engine is to read them."""

    def __init__(self, names, features, keep, limits, code):
        check_columns(len(names), limits)
        check_names(names, code)
        known = {feature.name for feature in features}
        self.names = [feature.name for feature in features] + [
            name for name in dict.fromkeys(keep) if name not in known
        ]
        present = set(names)
        for name in self.names:
            if name not in present:
                raise missing_column(name)
        self._nominal = {feature.name for feature in features if feature.is_nominal}
        self._numeric = known - self._nominal
        self._roles = [(place, "ignore" if name not in known else "regular") for place, name in enumerate(self.names)]

    def tables(self, batch, max_rows, new_run, code):
        """Yield ``_core.Table`` blocks of a checked batch."""
        pyarrow = _arrow()
        batch = batch.select(self.names).replace_schema_metadata(None)
        kinds = {
            name: pyarrow.types.is_dictionary(kind)
            or pyarrow.types.is_string(kind)
            or pyarrow.types.is_large_string(kind)
            or pyarrow.types.is_boolean(kind)
            for name, kind in zip(self.names, batch.schema.types)
        }
        nominal = [name for name in self.names if name in self._nominal and not kinds[name]]
        numeric = [name for name in self.names if name in self._numeric and kinds[name]]
        for first in range(0, max(batch.num_rows, 1), max_rows):
            rows = pyarrow.Table.from_batches([_with_used_values(batch.slice(first, max_rows))])
            try:
                table = _core.Table.of_arrow(
                    rows.__arrow_c_stream__(),
                    nominal=nominal,
                    numeric=numeric,
                    source="the body",
                    share=True,
                    run=new_run(),
                )
            except OSError as error:
                raise Problem(422, code, said_by(error)) from None
            yield table.with_roles(self._roles)


def _with_used_values(batch):
    """The batch without the values that no row has, where dictionaries have more values than the batch rows."""
    for place, field in enumerate(batch.schema):
        column = batch.column(place)
        if _is_plain_dictionary(field.type) and len(column.dictionary) > batch.num_rows:
            batch = batch.set_column(place, field.name, as_met(column))
    return batch


async def arrow_blocks(chunks, features, keep, max_rows, folder, limits, new_run):
    """Yield ``_core.Table`` blocks with the features and the kept columns of a body, as its batches come."""
    pyarrow = _arrow()
    stream, n_rows, begun = _Stream(pyarrow), 0, False
    choice = None
    async for group in in_groups(messages(chunks, folder, limits), max_rows):
        message, body = group[0]
        if message.kind != BATCH:
            stream.add(message, body)
            if message.kind == SCHEMA:
                schema, names = await in_thread(stream.schema)
                choice = Choice(names, features, keep, limits, "malformed-arrow")
            continue
        if choice is None:
            raise malformed("A batch comes before the schema.")
        batch = await in_thread(stream.batch, group, choice.names)
        n_rows += batch.num_rows
        check_rows(n_rows, limits)
        blocks = choice.tables(batch, max_rows, new_run, "malformed-arrow")
        while True:
            table = await in_thread(next, blocks, None)
            if table is None:
                break
            begun = True
            yield table
    if choice is None:
        raise malformed("The body has no schema.")
    if not begun:
        empty = pyarrow.RecordBatch.from_pylist([], schema=schema)
        for table in choice.tables(empty, max_rows, new_run, "malformed-arrow"):
            yield table


class _Feed:
    """A file of the messages that have come and that pyarrow has not read, which it takes without a copy."""

    closed = False

    def __init__(self):
        self._parts = deque()

    def add(self, *parts):
        self._parts.extend(memoryview(part) for part in parts if len(part))

    def read(self, n):
        found = []
        while n > 0 and self._parts:
            part = self._parts.popleft()
            if len(part) > n:
                self._parts.appendleft(part[n:])
                part = part[:n]
            found.append(part)
            n -= len(part)
        return found[0] if len(found) == 1 else b"".join(found)


class _Stream:
    """What a reader must know of a stream before it can read a batch: the schema, and the dictionaries so far."""

    def __init__(self, pyarrow):
        self._pyarrow, self._schema, self._place = pyarrow, None, {}
        self._feed, self._reader = _Feed(), None
        self._checked, self._work = Checked(), DeltaWork()

    def add(self, message, body):
        self._work.add(message)
        if message.kind == SCHEMA:
            if self._schema is not None:
                raise malformed("The body has two schemas.")
            self._schema = message.head + body
        elif self._schema is None:
            raise malformed("A dictionary comes before the schema.")
        self._feed.add(message.head, body)

    def schema(self):
        """The schema and the names of its columns. Reading a name fails where it is no UTF-8."""
        schema = _guarded(self._pyarrow, lambda: self._pyarrow.ipc.open_stream(self._schema + END).schema)
        names = _guarded(self._pyarrow, lambda: schema.names)
        self._place = {name: index for index, name in enumerate(names)}
        return schema, names

    def batch(self, group, names):
        """The batches of some messages as one, with the columns of those names alone, checked."""

        def read():
            if self._reader is None:
                wanted = [self._place[name] for name in names]
                how = self._pyarrow.ipc.IpcReadOptions(included_fields=wanted, use_threads=False)
                self._reader = self._pyarrow.ipc.open_stream(self._feed, options=how)
            batches = []
            for message, body in group:
                self._work.add(message)
                self._feed.add(message.head, body)
                batches.append(self._checked.batch(self._reader.read_next_batch()))
            return batches[0] if len(batches) == 1 else joined(batches)

        return _guarded(self._pyarrow, read)


class Checked:
    """Checks batches to the last code. A dictionary that many of them share is checked once."""

    def __init__(self):
        self._sound = {}  # the last sound dictionary of a column, kept so that no other one can lie where it lies

    def batch(self, batch):
        """Return a batch if it is sound; pyarrow's error says what is wrong with it."""
        for field, column in zip(batch.schema, batch.columns):
            if not _is_plain_dictionary(field.type):
                column.validate(full=True)
                continue
            column.validate()
            sound = self._sound.get(field.name)
            if sound is None or not _is_same(sound, column.dictionary):
                column.dictionary.validate(full=True)
                self._sound[field.name] = column.dictionary
            column.indices.validate(full=True)
            _check_codes(column, field.name)
        return batch


def _is_plain_dictionary(kind):
    types = _arrow().types
    return types.is_dictionary(kind) and not types.is_nested(kind.value_type) and not types.is_dictionary(kind.value_type)


def _is_same(a, b):
    """Whether two arrays are the same memory."""
    return (a.type, len(a), a.offset, _addresses(a)) == (b.type, len(b), b.offset, _addresses(b))


def _addresses(array):
    return [(buffer.address, buffer.size) if buffer is not None else None for buffer in array.buffers()]


def _check_codes(column, name):
    from pyarrow import ArrowInvalid, compute

    ends = compute.min_max(column.indices).as_py()
    if ends["min"] is not None and not 0 <= ends["min"] <= ends["max"] < len(column.dictionary):
        raise ArrowInvalid(f"column {shown(name)}: a code is outside its dictionary of {len(column.dictionary)} values")


def as_met(column):
    """A column of texts with those that it has alone, in the order in which they come, as if they were written out."""
    from pyarrow import DictionaryArray, compute

    used = column.indices.unique().drop_null()
    values = column.dictionary.take(used).dictionary_encode()
    return DictionaryArray.from_arrays(values.indices.take(compute.index_in(column.indices, used)), values.dictionary)


def joined(batches):
    """Return checked batches of one schema as one. They share their dictionaries."""
    pyarrow = _arrow()
    columns = []
    for place, field in enumerate(batches[0].schema):
        parts = [batch.column(place) for batch in batches]
        if _is_plain_dictionary(field.type):
            codes = pyarrow.concat_arrays([part.indices for part in parts])
            columns.append(pyarrow.DictionaryArray.from_arrays(codes, parts[0].dictionary, ordered=field.type.ordered, safe=False))
        else:
            columns.append(pyarrow.concat_arrays(parts))
    return pyarrow.RecordBatch.from_arrays(columns, schema=batches[0].schema)


def _guarded(pyarrow, work):
    """What the work returns; a Problem for whatever pyarrow finds wrong with the bytes."""
    try:
        return work()
    except pyarrow.ArrowMemoryError:
        raise malformed("A batch says that it is larger than the server's memory.") from None
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, IndexError, StopIteration, OverflowError) as error:
        raise malformed(said_by(error)) from None


# Whole bodies.


async def arrow_table(chunks, options, folder, limits, run):
    """Return the ``_core.Table`` of a whole body."""
    options.refuse_csv_options("Arrow")
    pyarrow = _arrow()
    kept = await Kept.of(chunks, folder)
    return await in_thread(_table_of_view, pyarrow, kept.view(), options, folder, limits, run, run=run)


def _table_of_view(pyarrow, view, options, folder, limits, run):
    if bytes(view[:6]) == b"ARROW1":
        view = view[8:]
    compressed = _check_messages(view)
    reader, checked = _guarded(pyarrow, lambda: pyarrow.ipc.open_stream(pyarrow.py_buffer(view))), Checked()

    def batches():
        while True:
            batch = _guarded(pyarrow, lambda: next(reader, None))
            if batch is None:
                return
            yield _guarded(pyarrow, lambda: checked.batch(batch))

    return table_of_batches(
        batches(), _guarded(pyarrow, lambda: reader.schema), options, folder, limits, run, decoded=compressed
    )


def _check_messages(view):
    """Walk over the messages before pyarrow does: lengths, and what compressed buffers become. Whether any are."""
    at, compressed, work = 0, False, DeltaWork()
    while at + 4 <= len(view):
        frame = 8 if bytes(view[at : at + 4]) == END[:4] else 4
        if at + frame > len(view):
            raise malformed("The body ends in the middle of a message.")
        size = struct.unpack_from("<i", view, at + frame - 4)[0]
        if size == 0:
            break
        begin = at + frame + size
        if size < 0 or begin > len(view):
            raise malformed("The body is no Arrow stream, or it ends in the middle of a message.")
        message = Message(bytes(view[at + frame : begin]), b"")
        if begin + message.body_bytes > len(view):
            raise malformed("The body ends in the middle of a message.")
        message.check_expansion(view[begin : begin + message.body_bytes])
        work.add(message)
        compressed |= message.is_compressed
        at = begin + message.body_bytes
    return compressed


def table_of_batches(batches, schema, options, folder, limits, run, decoded):
    """Return the ``_core.Table`` of checked batches. ``decoded``: they are in memory, where not all of them may fit."""
    pyarrow = _arrow()
    check_columns(len(schema), limits)
    names = [name or str(number) for number, name in enumerate(_guarded(pyarrow, lambda: schema.names), 1)]
    check_names(names, "malformed-arrow")
    if options.date:
        raise Problem(
            400,
            "invalid-argument",
            "date: Arrow and Parquet have types for dates; give the column one of them.",
            option="date",
        )
    if decoded:  # a type that no table holds is refused before its values are in memory
        _core.Table.of_arrow(schema.empty_table().__arrow_c_stream__(), source="the body", share=True, run=run)
    held = _held(pyarrow, batches, schema, folder, limits, decoded)
    reader = pyarrow.RecordBatchReader.from_batches(schema, held)
    words = {
        option: [names[index_named(names, word, option)] for word in getattr(options, option)]
        for option in ("nominal", "numeric", "ignore")
    }
    target = "" if options.target is None else names[index_named(names, options.target, "target")]
    table = _core.Table.of_arrow(
        reader.__arrow_c_stream__(),
        target=target,
        target_is_nominal=options.target_is_nominal,
        source="the body",
        share=True,
        run=run,
        **words,
    )
    if options.nominal_order != "appearance":
        table = _with_sorted_values(pyarrow, table, schema)
    return with_option_roles(table, options, done=("target", "ignore"))


def _held(pyarrow, batches, schema, folder, limits, decoded):
    """The batches, all of them. Large ones that have been decoded lie in a file, and are mapped."""
    held, n_rows, n_bytes, writer = [], 0, 0, None
    for batch in batches:
        n_rows += batch.num_rows
        check_rows(n_rows, limits)
        n_bytes += batch.nbytes
        if n_bytes > limits.body_bytes:
            raise Problem(
                413,
                "body-too-large",
                f"The rows have more than {limits.body_bytes} bytes once they are decoded.",
                bytes=limits.body_bytes,
            )
        held.append(batch)
        if decoded and n_bytes > _MAPPED_BYTES:
            if writer is None:
                file = temporary_file(folder)
                writer = pyarrow.ipc.new_stream(file, schema)
            for batch in held:
                writer.write_batch(batch)
            held = []
    if writer is None:
        return held
    writer.close()
    file.flush()
    mapped = pyarrow.memory_map(f"/proc/self/fd/{file.fileno()}", "r")
    file.close()
    return list(pyarrow.ipc.open_stream(mapped))


def _with_sorted_values(pyarrow, table, schema):
    """Dictionaries that have no order are sorted, as texts are: libraries number their values as they like."""
    if (schema.metadata or {}).get(b"stope.values") == b"as-coded":
        return table
    columns, changed = [table.column(index) for index in range(table.n_columns)], False
    for index, field in enumerate(schema):
        column = columns[index]
        if not (pyarrow.types.is_dictionary(field.type) and not field.type.ordered and column.is_nominal):
            continue
        names = column.values.names()
        codes, ordered = sorted_codes(column.array(), names)
        if ordered is not names:
            made = _core.Column.nominal(column.name, codes, _core.Values(ordered), column.type, share=True)
            made.role = column.role
            columns[index], changed = made, True
    return _core.Table.of_columns(columns, table.n_rows) if changed else table
