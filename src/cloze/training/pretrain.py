"""How the base policy that ships was made: a tiny decoder taught to read problems, hints and blanks.

The lessons are problems of the arithmetic family written through the same masking, guidance and chat template that
training uses later: plain, with the full trace, with the masked trace, and with either cut or blanked at random, so
that guided and unguided are one continuum for the policy. Four stages: short problems whose traces hold only the sums,
then whole traces, plain; then with hints of every kind; and briefly traces with slips, which leaves a policy that knows
how but is unreliable, the state that reinforcement learning can mend. (All at once, neither sums nor look-ups were
learnt in the same number of steps.)
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from cloze.guidance.placement import INTRO, INTRO_MASKED, TAIL, build_prompt
from cloze.guidance.prefix import cut_prefix
from cloze.masking import MaskSettings, mask
from cloze.problems.arithmetic import Chain, draw_chain, split_of, write_forged_trace, write_slipped_trace

CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
PIECES = r"####|, |\. |\[N| ?\p{L}{2,}|[\s\S]"


ALL_KINDS = {"plain": 0.35, "full": 0.12, "masked": 0.2, "masked_cut": 0.16, "full_cut": 0.1, "part_masked": 0.07}
HINT_KINDS = {"plain": 0.3, "full": 0.25, "masked": 0.2, "masked_cut": 0.12, "full_cut": 0.08, "part_masked": 0.05}


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the lessons.

    Attributes:
        name, steps, lr: `lr` is constant, or falls to a fiftieth over the last third (`cools`).
        step_weights: how often problems of 1, 2, ... steps are drawn.
        kinds: how often each kind of prompt is drawn.
        plans: traces begin with their plan; otherwise they hold only the sums.
        value_slip: rate of slips in the sums that the policy is taught to write by itself.
        seen_slip: the same where the masked line is in view: with an example before it, it is more careful.
        forged: share of the full traces shown whose results are random, and repeated, so that copying is learnt.
    """

    name: str
    steps: int
    lr: float
    step_weights: tuple[float, ...]
    kinds: dict[str, float]
    plans: bool = True
    cools: bool = False
    value_slip: float = 0.0
    seen_slip: float = 0.0
    forged: float = 0.0


STAGES = (
    Stage("sums", 3000, 2e-3, (0.6, 0.4), ALL_KINDS, plans=False),
    Stage("plans", 2000, 1.5e-3, (0.4, 0.4, 0.2), {"plain": 1.0}),
    Stage("hints", 2500, 1.5e-3, (0.25, 0.3, 0.3, 0.15), HINT_KINDS, cools=True, forged=0.8),
    Stage("slips", 600, 5e-4, (0.2, 0.3, 0.3, 0.2), HINT_KINDS, value_slip=0.87, seen_slip=0.4, forged=0.8),
)


@dataclass(frozen=True, slots=True)
class PretrainSettings:
    """Everything that decides the base policy; one seed reaches every draw."""

    seed: int = 0
    stages: tuple[Stage, ...] = STAGES
    batch_tokens: int = 3072
    most_distractors: int = 4
    modulus: int = 1000
    hidden: int = 96
    layers: int = 3
    heads: int = 4
    intermediate: int = 256
    vocabulary: int = 384

    @property
    def steps(self) -> int:
        """Steps of all stages."""
        return sum(stage.steps for stage in self.stages)


@dataclass(frozen=True, slots=True)
class Lesson:
    """One supervised row: prompt ids, the completion ids that follow, ended, and where supervision starts.

    What stands after the question is supervised: the hint too, since reading a trace is practice in writing one.
    """

    kind: str
    prompt: tuple[int, ...]
    completion: tuple[int, ...]
    start: int


def build_tokenizer(vocabulary: int) -> Any:
    """A byte-level BPE: any text can be written; digits, names and operators are one token each, words are merged."""
    texts = ["Modulo 1000: a=1, b=a+2. b?", "b<a", "#### 3", "[N1]", INTRO, INTRO_MASKED, TAIL] * 100
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<|pad|>", eos_token="<|end|>", chat_template=CHAT_TEMPLATE
    )


def build_model(settings: PretrainSettings, tokenizer: Any) -> Any:
    """A Llama-shaped decoder with tied embeddings, randomly initialised from the seed."""
    torch.manual_seed(settings.seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=settings.hidden,
            intermediate_size=settings.intermediate,
            num_hidden_layers=settings.layers,
            num_attention_heads=settings.heads,
            num_key_value_heads=settings.heads,
            max_position_embeddings=1024,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
        )
    )


