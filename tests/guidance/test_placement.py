"""Prompts, token by token, under templates that trim, think and write their own beginning of text."""

import copy

import pytest

from cloze.errors import InputError
from cloze.guidance.guide import GuideSettings, guided_prompt, is_leaky, unguided_prompt
from cloze.guidance.placement import INTRO, INTRO_MASKED, TAIL, build_prompt
from cloze.problems.arithmetic import generate
from cloze.problems.record import Problem

PROBLEM = Problem(id="p", question="What is 2+2+3?", target="7", trace="Step 1: 2+2=4\n\nStep 2: 4+3=7")
TRIMS = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] | trim }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
THINKS = TRIMS.replace("<|assistant|>{% endif %}", "<|assistant|>\n<think>\n{% endif %}")


def templated(tokenizer, template):
    changed = copy.deepcopy(tokenizer)
    changed.chat_template = template
    return changed


def test_unguided_prompt_is_the_question_in_the_template(tokenizer):
    prompt = build_prompt(PROBLEM, tokenizer)
    assert prompt.text == "<|user|>What is 2+2+3?<|end|><|assistant|>"
    assert tokenizer.decode(prompt.token_ids) == prompt.text
    assert (prompt.hint, prompt.ratio, prompt.hint_tokens) == ("", 0.0, 0)


def test_user_turn_and_assistant_turn_say_what_the_hint_is(tokenizer):
    user = build_prompt(PROBLEM, tokenizer, hint="2+2=[N1]", masked=True, ratio=1.0)
    assert user.text == (f"<|user|>What is 2+2+3?\n\n{INTRO_MASKED}\n2+2=[N1]\n\n{TAIL}<|end|><|assistant|>")
    turn = build_prompt(PROBLEM, tokenizer, hint="2+2=4", placement="assistant_turn")
    assert turn.text == (
        f"<|user|>What is 2+2+3?<|end|><|assistant|>{INTRO}\n2+2=4<|end|><|user|>{TAIL}<|end|><|assistant|>"
    )


@pytest.mark.parametrize("template", [None, TRIMS])
def test_assistant_prefix_keeps_its_exact_characters_and_is_not_ended(tokenizer, template):
    changed = templated(tokenizer, template) if template else tokenizer
    hint = "Step 1: 2+2=4\n\n"
    prompt = build_prompt(PROBLEM, changed, hint=hint, placement="assistant_prefix", ratio=0.5)
    assert prompt.text.endswith("<|assistant|>" + hint)
    plain = build_prompt(PROBLEM, changed).token_ids
    own = tuple(changed(hint, add_special_tokens=False)["input_ids"])
    assert prompt.token_ids == plain + own
    assert prompt.hint_tokens == len(own)
    assert tokenizer.eos_token_id not in own


def test_prefix_and_continuation_are_encoded_apart(tokenizer):
    def encode(text):
        return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])

    assert encode("Modulo") != encode("Mod") + encode("ulo")  # decoding and encoding again would change the ids
    prompt = build_prompt(PROBLEM, tokenizer, hint="Mod", placement="assistant_prefix")
    assert prompt.token_ids == build_prompt(PROBLEM, tokenizer).token_ids + encode("Mod")


def test_an_opening_thought_stands_once(tokenizer):
    changed = templated(tokenizer, THINKS)
    prompt = build_prompt(PROBLEM, changed, hint="<think>\nadd them", placement="assistant_prefix")
    assert prompt.text.count("<think>") == 1
    assert prompt.text.endswith("<think>\nadd them")
    other = build_prompt(PROBLEM, changed, hint="add them", placement="assistant_prefix")
    assert other.text == prompt.text


def test_a_template_that_writes_bos_gives_one_bos(tokenizer):
    changed = templated(tokenizer, "{{ bos_token }}" + TRIMS)
    changed.add_special_tokens({"bos_token": "<|user|>"})
    prompt = build_prompt(Problem(id="p", question="Q", target="1", system="S"), changed)
    assert prompt.text.startswith("<|user|><|system|>S<|end|>")
    assert prompt.token_ids.count(changed.bos_token_id) == 2  # the BOS and the user turn that shares its mark


def test_a_tokenizer_without_template_gets_plain_text(tokenizer):
    changed = templated(tokenizer, None)
    assert build_prompt(PROBLEM, changed).text == "What is 2+2+3?\n\n"


def test_instruction_follows_the_question_guided_or_not(tokenizer):
    for hint in ("", "2+2=4"):
        assert (
            "What is 2+2+3?\nAnswer after ####."
            in build_prompt(PROBLEM, tokenizer, hint=hint, instruction="Answer after ####.").text
        )


def test_guided_prompt_masks_before_it_cuts_and_never_cuts_the_question(tokenizer):
    problem = generate(1, steps=4)[0]
    whole = guided_prompt(problem, tokenizer, GuideSettings(show=True, masked=True))
    assert "[N1]" in whole.hint and problem.target not in whole.hint and whole.ratio == 1.0
    assert not is_leaky(whole, problem)
    for limit in range(len(whole.token_ids), 20, -7):
        settings = GuideSettings(show=True, masked=True, max_prompt_tokens=limit)
        if len(unguided_prompt(problem, tokenizer, GuideSettings()).token_ids) > limit:
            with pytest.raises(InputError, match="max_prompt_tokens"):
                guided_prompt(problem, tokenizer, settings)
            continue
        prompt = guided_prompt(problem, tokenizer, settings)
        assert len(prompt.token_ids) <= limit
        assert problem.question in prompt.text
        assert whole.hint.startswith(prompt.hint)
        assert prompt.hint.count("[") == prompt.hint.count("]")


def test_half_the_ratio_shows_the_first_lines(tokenizer):
    problem = generate(1, steps=4)[0]
    prompt = guided_prompt(problem, tokenizer, GuideSettings(show=True), ratio=0.5)
    assert problem.trace.startswith(prompt.hint) and 0.2 < prompt.ratio <= 0.5
    assert guided_prompt(problem, tokenizer, GuideSettings(show=True), ratio=0.0).hint == ""


def test_a_full_trace_is_reported_as_a_leak(tokenizer):
    problem = generate(1, steps=2)[0]
    assert is_leaky(guided_prompt(problem, tokenizer, GuideSettings(show=True)), problem)


def test_unknown_placement_is_refused(tokenizer):
    with pytest.raises(InputError, match="placement"):
        build_prompt(PROBLEM, tokenizer, hint="x", placement="footnote")
