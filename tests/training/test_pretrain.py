"""The base policy that ships: what it is, what it can do, and that its lessons are what they claim."""

import json
import random
from dataclasses import asdict, replace

import pytest

from cloze.engines.load import TINY, load_model
from cloze.evaluation.accuracy import accuracy, answer_all
from cloze.evaluation.copying import follow_rate
from cloze.guidance.guide import GuideSettings, guided_prompt
from cloze.problems.arithmetic import generate, split_of
from cloze.rollouts.sampler import SamplingParams
from cloze.rollouts.transformers_sampler import TransformersSampler
from cloze.training.pretrain import STAGES, PretrainSettings, draw_lesson, pretrain


def test_the_base_is_small_and_names_the_settings_that_made_it():
    model, tokenizer = load_model("tiny")
    assert 100_000 <= sum(p.numel() for p in model.parameters()) <= 500_000
    assert sum(path.stat().st_size for path in TINY.iterdir()) < 2_000_000
    assert json.loads((TINY / "pretrain.json").read_text()) == json.loads(json.dumps(asdict(PretrainSettings())))
    assert (
        tokenizer.decode(tokenizer("any text: \u00e9\u4e2d\U0001f600")["input_ids"])
        == "any text: \u00e9\u4e2d\U0001f600"
    )


def test_the_base_copies_a_full_trace_and_is_rarely_right_by_itself():
    model, tokenizer = load_model("tiny")
    sampler, params = TransformersSampler(model, tokenizer), SamplingParams(96)
    problems = generate(96, split="dev", steps=4, distractors=1)

    def right(**settings):
        prompts = [guided_prompt(problem, tokenizer, GuideSettings(**settings)) for problem in problems]
        return accuracy(answer_all(sampler, problems, prompts, params, seed=1)).mean

    assert right(show=True) > 0.85
    assert 0.01 < right(show=True, masked=True) < 0.25
    assert right() < 0.05
    assert follow_rate(sampler, tokenizer, problems, GuideSettings(show=True), params).follow_rate > 0.85


@pytest.mark.parametrize("stage", STAGES, ids=[stage.name for stage in STAGES])
def test_lessons_come_from_the_training_split_and_end(tokenizer, stage):
    rng, settings = random.Random(0), PretrainSettings()
    kinds = set()
    for _ in range(60):
        lesson = draw_lesson(rng, tokenizer, settings, stage)
        prompt, completion = tokenizer.decode(lesson.prompt), tokenizer.decode(lesson.completion)
        question = prompt.removeprefix("<|user|>").split("?")[0] + "?"
        assert split_of(question) == "train"
        assert completion.endswith("<|end|>") and completion.count("<|end|>") == 1 and "####" in completion
        assert ("<" in completion.removesuffix("<|end|>")) == stage.plans
        assert tokenizer.decode(lesson.prompt[: lesson.start]).endswith("?")
        assert lesson.kind != "plain" or "worked solution" not in prompt
        assert "[N1]" not in completion
        kinds.add(lesson.kind)
    assert kinds <= set(stage.kinds) and len(kinds) >= min(3, len(stage.kinds))


def test_a_short_pretraining_learns_and_is_reproducible(tmp_path):
    short = PretrainSettings(
        stages=(replace(STAGES[0], steps=25, kinds={"plain": 1.0}),), batch_tokens=600, hidden=32, intermediate=64
    )
    losses = []
    for name in ("a", "b"):
        seen = []
        pretrain(short, tmp_path / name, lambda stage, done, loss, seen=seen: seen.append(loss))
        losses.append(seen)
    assert losses[0] == losses[1] and losses[0][-1] < losses[0][0] - 0.1
    files = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("a", "b")]
    assert files[0] == files[1]