def draw_lesson(rng: random.Random, tokenizer: Any, settings: PretrainSettings, stage: Stage) -> Lesson:
    """One lesson of a stage, from the training split."""
    chain = _draw_train_chain(rng, settings, stage)
    problem = chain.problem()
    trace = chain.trace if stage.plans else chain.trace.partition("\n")[2]
    kind = rng.choices(list(stage.kinds), list(stage.kinds.values()))[0]
    masked = kind in ("masked", "masked_cut", "part_masked")
    if kind == "full" and stage.forged and rng.random() < stage.forged:
        trace = write_forged_trace(chain, rng)
    shown = ""
    if kind != "plain":
        share = rng.random() if kind == "part_masked" else 1.0
        settings_of_mask = MaskSettings(ratio=share, seed=rng.randrange(2**31))
        masking = mask(trace, target=chain.target, question=chain.question, settings=settings_of_mask)
        text = masking.rendered if masked else trace
        ratio = rng.random() if kind.endswith("_cut") else 1.0
        shown = cut_prefix(text, tokenizer, ratio=ratio).text
    placement = "assistant_turn" if rng.random() < 0.15 else "user_turn"
    prompt = build_prompt(problem, tokenizer, hint=shown, masked=masked, placement=placement)
    if kind != "full" and stage.value_slip:
        lines = shown.count("\n") + bool(shown and not shown.endswith("\n"))
        seen = stage.seen_slip if masked else 0.0
        trace = write_slipped_trace(chain, rng, value_rate=stage.value_slip, lines_seen=lines, seen_rate=seen)
    ids = tokenizer(trace, add_special_tokens=False)["input_ids"]
    question = build_prompt(problem, tokenizer)
    return Lesson(kind, prompt.token_ids, (*ids, tokenizer.eos_token_id), len(question.token_ids) - 2)


def _draw_train_chain(rng: random.Random, settings: PretrainSettings, stage: Stage) -> Chain:
    while True:
        steps = rng.choices(range(1, len(stage.step_weights) + 1), stage.step_weights)[0]
        chain = draw_chain(rng, steps, rng.randint(0, settings.most_distractors), settings.modulus)
        if split_of(chain.question) == "train":
            return chain


def batches(rng: random.Random, tokenizer: Any, settings: PretrainSettings, stage: Stage) -> Iterator[list[Lesson]]:
    """Batches of lessons of like length, each within the token budget, without end."""
    while True:
        pool = [draw_lesson(rng, tokenizer, settings, stage) for _ in range(512)]
        pool.sort(key=lambda lesson: len(lesson.prompt) + len(lesson.completion))
        cuts: list[list[Lesson]] = [[]]
        for lesson in pool:
            width = len(lesson.prompt) + len(lesson.completion)
            if (len(cuts[-1]) + 1) * width > settings.batch_tokens:
                cuts.append([])
            cuts[-1].append(lesson)
        rng.shuffle(cuts)
        yield from cuts


def supervised_loss(model: Any, lessons: list[Lesson], pad_id: int) -> Tensor:
    """Mean negative log-likelihood of the completion tokens, nats a token (right padding)."""
    width = max(len(lesson.prompt) + len(lesson.completion) for lesson in lessons)
    ids = torch.full((len(lessons), width), pad_id)
    labels = torch.full((len(lessons), width), -100)
    for row, lesson in enumerate(lessons):
        end = len(lesson.prompt) + len(lesson.completion)
        ids[row, :end] = torch.tensor(lesson.prompt + lesson.completion)
        labels[row, lesson.start : end] = ids[row, lesson.start : end]
    logits = model(input_ids=ids, use_cache=False).logits[:, :-1]
    return torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]).float(), labels[:, 1:].reshape(-1))


def pretrain(settings: PretrainSettings, folder: Path, report: Callable[[str, int, float], None]) -> tuple[Any, Any]:
    """Train the base policy and save it in half precision with its tokenizer.

    Args:
        settings: see `PretrainSettings`.
        folder: where the model folder is written; an existing one is replaced at the end.
        report: called as (stage, steps done, loss) after each step.

    Returns:
        The model and its tokenizer.
    """
    tokenizer = build_tokenizer(settings.vocabulary)
    model = build_model(settings, tokenizer)
    done = 0
    for stage in settings.stages:
        optimizer = torch.optim.AdamW(model.parameters(), lr=stage.lr, betas=(0.9, 0.98), weight_decay=0.05)
        lessons = batches(random.Random(f"lessons/{settings.seed}/{stage.name}"), tokenizer, settings, stage)
        for step in range(stage.steps):
            cooling = (stage.steps - step) / max(1, stage.steps // 3) if stage.cools else 1.0
            for group in optimizer.param_groups:
                group["lr"] = stage.lr * min(1.0, (step + 1) / 200, max(0.02, cooling))
            loss = supervised_loss(model, next(lessons), tokenizer.pad_token_id)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            done += 1
            report(stage.name, done, float(loss.detach()))
    model.half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (Path(folder) / "pretrain.json").write_text(json.dumps(asdict(settings), indent=1) + "\n")
    return model.float(), tokenizer
