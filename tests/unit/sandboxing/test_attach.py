"""Output is split by stream, bounded by head and tail, and counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.sandboxing.attach import Collector, Splitter


def frame(stream: int, data: bytes) -> bytes:
    return bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


@given(
    frames=st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=40)), max_size=20),
    cuts=st.lists(st.integers(1, 9), min_size=1, max_size=9),
)
def test_streams_are_told_apart_however_the_bytes_are_cut(
    frames: list[tuple[int, bytes]], cuts: list[int]
) -> None:
    data = b"".join(frame(*each) for each in frames)
    out, err = Collector(10_000), Collector(10_000)
    splitter = Splitter(out, err)
    at = step = 0
    while at < len(data):
        splitter.feed(data[at : at + cuts[step % len(cuts)]])
        at, step = at + cuts[step % len(cuts)], step + 1
    assert out.data() == b"".join(piece for stream, piece in frames if stream == 1)
    assert err.data() == b"".join(piece for stream, piece in frames if stream == 2)


@given(pieces=st.lists(st.binary(max_size=30), max_size=30), limit=st.integers(2, 50))
def test_the_head_and_the_tail_are_kept_and_the_rest_is_counted(pieces: list[bytes], limit: int) -> None:
    sink = Collector(limit)
    for piece in pieces:
        sink.add(piece)
    whole = b"".join(pieces)
    head, left_out, tail = sink.parts
    if len(whole) <= limit:
        assert (head, left_out, tail) == (whole, 0, b"")
    else:
        assert whole.startswith(head)
        assert whole.endswith(tail)
        assert (len(head) + len(tail), left_out) == (limit, len(whole) - limit)


def test_memory_stays_bounded_under_endless_output() -> None:
    sink = Collector(1000)
    for _ in range(10_000):
        sink.add(b"y\n" * 50)
    assert sink.seen == 1_000_000
    assert sum(map(len, sink._tail)) < 1000


@given(st.binary(max_size=3000), st.integers(200, 1000))
def test_text_never_exceeds_the_limit_whatever_the_bytes(data: bytes, limit: int) -> None:
    sink = Collector(limit - 100)
    sink.add(data)
    assert len(sink.text(limit).encode()) <= limit


def test_what_was_left_out_is_stated_where_it_was() -> None:
    sink = Collector(10)
    sink.add(b"0123456789abcdefghij")
    assert sink.text(1000) == "01234\n[... 10 bytes of output left out ...]\nfghij"
    assert Collector(10).text(1000) == ""


def test_a_collector_that_may_keep_nothing_counts_what_came() -> None:
    sink = Collector(0)
    for _ in range(3):
        sink.add(b"abc")
    assert (sink.seen, sink.data()) == (9, b"")
