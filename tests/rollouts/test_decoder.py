"""The written-out decoder against the library's, and which models it leaves to the library."""

import pytest
import torch

from cloze.rollouts import decoding
from cloze.rollouts.decoder import lean
from cloze.rollouts.decoding import LeanDecoding, PlainDecoding, start
from cloze.rollouts.packed import Ragged, pack
from cloze.rollouts.sampler import SamplingParams
from cloze.rollouts.transformers_sampler import TransformersSampler
from rollouts.families import CASES, build

PROMPTS = [(10, 11, 12), (20,), (30, 31, 32, 33, 34, 35, 36), (10, 11, 12)]


@pytest.mark.parametrize("prompts", [PROMPTS, [(7, 8, 9)] * 4], ids=["padded", "alike"])
@pytest.mark.parametrize(("kind", "heads"), CASES)
def test_decoding_equals_the_plain_path_step_by_step(kind, heads, prompts):
    model = build(kind, heads)
    with torch.inference_mode():
        ours, plain = start(model, prompts, 6, 0), PlainDecoding(model, prompts, 6, 0)
        assert isinstance(ours, LeanDecoding)
        assert torch.allclose(ours.logits_BV, plain.logits_BV, atol=1e-5)
        for step in range(6):
            if step == 3:
                for each in (ours, plain):
                    each.keep(torch.tensor([1, 2]))
            tokens = torch.arange(4 if step < 3 else 2) + 40 + step
            ours.step(tokens)
            plain.step(tokens)
            assert torch.allclose(ours.logits_BV, plain.logits_BV, atol=1e-5), step


def test_a_large_model_decodes_without_a_copy_of_its_weights(monkeypatch):
    model = build("qwen3")
    decoder = lean(model)
    turned = decoder.for_few_rows()
    assert turned.layers[0].gate.stride() != decoder.layers[0].gate.stride()
    assert torch.equal(turned.layers[0].gate, decoder.layers[0].gate)
    monkeypatch.setattr("cloze.rollouts.decoder.SMALL", 0)
    assert decoder.for_few_rows() is decoder


def change_window(model):
    model.config.layer_types = ["sliding_attention"] * 3


def change_rope(model):
    model.config.rope_parameters["rope_type"] = "dynamic"


def change_layer(model):
    class Adapter(torch.nn.Linear):
        pass

    model.model.layers[1].self_attn.q_proj = Adapter(32, 48, bias=False)


def change_forward(model):
    model.model.layers[0].forward = model.model.layers[0].forward


def change_dtype(model):
    model.model.norm.bfloat16()


CHANGES = {
    "window": change_window,
    "rope": change_rope,
    "adapter": change_layer,
    "patched": change_forward,
    "dtypes": change_dtype,
    "hook": lambda model: model.model.embed_tokens.register_forward_hook(lambda *_: None),
    "bias": lambda model: setattr(model.model.layers[2].mlp, "up_proj", torch.nn.Linear(32, 48)),
    "activation": lambda model: setattr(model.model.layers[2].mlp.config, "hidden_act", "gelu"),
    "checkpointing": lambda model: model.gradient_checkpointing_enable(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_model_that_was_changed_takes_the_plain_path(change):
    model = build("qwen3")
    assert lean(model) is not None
    CHANGES[change](model)
    assert lean(model) is None


def test_dropout_counts_in_training_only():
    model = build("llama", attention_dropout=0.1)
    assert lean(model) is not None
    assert lean(model.train()) is None


def test_a_model_of_another_module_takes_the_plain_path():
    model = build("llama")
    model.__class__ = type("LlamaForCausalLM", (type(model),), {"__module__": "elsewhere"})
    assert lean(model) is None


def test_a_sampler_gives_the_same_answers_on_both_paths(tokenizer, monkeypatch):
    model = build("qwen2")
    sampler = TransformersSampler(model, tokenizer)
    params = SamplingParams(12, 0.0)
    ours = sampler.sample(PROMPTS, params, seed=0)
    monkeypatch.setattr(decoding, "lean", lambda model: None)
    plain = sampler.sample(PROMPTS, params, seed=0)
    assert [c.token_ids for c in ours] == [c.token_ids for c in plain]
    for a, b in zip(ours, plain, strict=True):
        assert a.logprobs == pytest.approx(b.logprobs, abs=1e-5)


@pytest.mark.parametrize("lengths", [[3, 1, 0, 4], [2, 2], [1]])
def test_ragged_rows_come_back_and_so_do_their_gradients(lengths):
    rows = Ragged(lengths, torch.device("cpu"))
    flat = torch.randn(sum(lengths), 2, requires_grad=True)
    padded = rows.pad(flat)
    assert padded.shape == (len(lengths), max(lengths), 2)
    assert torch.equal(rows.flatten(padded), flat)
    weights = torch.randn(sum(lengths), 2)
    (rows.flatten(padded.clone()) * weights).sum().backward()
    assert torch.equal(flat.grad, weights)


def test_a_pack_runs_equal_prompts_once_and_no_last_token():
    decoder = lean(build("llama"))
    packed = pack(decoder, PROMPTS, [(50,), (51, 52), (53, 54, 55), (56, 57)], torch.device("cpu"))
    assert packed.ids.tolist() == [*PROMPTS[0], *PROMPTS[1], *PROMPTS[2], 51, 53, 54, 56]
    assert packed.positions.tolist() == [0, 1, 2, 0, *range(7), 1, 7, 8, 3]
    with pytest.raises(ValueError, match="at least one token"):
        pack(decoder, [(1,), ()], None, torch.device("cpu"))
