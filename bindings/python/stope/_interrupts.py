"""Ctrl-C while another library is imported: such code may drop the exception, and then it is raised again."""

import signal
import threading
from contextlib import contextmanager

__all__ = ["interrupts_kept"]


@contextmanager
def interrupts_kept():
    """Raise KeyboardInterrupt at the end if Ctrl-C came in between and got lost.

    Destructors and the start of extension modules drop exceptions, or make an ImportError of them. Programs that have
    a handler of their own are left alone, and so are all threads but the main one, which gets no signals.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    came = []

    def note(number, frame):
        came.append(number)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception as error:
        if came:
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt
