"""Calls classify_arrow (arrow_classify.cpp) with tables of pyarrow:  arrow_classify.py LIBRARY TRAIN TEST TARGET"""

import ctypes
import sys

import pyarrow as pa
import pyarrow.csv


def read(path):
    missing = pyarrow.csv.ConvertOptions(null_values=["?", ""], strings_can_be_null=True)
    return pyarrow.csv.read_csv(path, convert_options=missing)


def stream_of(table):
    stream = (ctypes.c_void_p * 5)()  # an ArrowArrayStream
    table.to_reader()._export_to_c(ctypes.addressof(stream))
    return stream


library, train, test, target = sys.argv[1:]
result, message = (ctypes.c_void_p * 5)(), ctypes.create_string_buffer(200)
test = read(test)
failed = ctypes.CDLL(library).classify_arrow(
    stream_of(read(train)), stream_of(test.drop_columns([target])), target.encode(), result, message, ctypes.c_int64(200))
if failed:
    sys.exit(message.value.decode())
predictions = pa.RecordBatchReader._import_from_c(ctypes.addressof(result)).read_all()["prediction"].to_pylist()
right = sum(a == b for a, b in zip(predictions, test[target].to_pylist()))
print(f"{right} of {test.num_rows} right, through pyarrow")
