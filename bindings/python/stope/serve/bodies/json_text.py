"""The text of a JSON body as it comes: values one after the other, without the whole text in memory."""

import codecs
import json
import re

from ..problems import Problem
from .byte_stream import SHORT_BYTES, in_thread
from .json_values import Members

__all__ = ["JsonText", "loads", "malformed"]

_VALUE_CHARACTERS = 16 << 20  # of one row, or one list of names: Python parses it in one go, and the server waits
_FILL = 1 << 20  # characters that are gathered before rows are taken
_SPACE = re.compile(r"[ \t\n\r]*")
# How far before the end of a text an error may stand that more text would mend: a number, a literal, an escape.
_TAIL = 64


def malformed(detail, line=None, column=None):
    """Return the refusal of a text that is no JSON."""
    place = "" if line is None else f"line {line}, character {column}: "
    return Problem(422, "malformed-json", f"{place}{detail}", line=line)


def _constant(name):
    raise malformed(f'JSON has no {name}; write null, or "{name}" in quotes.')


_decoder = json.JSONDecoder(object_pairs_hook=Members, parse_constant=_constant)
_scan = _decoder.scan_once


def loads(data):
    """Return the value of a whole text, given as bytes: lists, :class:`Members`, texts, numbers, truth values, None."""
    text = _decoded(data)
    try:
        return _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise malformed(_words_of(error.msg), error.lineno, error.colno) from None
    except RecursionError:
        raise malformed("the values are nested too deeply.") from None
    except ValueError:  # more digits than int() takes
        raise malformed("a whole number has more than 4,300 digits.") from None


def _decoded(data):
    if data.startswith(codecs.BOM_UTF8):
        data = data[3:]
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as error:
        raise malformed(f"byte {error.start} is no UTF-8.") from None


def _words_of(message):
    if message == "Extra data":
        return "there is more after the value."
    return message[:1].lower() + message[1:] + "."


class JsonText:
    """Reads values from the chunks of a body."""

    def __init__(self, chunks):
        self._chunks = chunks.__aiter__()
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text, self._at, self._ended = "", 0, False
        self._lines, self._bytes = 0, 0  # before the text

    async def _more(self, at_least=1):
        """Get more text, and forget what has been read. False where the body has ended."""
        self._lines += self._text.count("\n", 0, self._at)
        parts, n_characters = [self._text[self._at :]], 0
        self._at = 0
        while n_characters < at_least and not self._ended:
            try:
                data = await self._chunks.__anext__()
            except StopAsyncIteration:
                data, self._ended = b"", True
            try:
                part = self._decode(data, self._ended)
            except UnicodeDecodeError as error:
                raise malformed(f"byte {self._bytes + error.start} or so is no UTF-8.") from None
            self._bytes += len(data)
            parts.append(part)
            n_characters += len(part)
        self._text = "".join(parts)
        return n_characters > 0

    async def peek(self):
        """Return the next character behind blanks, "" at the end of the body."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not await self._more():
                return ""

    async def expect(self, characters):
        """Pass over one of some characters, and return it."""
        found = await self.peek()
        if not found or found not in characters:
            words = " or ".join(f"'{c}'" for c in characters)
            raise self._malformed(f"expecting {words}" + ("." if found else ", and the body ends."))
        self._at += 1
        return found

    async def end(self):
        """Refuse what follows the value of the body."""
        if await self.peek():
            raise self._malformed("there is more after the value.")

    async def value(self):
        """Return the next value, whole."""
        await self.peek()
        while True:
            found, value = self._scanned()
            if found:
                return value
            await self._more(max(len(self._text), _FILL))

    async def items(self):
        """Yield the elements of the list whose bracket has been passed, some at a time, each as (list of values)."""
        first = True
        while True:
            if first and await self.peek() == "]":
                self._at += 1
                return
            first = False
            if len(self._text) - self._at < _FILL and not self._ended:
                await self._more(_FILL)
            # A megabyte takes tens of milliseconds, for which no other request should wait.
            mark, end = self._extent()
            is_long = end - self._at > SHORT_BYTES
            values = (await in_thread(self._bulk, mark, end)) if is_long else self._bulk(mark, end)
            if values:
                yield values
                continue
            values, closed = [], False
            while len(values) < 4096 and not closed:
                values.append(await self.value())
                closed = await self.expect(",]") == "]"
            yield values
            if closed:
                return

    def _extent(self):
        """What stands between the elements of the list, and up to where they go as far as one can see at a glance."""
        opening = self._text[self._at : self._at + 1]
        mark = {"[": "],", "{": "},", '"': '",'}.get(opening, ",")
        end = -1 if opening in "[{" else self._text.find("]", self._at)  # many short lists may follow each other
        return mark, end if end >= 0 else len(self._text)

    def _bulk(self, mark, end):
        """As many elements as the text has for certain, by one call of the parser; [] where that is not easy to see."""
        text, at = self._text, self._at
        cut = text.rfind(mark, at, end)
        if cut <= at:
            return []
        cut += len(mark) - 1
        try:
            values = _decoder.decode(f"[{text[at:cut]}]")  # a cut within a text or behind the list's end is no list
        except (ValueError, RecursionError, Problem):
            return []  # value() finds where and why
        self._at = cut + 1
        return values

    def _scanned(self):
        """(True, value) where the text has a whole value; (False, None) where more text may complete it."""
        text, at = self._text, self._at
        try:
            value, end = _scan(text, at)
        except StopIteration as error:
            return self._incomplete(error.value, "expecting a value")
        except json.JSONDecodeError as error:
            return self._incomplete(error.pos, error.msg, error.msg.startswith("Unterminated"))
        except RecursionError:
            raise self._malformed("the values are nested too deeply.") from None
        except ValueError:
            raise self._malformed("a whole number has more than 4,300 digits.") from None
        if end == len(text) and not self._ended and text[end - 1] not in ']}"':
            return False, None  # perhaps a number goes on
        self._at = end
        return True, value

    def _incomplete(self, place, message, anywhere=False):
        near_end = anywhere or place >= len(self._text) - _TAIL
        if self._ended or not near_end:
            self._at = min(place, len(self._text))
            raise self._malformed(_words_of(message))
        if len(self._text) - self._at > _VALUE_CHARACTERS:
            raise self._malformed(f"a row or a list has more than {_VALUE_CHARACTERS} characters.")
        return False, None

    def _malformed(self, detail):
        before = self._text[: self._at]
        column = self._at - before.rfind("\n")
        return malformed(detail, self._lines + before.count("\n") + 1, column)
