"""The footer and the page headers of Parquet, walked over before pyarrow reads the pages: what they become in memory.

pyarrow decompresses one page of every column at a time, however large the page is: 1 MB of zstd may become 10 GB. The
headers say how large the pages become, and pyarrow takes no other size than that. The layout is that of FileMetaData
and PageHeader in parquet.thrift, in Thrift's compact protocol. pyarrow is not asked for its row groups and column
chunks: if the statistics of a chunk contradict its schema, it ends the process.
"""

from ..problems import Problem

__all__ = ["check_pages", "malformed", "row_groups"]

_AT_ONCE = 1 << 30  # bytes of one page of every column and their dictionaries; Arrow's messages have the same limit
_MOST_PAGES = 2_000_000  # 200,000,000 rows of 100 columns have 1,000,000 pages of 20,000 rows
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3  # kinds of pages
_KIND, _BECOMES, _BYTES = 1, 2, 3  # fields of a header
_N_VALUES = {_DATA: 5, _DATA_2: 8}  # the field with a struct whose first field it is
_DEEPEST = 8
_TAIL = 8  # bytes: the footer's length and the mark

# Fields of a file, a row group, a column chunk and its metadata.
_GROUPS, _COLUMNS, _GROUP_BYTES, _METADATA = 4, 1, 2, 3
_CODEC, _VALUES, _COMPRESSED, _DATA_PAGE, _DICTIONARY_PAGE = 4, 5, 7, 9, 11
_UNCOMPRESSED = 0


def malformed(detail):
    """Return the refusal of a body that is no Parquet."""
    return Problem(422, "malformed-parquet", detail)


def row_groups(view):
    """Return (bytes when they are decompressed, the metadata of the column chunks) of the file's row groups."""
    size = int.from_bytes(view[-_TAIL:-4], "little")
    first = len(view) - _TAIL - size
    if first < 0 or bytes(view[-4:]) != b"PAR1":
        raise malformed("The body has no footer.")
    try:
        file, _ = _struct(view[: len(view) - _TAIL], first, 0)
        groups = [
            (_not_negative(group[_GROUP_BYTES]), [chunk[_METADATA] for chunk in group[_COLUMNS]])
            for group in file[_GROUPS]
        ]
        for _, chunks in groups:
            for chunk in chunks:
                for field in (_CODEC, _VALUES, _COMPRESSED, _DATA_PAGE):
                    _not_negative(chunk[field])
    except (IndexError, KeyError, TypeError):
        raise malformed("The footer is damaged.") from None
    return groups


def _not_negative(number):
    if number < 0:
        raise malformed("The footer has a size below 0.")
    return number


def check_pages(view, groups) -> None:
    """Refuse a file whose pages become too large. ``groups`` is what ``row_groups`` returned."""
    n_pages = 0
    for _, chunks in groups:
        total = 0
        for chunk in chunks:
            if chunk[_CODEC] == _UNCOMPRESSED:
                continue  # its pages are used where they lie
            try:
                n_bytes, n = _at_once(view, chunk, _MOST_PAGES - n_pages)
            except (IndexError, KeyError, TypeError):
                raise malformed("The header of a page is damaged.") from None
            total, n_pages = total + n_bytes, n_pages + n
        if total > _AT_ONCE:
            raise Problem(
                413,
                "body-too-large",
                f"The pages of a row group become {total} bytes at a time; {_AT_ONCE} is the limit. Write smaller pages.",
                bytes=_AT_ONCE,
            )


def _at_once(view, chunk, most_pages):
    """(bytes of the dictionary and of the largest page, number of pages) of a column in a row group."""
    at = chunk[_DATA_PAGE]
    if 0 < chunk.get(_DICTIONARY_PAGE, 0) < at:
        at = chunk[_DICTIONARY_PAGE]
    end, left = at + chunk[_COMPRESSED], chunk[_VALUES]
    if not 0 <= at <= end <= len(view):
        raise malformed("The pages of a column lie outside the file.")
    dictionary = largest = n_pages = 0
    while left > 0 and at < end:  # pyarrow stops where all values have been seen, too
        header, at = _struct(view[:end], at, 0)
        becomes, kind = _size(header[_BECOMES]), header[_KIND]
        at += _size(header[_BYTES])
        if at > end:
            raise malformed("A page lies outside its column.")
        if kind == _DICTIONARY:
            dictionary += becomes
        else:
            largest = max(largest, becomes)
        if kind in _N_VALUES:
            left -= _size(header[_N_VALUES[kind]][1])
        n_pages += 1
        if n_pages > most_pages:
            raise Problem(413, "body-too-large", f"The file has more than {_MOST_PAGES} pages. Write larger ones.")
    return dictionary + largest, n_pages


def _size(number):
    if not 0 <= number < 1 << 31:
        raise malformed("A page says that it is larger than a page can be.")
    return number


def _struct(data, at, depth):
    """(values by the numbers of their fields, the place behind the struct)."""
    fields, number = {}, 0
    while (byte := data[at]) != 0:
        at += 1
        if byte >> 4:
            number += byte >> 4
        else:
            number, at = _number(data, at)
        fields[number], at = _value(data, at, byte & 15, depth)
    return fields, at + 1


def _value(data, at, kind, depth):
    if kind in (1, 2):
        return kind == 1, at
    if kind == 3:
        return data[at], at + 1
    if kind in (4, 5, 6):
        return _number(data, at)
    if kind == 7:
        return None, at + 8
    if kind == 8:
        size, at = _varint(data, at)
        return None, at + size
    if kind == 12 and depth < _DEEPEST:
        return _struct(data, at, depth + 1)
    if kind in (9, 10) and depth < _DEEPEST:
        return _list(data, at, depth + 1)
    raise malformed("A header or the footer is damaged.")


def _list(data, at, depth):
    size, kind = data[at] >> 4, data[at] & 15
    at += 1
    if size == 15:
        size, at = _varint(data, at)
    items = []
    for _ in range(size):
        if kind in (1, 2):  # in a list a truth value takes a byte
            item, at = data[at], at + 1
        else:
            item, at = _value(data, at, kind, depth)
        items.append(item)
    return items, at


def _number(data, at):
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise malformed("The header of a page is damaged.")
