"""The sampler against a plain pass of the model, and the promises of its interface."""

import pytest
import torch

from cloze.errors import InputError
from cloze.rollouts.prefill import prefill
from cloze.rollouts.sampler import SamplingParams
from cloze.rollouts.transformers_sampler import TransformersSampler, draw, stop_ids

PROMPTS = [(10, 11, 12), (20,), (30, 31, 32, 33, 34, 35, 36), (10, 11, 12)]


def plain_logits(model, ids):
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids])).logits[0].float()


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_logprobs_and_entropy_are_those_of_the_sampled_tokens(make_model, tokenizer, temperature):
    model = make_model()
    sampler = TransformersSampler(model, tokenizer)
    completions = sampler.sample(PROMPTS, SamplingParams(12, temperature), seed=3)
    assert len({c.token_ids for c in completions}) > 1
    for prompt, completion in zip(PROMPTS, completions, strict=True):
        logits = plain_logits(model, list(prompt + completion.token_ids))[len(prompt) - 1 : -1] / temperature
        logprobs = torch.log_softmax(logits, -1)
        want = logprobs.gather(1, torch.tensor(completion.token_ids)[:, None])[:, 0]
        assert torch.tensor(completion.logprobs) == pytest.approx(want, abs=1e-5)
        entropy = -(logprobs.exp() * logprobs).sum(-1)
        assert torch.tensor(completion.entropy) == pytest.approx(entropy, abs=1e-4)


def test_a_row_alone_and_in_a_padded_batch_has_the_same_greedy_answer(make_model, tokenizer):
    sampler = TransformersSampler(make_model(1), tokenizer)
    params = SamplingParams(10, 0.0)
    together = sampler.sample(PROMPTS, params, seed=0)
    for prompt, completion in zip(PROMPTS, together, strict=True):
        alone = sampler.sample([prompt], params, seed=0)[0]
        assert alone.token_ids == completion.token_ids
        assert torch.tensor(alone.logprobs) == pytest.approx(torch.tensor(completion.logprobs), abs=1e-5)


def test_the_same_seed_gives_the_same_completions_and_another_does_not(make_model, tokenizer):
    sampler = TransformersSampler(make_model(), tokenizer)
    first = sampler.sample(PROMPTS, SamplingParams(12), seed=5)
    assert sampler.sample(PROMPTS, SamplingParams(12), seed=5) == first
    assert sampler.sample(PROMPTS, SamplingParams(12), seed=6) != first


def test_several_stop_ids_end_a_completion_and_the_terminal_token_is_kept(make_model, tokenizer):
    model = make_model(2)
    free = TransformersSampler(model, tokenizer)
    free.stop_ids = []
    long = free.sample([(10, 11)] * 64, SamplingParams(20), seed=0)
    seen = [c.token_ids for c in long]
    first, second = seen[0][4], seen[1][6]
    model.generation_config.eos_token_id = [first, second]
    assert set(stop_ids(model, tokenizer)) == {first, second, tokenizer.eos_token_id}
    ended = TransformersSampler(model, tokenizer).sample([(10, 11)] * 64, SamplingParams(20), seed=0)
    stops = {first, second, tokenizer.eos_token_id}
    assert {c.token_ids[-1] for c in ended if not c.truncated} >= {first, second}
    for completion in ended:
        assert not set(completion.token_ids[:-1]) & stops
        assert completion.truncated == (completion.token_ids[-1] not in stops)
        assert len(completion.token_ids) == len(completion.logprobs) == len(completion.entropy) <= 20


def test_budgets_bound_single_rows(make_model, tokenizer):
    sampler = TransformersSampler(make_model(), tokenizer)
    sampler.stop_ids = []
    got = sampler.sample(PROMPTS, SamplingParams(9), seed=0, budgets=[1, 5, 100, 9])
    assert [len(c.token_ids) for c in got] == [1, 5, 9, 9]
    assert all(c.truncated for c in got)


def test_rows_beyond_one_batch_come_back_in_order(make_model, tokenizer):
    sampler = TransformersSampler(make_model(), tokenizer, max_rows=2)
    params = SamplingParams(6, 0.0)
    got = [c.token_ids for c in sampler.sample(PROMPTS, params, seed=0)]
    whole = [c.token_ids for c in TransformersSampler(sampler.model, tokenizer).sample(PROMPTS, params, seed=0)]
    assert got == whole


def test_draws_follow_the_distribution():
    logits = torch.tensor([[0.0, 1.0, 2.0, -30.0]]).repeat(20_000, 1)
    token, logprob, _ = draw(logits, SamplingParams(1), torch.Generator().manual_seed(0))
    want = torch.softmax(logits[0], -1)
    assert torch.bincount(token, minlength=4) / 20_000 == pytest.approx(want, abs=0.012)
    assert logprob == pytest.approx(torch.log_softmax(logits[0], -1)[token])


def test_top_p_keeps_the_smallest_set_that_reaches_it():
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.15, 0.05]])).repeat(5_000, 1)
    token, _, _ = draw(logits, SamplingParams(1, 1.0, 0.7), torch.Generator().manual_seed(0))
    assert set(token.tolist()) == {0, 1}


def test_prefill_runs_equal_prompts_once(make_model):
    model = make_model()
    widths = []
    model.model.embed_tokens.register_forward_hook(
        lambda module, inputs, output: widths.append(tuple(output.shape[:2]))
    )
    start = prefill(model, PROMPTS, 0)
    assert widths == [(3, 7)]
    assert start.lengths_B.tolist() == [3, 1, 7, 3]
    assert torch.equal(start.logits_BV[0], start.logits_BV[3])


def test_bad_parameters_are_refused(make_model):
    with pytest.raises(InputError, match="max_tokens"):
        SamplingParams(0)
    with pytest.raises(ValueError, match="at least one token"):
        prefill(make_model(), [(1,), ()], 0)
