"""The ledger of model calls: what was spent, and the budgets that stop spending.

A call is reserved before it is made, in a transaction that sees what every worker reserved, so that
no two spend the same tokens. A reservation that nobody settled (its process died) stays spent for
the day: whether the model answered, nobody knows.
"""

from __future__ import annotations

from contextlib import contextmanager

from holdfast.errors import InvalidInput, Refused
from holdfast.model.job import Budget, ModelCall
from holdfast.model.times import DAY_US, day_of, from_us, given_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from datetime import datetime

    from holdfast.core.preferences import Settings
    from holdfast.engine.work import Core
    from holdfast.model.job import Spent
    from holdfast.ports import Transaction

MILLION = 1_000_000


def price_of(settings: Settings, tokens_in: int, tokens_out: int) -> int | None:
    """Money in millionths, rounded up; None where no price is set."""
    price_in, price_out = settings.whole("model.price_in"), settings.whole("model.price_out")
    if not price_in and not price_out:
        return None
    return -(-(tokens_in * price_in + tokens_out * price_out) // MILLION)


class Metered:
    """A call under way, and what it took."""

    def __init__(self, call: ModelCall) -> None:
        self.call = call
        self.tokens = (call.tokens_in, call.tokens_out)

    def used(self, tokens_in: int, tokens_out: int) -> None:
        if min(tokens_in, tokens_out) < 0:
            raise InvalidInput(
                "tokens_invalid",
                f"a model says that it took {tokens_in:,} and {tokens_out:,} tokens",
                hint="leave it out: what was reserved counts",
            )
        self.tokens = (tokens_in, tokens_out)


class Meter:
    """The ledger for one purpose, of one job where there is one: `ports.review.Meter`.

    `renew` is told of every call in the transaction that reserves it: whoever works on the job is
    at it for so much longer.
    """

    def __init__(
        self,
        core: Core,
        settings: Settings,
        purpose: str,
        job: int | None,
        renew: Callable[[Transaction], object] = lambda _: None,
    ) -> None:
        self._core, self._settings = core, settings
        self._purpose, self._job, self._renew = purpose, job, renew

    @contextmanager
    def call(self, model: str, tokens_in: int, tokens_out_max: int) -> Generator[Metered]:
        metered = Metered(
            self._core.storage.write(lambda tx: self._reserve(tx, model, tokens_in, tokens_out_max))
        )
        began_us = self._core.clock()
        try:
            yield metered
        except BaseException:
            self._settle(metered.call, "failed", tokens_in, 0, began_us)
            raise
        self._settle(metered.call, "done", *metered.tokens, began_us)

    def _reserve(
        self, tx: Transaction, model: str, tokens_in: int, tokens_out_max: int
    ) -> ModelCall:
        at_us, settings, wanted = self._core.clock(), self._settings, tokens_in + tokens_out_max
        micros = price_of(settings, tokens_in, tokens_out_max)
        tokens_day, money_day = tx.spent_tokens(day_of(at_us) * DAY_US)
        of_job = 0 if self._job is None else tx.job_tokens(self._job)
        _within("model.tokens_review", settings.whole("model.tokens_review"), of_job + wanted)
        _within("model.tokens_day", settings.whole("model.tokens_day"), tokens_day + wanted)
        _within("model.money_day", settings.whole("model.money_day"), money_day + (micros or 0))
        call = ModelCall(
            number=tx.new_call_number(),
            at=from_us(at_us),
            purpose=self._purpose,
            model=model,
            job=self._job,
            state="reserved",
            tokens_in=tokens_in,
            tokens_out=tokens_out_max,
            micros=micros,
        )
        tx.put_call(call)
        self._renew(tx)
        return call

    def _settle(
        self, call: ModelCall, state: str, tokens_in: int, tokens_out: int, began_us: int
    ) -> None:
        after = call.replace(
            state=state,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            micros=price_of(self._settings, tokens_in, tokens_out),
            took_us=max(self._core.clock() - began_us, 0),
        )
        self._core.storage.write(lambda tx: tx.put_call(after))


def _within(name: str, budget: int, wanted: int) -> None:
    if wanted > budget:
        raise Refused(
            "budget_spent",
            f"this call would come to {wanted:,}, and the budget {name} is {budget:,}",
            hint="wait for the next day, or raise it: holdfast preferences set",
        )


def spent(core: Core, since: datetime | None, until: datetime | None) -> Sequence[Spent]:
    """What was spent, by purpose and model; of all times unless asked otherwise."""
    since_us = -(2**63) if since is None else given_us(since)
    until_us = 2**63 - 1 if until is None else given_us(until)
    return core.storage.read(lambda snapshot: snapshot.spent(since_us, until_us))


def budget(core: Core, settings: Settings) -> Budget:
    """How the day stands. The next call may need more than what is left; it is then not made."""
    since_us = day_of(core.clock()) * DAY_US
    tokens, micros = core.storage.read(lambda snapshot: snapshot.spent_tokens(since_us))
    found = Budget(
        state="open",
        model="" if settings.word("model.provider") == "none" else settings.word("model.name"),
        tokens_today=tokens,
        tokens_day=settings.whole("model.tokens_day"),
        tokens_review=settings.whole("model.tokens_review"),
        micros_today=micros,
        micros_day=settings.whole("model.money_day"),
    )
    asks = found.model and settings.word("review.reviewer") != "rules"
    if not (asks and found.tokens_day and found.tokens_review):
        return found.replace(state="off")
    priced = price_of(settings, MILLION, MILLION) is not None
    over = tokens >= found.tokens_day or (priced and micros >= found.micros_day)
    return found.replace(state="spent") if over else found
