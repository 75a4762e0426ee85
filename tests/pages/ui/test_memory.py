"""What glibc does with what it holds; each in a process of its own, since nothing of it can be taken back."""

import ctypes
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pages.ui import memory

ROOT = Path(__file__).resolve().parents[3]
GLIBC = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_info")
only_glibc = pytest.mark.skipif(not GLIBC, reason="other allocators are left as they are")


def run(script: str) -> list[int]:
    """Run a script in a process of its own, and return the numbers that it prints."""
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    return [int(word) for word in done.stdout.split()]


@only_glibc
@pytest.mark.parametrize("shared", [False, True])
def test_threads_share_a_heap(shared: bool) -> None:
    (heaps,) = run(f"""
        import ctypes, tempfile, threading
        from pages.ui import memory

        if {shared}:
            memory.keep_small()
        c, many = ctypes.CDLL(None), threading.Barrier(12)
        c.malloc.restype = c.fopen.restype = ctypes.c_void_p

        def take():
            many.wait()
            c.malloc(ctypes.c_size_t(1000))
            many.wait()

        threads = [threading.Thread(target=take) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with tempfile.NamedTemporaryFile("r") as told:
            c.fopen.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
            c.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
            c.fclose.argtypes = [ctypes.c_void_p]
            file = c.fopen(told.name.encode(), b"w")
            c.malloc_info(0, file)
            c.fclose(file)
            print(told.read().count("<heap nr="))
    """)
    assert heaps <= memory.HEAPS if shared else heaps > memory.HEAPS


@pytest.mark.skipif(sys.platform != "linux", reason="other systems are left as they are")
def test_the_system_makes_no_huge_pages() -> None:
    before, after = run("""
        from pages.ui import memory

        def enabled():
            status = open("/proc/self/status").read()
            return int(status.partition("THP_enabled:")[2].split()[0])

        print(enabled())
        memory.keep_small()
        print(enabled())
    """)
    if not before:
        pytest.skip("this system makes none for anybody")
    assert after == 0


@only_glibc
def test_what_is_free_between_what_is_held_is_given_back() -> None:
    before, after = run("""
        import ctypes
        from pages.ui import memory

        def resident():
            return int(open("/proc/self/statm").read().split()[1]) * 4096

        c = ctypes.CDLL(None)
        c.malloc.restype, c.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
        size = 50_000
        taken = [c.malloc(ctypes.c_size_t(size)) for _ in range(1000)]
        for place in taken:
            ctypes.memset(place, 1, size)
        for number, place in enumerate(taken):
            if number % 10:
                c.free(place)
        print(resident())
        memory.give_back()
        print(resident())
    """)
    assert before - after > 30_000_000


def test_another_allocator_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_name: None) -> object:
        return object()

    def windows(_name: None) -> object:
        raise TypeError("expected a string")

    for library in (none, windows):
        monkeypatch.setattr(ctypes, "CDLL", library)
        memory.keep_small()
        memory.give_back()
