"""Plain math-verify, called as its README says, for the tables beside ours. Runs in a worker process of its own."""

from __future__ import annotations


def outcome(answer: str, target: str) -> str:
    """What `verify(parse(target), parse(answer))` says: "correct", "wrong", or the status that it cannot name."""
    from math_verify import parse, verify

    try:
        gold = parse(f"${target}$")
        if not gold:
            return "unparseable_gold"
        given = parse(answer)
        if not given:
            return "no_answer"
        return "correct" if verify(gold, given) else "wrong"
    except Exception as error:
        return f"raises {type(error).__name__}"


def warm_up() -> None:
    """Import it and read one formula."""
    outcome(r"\boxed{x+1}", "1+x")
