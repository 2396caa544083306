"""Accuracy and copying with samplers whose behaviour is known: one that copies, one that computes."""

import math
import re

import pytest

from cloze.evaluation.accuracy import accuracy, answer_all, mean_pass_at_k
from cloze.evaluation.copying import follow_rate, forge
from cloze.guidance.guide import GuideSettings, guided_prompt, unguided_prompt
from cloze.problems.arithmetic import generate
from cloze.problems.record import Problem
from cloze.rollouts.sampler import Completion, SamplingParams

PROBLEMS = generate(12, steps=3, distractors=1, split="dev")
PARAMS = SamplingParams(64)


class Scripted:
    """A sampler that answers a prompt's text with `answer(text, nth)`."""

    def __init__(self, tokenizer, answer):
        self.tokenizer, self.answer, self.calls = tokenizer, answer, []

    def sample(self, prompts, params, seed, budgets=None):
        self.calls.append(len(prompts))
        made = []
        for nth, prompt in enumerate(prompts):
            ids = self.tokenizer(self.answer(self.tokenizer.decode(prompt), nth), add_special_tokens=False)["input_ids"]
            made.append(Completion(tuple(ids), (0.0,) * len(ids), (0.0,) * len(ids), False))
        return made

    def decode(self, ids):
        return self.tokenizer.decode(ids)


def truth(text):
    return next(problem.target for problem in PROBLEMS if problem.question in text)


def copies(text, nth):
    shown = re.findall(r"#### (\d+)", text)
    return f"#### {shown[-1]}" if shown else "#### 0"


def computes(text, nth):
    return f"#### {truth(text)}"


def test_mean_at_n_and_pass_at_k_by_hand(tokenizer):
    sampler = Scripted(tokenizer, lambda text, nth: f"#### {truth(text) if nth % 4 == 0 else 0}")
    prompts = [unguided_prompt(problem, tokenizer, GuideSettings()) for problem in PROBLEMS]
    answers = answer_all(sampler, PROBLEMS, prompts, PARAMS, samples=4, chunk=5)
    assert sampler.calls == [20, 20, 8]
    result = accuracy(answers)
    assert (result.mean, result.problems, result.samples, result.unscored) == (0.25, 12, 4, 0)
    assert (result.low, result.high) == (0.25, 0.25)
    assert mean_pass_at_k(answers, 1) == pytest.approx(0.25)
    assert mean_pass_at_k(answers, 2) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="8 scored"):
        mean_pass_at_k(answers, 8)


def test_what_cannot_be_scored_is_left_out_and_counted(tokenizer):
    broken = Problem(id="x", question="Q?", target="$", verifier_settings={"extract": "hash"})
    sampler = Scripted(tokenizer, lambda text, nth: "#### 1")
    prompts = [unguided_prompt(broken, tokenizer, GuideSettings())]
    result = accuracy(answer_all(sampler, [broken], prompts, PARAMS))
    assert (result.unscored, result.problems) == (1, 0)
    assert math.isnan(result.mean)


def test_forged_trace_is_consistent_and_changes_only_computed_values():
    for problem in PROBLEMS:
        forged = forge(problem)
        assert forged.question == problem.question and forged.target != problem.target
        plan, *lines, last = forged.trace.splitlines()
        assert plan == problem.trace.splitlines()[0] and last == f"#### {forged.target}"
        results = [line.rpartition("=")[2] for line in lines]
        operands = [line.split("=")[2][:3] for line in lines]
        assert operands[0] == plan.partition("=")[2]
        assert operands[1:] == results[:-1] and results[-1] == forged.target
        assert not set(results) & {line.rpartition("=")[2] for line in problem.trace.splitlines()[1:-1]}
        assert len(forged.trace) == len(problem.trace)
    assert forge(PROBLEMS[0]) == forge(PROBLEMS[0])


def test_nothing_to_forge_gives_none():
    assert forge(Problem(id="p", question="What is 5?", target="5", trace="It is 5.")) is None
    assert forge(Problem(id="p", question="Q", target="5")) is None


def test_a_copier_follows_the_forgery_and_a_solver_keeps_the_truth(tokenizer):
    full = GuideSettings(show=True)
    copier = follow_rate(Scripted(tokenizer, copies), tokenizer, PROBLEMS, full, PARAMS)
    assert (copier.follow_rate, copier.truth_rate, copier.problems) == (1.0, 0.0, 12)
    solver = follow_rate(Scripted(tokenizer, computes), tokenizer, PROBLEMS, full, PARAMS)
    assert (solver.follow_rate, solver.truth_rate) == (0.0, 1.0)


def test_a_mask_leaves_nothing_to_follow(tokenizer):
    masked = GuideSettings(show=True, masked=True)
    for problem in PROBLEMS:
        assert forge(problem).target not in guided_prompt(forge(problem), tokenizer, masked).hint
    assert follow_rate(Scripted(tokenizer, copies), tokenizer, PROBLEMS, masked, PARAMS).follow_rate == 0.0


def test_forged_values_are_consistent_across_spellings_and_never_in_the_question():
    problem = Problem(id="p", question="Of 7, 8 and 9?", target="6", trace="It is 1,000, so 1000 - 994 = 6.\n#### 6")
    for seed in range(30):
        forged = forge(problem, seed)
        first, second = re.match(r"It is ([\d,]+), so ([\d,]+) - ", forged.trace).groups()
        assert first == second and forged.target not in {"6", "7", "8", "9"}


def test_a_prefix_in_the_policys_own_turn_counts_as_its_answer(tokenizer):
    sampler = Scripted(tokenizer, lambda text, nth: "!")
    settings = GuideSettings(show=True, placement="assistant_prefix")
    prompts = [guided_prompt(problem, tokenizer, settings) for problem in PROBLEMS]
    shown = answer_all(sampler, PROBLEMS, prompts, PARAMS)
    assert all(group[0].text.endswith("!") and group[0].text.startswith(prompt.hint)
               for group, prompt in zip(shown, prompts, strict=True))  # fmt: skip
