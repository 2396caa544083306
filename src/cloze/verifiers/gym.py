"""The gym verifier: answers to tasks of reasoning-gym, all or nothing.

The answer is the last complete `<answer>...</answer>`, and it is right or wrong: nothing is paid in part, for length,
form or nearness. Most tasks are checked against the target alone by a function of `gym_checks`, which `CHECKS` names;
these run without reasoning-gym. The tasks of `SEARCHED` have many right answers; for them the library draws the
problem again from the task, seed and index in the settings, and its scorer must give exactly 1.0. Those scorers were
read and evaluate no text; one that raises on an answer makes it wrong, and one that does not give 1.0 to the target
itself, or an installed version that draws another problem, makes the verdict an "error" without a reward.

What the scorers of the library (0.1.25) pay that is wrong, and why each is not used:

- text around the answer in part (all tasks without a scorer of their own), anything at all (game_of_life_halting),
  "nan" (complex_arithmetic), the first of several numbers, its sign ignored (gsm_symbolic), any four numbers
  (puzzle24), numbers off by one (number_sorting), ten right letters of a longer word (figlet_font), a small number off
  by all of itself (coin_flip), a thousandth too much (decimal_arithmetic), a grid with more rows (game_of_life);
- text handed to `eval` (binary_matrix, n_queens, spiral_matrix, string_insertion) or to sympy's `parse_expr`, which is
  `eval` (countdown, intermediate_integration, polynomial_multiplication, puzzle24, simple_integration);
- text that raises (prime_factorization, survo).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from time import perf_counter
from typing import Any

from cloze.errors import InputError
from cloze.problems.gym import REFUSED, dataset, draw, question_digest, write_config
from cloze.verifiers import gym_checks as checks
from cloze.verifiers.answer import after_thinking, last_tag
from cloze.verifiers.verdict import Verdict

LONGEST = 4_000  # an answer may have so many characters, or four times those of the target if that is more

CHECKS: dict[str, checks.Check] = {
    **dict.fromkeys(
        [
            "ab",
            "acre",
            "arc_1d",
            "arc_agi",
            "base_conversion",
            "bf",
            "binary_matrix",
            "caesar_cipher",
            "circuit_logic",
            "course_schedule",
            "emoji_mystery",
            "futoshiki",
            "isomorphic_strings",
            "list_functions",
            "mahjong_puzzle",
            "manipulate_matrix",
            "mini_sudoku",
            "modulo_grid",
            "number_filtering",
            "path_star",
            "ransom_note",
            "rearc",
            "rotate_matrix",
            "self_reference",
            "spiral_matrix",
            "string_insertion",
            "string_manipulation",
            "string_splitting",
            "string_synthesis",
            "sudoku",
            "survo",
            "syllogism",
            "word_sequence_reversal",
            "word_sorting",
        ],
        checks.same_text,
    ),
    **dict.fromkeys(
        [
            "color_cube_rotation",
            "dice",
            "family_relationships",
            "figlet_font",
            "game_of_life_halting",
            "letter_jumble",
            "needle_haystack",
            "sentence_reordering",
            "spell_backward",
            "tsumego",
            "zebra_puzzles",
        ],
        checks.same_folded,
    ),
    **dict.fromkeys(
        [
            "aiw",
            "basic_arithmetic",
            "binary_alternation",
            "calendar_arithmetic",
            "chain_sum",
            "count_bits",
            "count_primes",
            "decimal_chain_sum",
            "gcd",
            "gsm_symbolic",
            "largest_island",
            "lcm",
            "leg_counting",
            "letter_counting",
            "maze",
            "number_sequence",
            "products",
            "rectangle_count",
            "rotten_oranges",
            "simple_equations",
            "simple_geometry",
        ],
        checks.same_number,
    ),
    "advanced_geometry": checks.geometry,
    "bitwise_arithmetic": checks.hexadecimal,
    "coin_flip": checks.probability,
    "complex_arithmetic": checks.complex_number,
    "countdown": checks.numbers_game,
    "decimal_arithmetic": checks.significant(12, 2),
    "fraction_simplification": checks.simplest_fraction,
    "game_of_life": checks.same_json,
    "group_anagrams": checks.groups,
    "knights_knaves": checks.roles,
    "number_format": checks.numbers_within("0.005"),
    "number_sorting": checks.number_list,
    "palindrome_generation": checks.palindrome,
    "palindrome_partitioning": checks.partitions,
    "polynomial_equations": checks.numbers_within("0.0001", ordered=False),
    "polynomial_multiplication": checks.expanded,
    "pool_matrix": checks.numbers_within("0.005"),
    "power_function": checks.significant(3, 0),
    "prime_factorization": checks.factors,
    "puzzle24": checks.numbers_game,
    "simple_integration": checks.antiderivative,
    "time_intervals": checks.duration,
}
SEARCHED: dict[str, str] = {  # and what their answers are written with: the scorers skip what they do not know
    "cryptarithm": r"[A-Za-z0-9=,\s]+",
    "jugs": r"[A-Za-z\[\]\"',>\s-]+",
    "kakurasu": r"[01\s]+",
    "knight_swap": r"[A-Za-z0-9\[\]\"',\s]+",
    "n_queens": r"[Q_\s]+",
    "quantum_lock": r"[A-Ca-c](?:\s*(?:→|->|,|\s)\s*[A-Ca-c])*",
    "shortest_path": r"[a-z\s]+",
    "sokoban": r"[LRUD]+",
    "tower_of_hanoi": r"(?:Move disk [0-9]+ from Peg [0-9]+ to Peg [0-9]+\s*)+",
    "word_ladder": r"[A-Za-z,\s]+",
}


def verify_gym(
    completion: str,
    target: str,
    *,
    aliases: Sequence[str] = (),
    task: str = "",
    seed: int = 0,
    index: int = 0,
    config: Mapping[str, Any] | None = None,
    question: str = "",
) -> Verdict:
    """Score a completion of a problem of the family `gym`.

    Args:
        completion: what the policy wrote. If it opens a `<think>` block, only what follows the last `</think>` counts.
        target: the answer that the task gives.
        aliases: other answers that count as the target.
        task, seed, index, config, question: the problem within reasoning-gym, and the digest of its question, as the
            family writes them.

    Returns:
        The verdict: reward 1.0 or 0.0; None with status "error" when the task's own scorer does not accept the target.

    Raises:
        InputError: unknown or refused task, or reasoning-gym is needed and not installed.
    """
    started = perf_counter()
    if task in REFUSED or (task not in CHECKS and task not in SEARCHED):
        _refuse(task)

    def verdict(reward: float | None, status: str, reason: str, extracted: str | None = None) -> Verdict:
        return Verdict(reward, status, extracted, target, reason, perf_counter() - started)

    if not target.strip():
        return verdict(None, "unparseable_gold", "the target is empty")
    longest = max(LONGEST, 4 * len(target))
    text, reason = after_thinking(completion)
    if text is None:
        return verdict(0.0, "no_answer", reason)
    answer, where = last_tag(text, limit=longest + 100_000)
    if answer is None:
        return verdict(0.0, "no_answer", where)
    if not answer:
        return verdict(0.0, "no_answer", f"{where} is empty")
    if len(answer) > longest:
        return verdict(0.0, "wrong", f"{where} is longer than {longest} characters", answer[:200])
    if task in SEARCHED:
        written = write_config(config)
        fault = _fault(task, seed, index, written, target, question)
        if fault:
            return verdict(None, "error", fault)
        right = _scored(task, seed, index, written, answer)
    else:
        right = any(_checked(CHECKS[task], answer, text) for text in (target, *aliases))
    return verdict(
        *((1.0, "correct") if right else (0.0, "wrong")), f"{where} is {'' if right else 'not '}right", answer
    )


def _checked(check: checks.Check, answer: str, target: str) -> bool:
    try:
        return check(answer, target)
    except (ArithmeticError, ValueError):  # a text that is no number, or beyond what numbers here can be
        return False


def _refuse(task: str) -> None:
    reason = REFUSED.get(task)
    what = f"the gym task {task!r} is refused: {reason}" if reason else f"no check is known for the gym task {task!r}"
    raise InputError(what, field="task", mend=f"use one of {', '.join(sorted([*CHECKS, *SEARCHED]))}")


def _scored(task: str, seed: int, index: int, config: str, answer: str) -> bool:
    """Whether the library's scorer gives an answer exactly 1.0."""
    if not re.fullmatch(SEARCHED[task], answer):
        return False
    entry = draw(task, seed, index, config)
    if task == "n_queens":
        return any(checks.same_text(answer, board) for board in entry["metadata"]["valid_answers"])
    try:
        return bool(dataset(task, seed, config).score_answer(answer, deepcopy(entry)) == 1.0)
    except Exception:  # these scorers are not made for text that is no answer
        return False


@lru_cache(maxsize=4096)
def _fault(task: str, seed: int, index: int, config: str, target: str, question: str) -> str:
    """Why a problem cannot be scored, or empty."""
    if question and question_digest(draw(task, seed, index, config)) != question:
        return "the installed reasoning-gym draws another problem from this seed and index"
    return "" if _scored(task, seed, index, config, target) else "the task's own scorer does not accept the target"
