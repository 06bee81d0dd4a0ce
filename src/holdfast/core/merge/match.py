"""Which stretches of two sequences belong together.

Equal ends are taken first. Between them, items that occur once on both sides are anchors, of which
the longest rising run is kept; then each gap is treated the same way. A gap without anchors is
searched by the greedy shortest-edit method. All of it draws on one budget that is linear in the
input: typical input uses little of it, and hostile input ends with a gap that counts as replaced.
That is a coarser answer, never a wrong one. The same input always gives the same answer.
"""

from __future__ import annotations

from bisect import bisect_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    Block = tuple[int, int, int]
    Range = tuple[int, int, int, int]

STEPS_BASE, STEPS_PER_ITEM = 1_000_000, 20
GAP_STEPS_BASE, GAP_STEPS_PER_ITEM = 20_000, 10


def match(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Block]:
    """Blocks (i, j, n) with a[i:i+n] == b[j:j+n], rising in both; none empty, none touching."""
    numbers: dict[Hashable, int] = {}
    left = [numbers.setdefault(item, len(numbers)) for item in a]
    right = [numbers.setdefault(item, len(numbers)) for item in b]
    return _Matcher(left, right).run()


class _Matcher:
    def __init__(self, a: list[int], b: list[int]) -> None:
        self.a = a
        self.b = b
        self.steps_left = STEPS_BASE + STEPS_PER_ITEM * (len(a) + len(b))
        self.blocks: list[Block] = []
        self.gaps: list[Range] = [(0, len(a), 0, len(b))]

    def run(self) -> list[Block]:
        while self.gaps:
            self._narrow(*self.gaps.pop())
        return _joined(sorted(self.blocks))

    def _narrow(self, a0: int, a1: int, b0: int, b1: int) -> None:
        """Take equal ends, then split what is between them."""
        a, b = self.a, self.b
        i, j = a0, b0
        while i < a1 and j < b1 and a[i] == b[j]:
            i += 1
            j += 1
        self._keep(a0, b0, i - a0)
        k, m = a1, b1
        while k > i and m > j and a[k - 1] == b[m - 1]:
            k -= 1
            m -= 1
        self._keep(k, m, a1 - k)
        if i < k and j < m:
            self.steps_left -= (k - i) + (m - j)
            if self.steps_left > 0:
                self._split(i, k, j, m)

    def _split(self, a0: int, a1: int, b0: int, b1: int) -> None:
        anchors = _anchors(self.a[a0:a1], self.b[b0:b1])
        if anchors is None:
            return
        if not anchors:
            self._search(a0, a1, b0, b1)
            return
        i, j = a0, b0
        for x, y in anchors:
            self.gaps.append((i, a0 + x, j, b0 + y))
            self._keep(a0 + x, b0 + y, 1)
            i, j = a0 + x + 1, b0 + y + 1
        self.gaps.append((i, a1, j, b1))

    def _search(self, a0: int, a1: int, b0: int, b1: int) -> None:
        """Greedy shortest edit, one round for each further edit, until a share is used up."""
        a, b = self.a[a0:a1], self.b[b0:b1]
        n, m = len(a), len(b)
        floor = max(0, self.steps_left - GAP_STEPS_BASE - GAP_STEPS_PER_ITEM * (n + m))
        reach = [0] * (2 * (n + m) + 3)
        rounds: list[list[int]] = []
        for edits in range(n + m + 1):
            self.steps_left -= 2 * edits + 1
            if self.steps_left < floor:
                return
            rounds.append(reach[n + m - edits : n + m + edits + 3])
            for k in range(-edits, edits + 1, 2):
                at = n + m + 1 + k
                down = k == -edits or (k != edits and reach[at - 1] < reach[at + 1])
                x = reach[at + 1] if down else reach[at - 1] + 1
                start = x
                while x < n and x - k < m and a[x] == b[x - k]:
                    x += 1
                self.steps_left -= x - start
                reach[at] = x
                if x >= n and x - k >= m:
                    self._trace(rounds, a0, b0, n, m)
                    return

    def _trace(self, rounds: list[list[int]], a0: int, b0: int, n: int, m: int) -> None:
        """Walk back over the rounds; each saved the reach before it, from -edits-1 to edits+1."""
        x, y = n, m
        for edits in range(len(rounds) - 1, 0, -1):
            reach = rounds[edits]
            k = x - y
            at = k + edits + 1
            down = k == -edits or (k != edits and reach[at - 1] < reach[at + 1])
            start = reach[at + 1] if down else reach[at - 1] + 1
            self._keep(a0 + start, b0 + start - k, x - start)
            x, y = (start, start - k - 1) if down else (start - 1, start - k)
        self._keep(a0, b0, x)

    def _keep(self, i: int, j: int, n: int) -> None:
        if n:
            self.blocks.append((i, j, n))


def _anchors(a: list[int], b: list[int]) -> list[tuple[int, int]] | None:
    """The longest rising run of items that are single on both sides; None if none is on both."""
    places = _singles(b)
    common = set(a) & set(b)
    if not common:
        return None
    singles = _singles(a)
    pairs = [(x, places[item]) for item, x in singles.items() if item in places]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, y) in enumerate(pairs):
        at = bisect_left(tails, y)
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [y]
        ends[at : at + 1] = [number]
    run: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _singles(items: list[int]) -> dict[int, int]:
    """Each item that occurs once, with its place, in the order of the places."""
    places: dict[int, int] = {}
    for place, item in enumerate(items):
        places[item] = -1 if item in places else place
    return {item: place for item, place in places.items() if place >= 0}


def _joined(blocks: list[Block]) -> list[Block]:
    joined: list[Block] = []
    for i, j, n in blocks:
        if joined and joined[-1][0] + joined[-1][2] == i and joined[-1][1] + joined[-1][2] == j:
            joined[-1] = (joined[-1][0], joined[-1][1], joined[-1][2] + n)
        else:
            joined.append((i, j, n))
    return joined
