"""Answers as a stream of Arrow IPC, whose batches have the dictionaries of their own blocks."""

import io

from ..bodies.arrow import AS_CODED
from ..problems import Problem

__all__ = ["ArrowWriter"]


class ArrowWriter:
    """Makes the bytes of an answer from its blocks."""

    repeats_texts = False

    def __init__(self, profile=""):
        try:
            import pyarrow
            import pyarrow.ipc
        except ImportError:
            raise Problem(
                406, "not-acceptable", "Arrow needs the package pyarrow on the server; ask for CSV or JSON."
            ) from None
        self._pyarrow = pyarrow
        self._sink, self._writer, self._schema = io.BytesIO(), None, None

    def block(self, table) -> bytes:
        arrow = self._pyarrow.table(table)
        if self._writer is None:
            self._schema = self._lasting(arrow.schema)
            self._writer = self._pyarrow.ipc.new_stream(self._sink, self._schema)
        arrow = arrow.replace_schema_metadata(AS_CODED)
        if arrow.schema != self._schema:  # a date's unit is that of the block
            arrow = arrow.cast(self._schema)
        self._writer.write_table(arrow)
        return self._taken()

    def end(self) -> bytes:
        self._writer.close()
        return self._taken()

    def _lasting(self, schema):
        """The schema of all blocks: dates have microseconds, since a later block may need them."""
        pyarrow, fields = self._pyarrow, []
        for field in schema:
            if pyarrow.types.is_date(field.type) or pyarrow.types.is_timestamp(field.type):
                field = field.with_type(pyarrow.timestamp("us"))
            fields.append(field)
        return pyarrow.schema(fields, metadata=AS_CODED)

    def _taken(self):
        data = self._sink.getvalue()
        self._sink.seek(0)
        self._sink.truncate()
        return data
