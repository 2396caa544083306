"""One GRPO step of Cloze's local engine, timed in CPU-seconds on one thread.

The counterpart of `trl_step.py`: the same model folder, prompts, reward, group advantages, learning rate and number of
updates, and the same JSON line. Run it in Cloze's own environment.

    OMP_NUM_THREADS=1 python cloze_step.py --model DIR --prompts FILE --steps 10 --warmup 3

- `sample`: tokenising the prompts, sampling, decoding. The stop tokens are taken from the sampler, so that every
  completion has the same length; TRL is asked for the same.
- `old_logprobs`: 0. Rows that the very same weights sampled have ratio 1, so no pass is made for them.
- `forward`: `forward_backward` without its backward pass: log-probs with gradient, the loss, its report.
- `backward_and_rest`: everything else of the step.

The engine is as `cloze train` makes it (AdamW with weight decay, gradient norm clipped at 1, micro-batches of 8192
tokens unless `--micro-batch-tokens` says otherwise); `advantages` and token weights are the library's own functions.
Of the training loop, the verifier, the log and the checkpoints are not covered.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from measuring import Stopwatch, command_line, digit_share, parse, peak_rss_mb, rounded

import cloze
from cloze.algorithms.advantages import group_advantages
from cloze.algorithms.aggregate import token_weights
from cloze.algorithms.objectives import ppo_clip
from cloze.engines.load import load_model
from cloze.engines.local import LocalEngine
from cloze.rollouts.rows import Row
from cloze.rollouts.sampler import SamplingParams

LEARNING_RATE = 1e-5


def read_prompts(path: str, tokenizer: Any) -> list[Any]:
    """The prompts as text, chat messages written through the template."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    prompts = [json.loads(line)["prompt"] for line in lines if line]
    return [
        prompt
        if isinstance(prompt, str)
        else tokenizer.apply_chat_template(prompt, tokenize=False, add_generation_prompt=True)
        for prompt in prompts
    ]


def collect(
    engine: LocalEngine, prompts: Sequence[str], options: argparse.Namespace, step: int, watch: Stopwatch
) -> list[Row]:
    """Sample and score a group for each prompt."""
    tokenizer = engine.tokenizer
    with watch.part("sample"):
        groups = [[tuple(tokenizer(prompt)["input_ids"])] * options.generations for prompt in prompts]
        ids = [prompt_ids for group in groups for prompt_ids in group]
        completions = engine.sample(ids, SamplingParams(options.tokens), seed=options.seed + step)
        texts = [engine.decode(completion.token_ids) for completion in completions]
    if {len(completion.token_ids) for completion in completions} != {options.tokens}:
        raise RuntimeError(f"a completion does not have {options.tokens} tokens")
    with watch.part("reward"):
        rewards = torch.tensor([digit_share(text) for text in texts])
    advantages = group_advantages(rewards, torch.arange(len(ids)) // options.generations).tolist()
    weights = token_weights(torch.ones((len(ids), options.tokens), dtype=torch.bool), "seq_mean_token_mean").tolist()
    if float(rewards.std()) == 0.0:
        raise RuntimeError("all rewards of a batch are alike")
    rows = []
    for at, completion in enumerate(completions):
        rows.append(
            Row(
                problem_id=str(at // options.generations),
                group=at // options.generations,
                member=at % options.generations,
                prompt_ids=ids[at],
                completion_ids=completion.token_ids,
                behavior_logprobs=completion.logprobs,
                entropy=completion.entropy,
                truncated=completion.truncated,
                policy_version=engine.version,
                text=texts[at],
                advantage=advantages[at],
                loss_weights=tuple(weights[at]),
            )
        )
    return rows


def update(engine: LocalEngine, rows: Sequence[Row], watch: Stopwatch) -> None:
    """One update, the backward pass timed apart from the rest of `forward_backward`."""
    plain_backward = torch.Tensor.backward

    def backward(loss: torch.Tensor, *args: Any, **kwargs: Any) -> None:
        with watch.inner_part("backward"):
            plain_backward(loss, *args, **kwargs)

    torch.Tensor.backward = backward  # type: ignore[method-assign]
    try:
        with watch.part("forward"):
            report = engine.forward_backward(rows, ppo_clip)
    finally:
        torch.Tensor.backward = plain_backward  # type: ignore[method-assign]
    if report.ratio_max != 1.0:
        raise RuntimeError("the ratio is not 1 on rows that these weights sampled")
    with watch.part("optimizer"):
        engine.optim_step(LEARNING_RATE)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Train and return what the JSON line says."""
    torch.set_num_threads(options.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    rss = {"before_model": peak_rss_mb()}
    model, tokenizer = load_model(options.model)
    rss["after_model"] = peak_rss_mb()
    prompts = read_prompts(options.prompts, tokenizer)
    engine = LocalEngine(model, tokenizer, micro_batch_tokens=options.micro_batch_tokens)
    engine.sampler.stop_ids = []
    size = options.completions // options.generations
    watch = Stopwatch()
    widest = 0
    for step in range(options.warmup + options.steps):
        batch = [prompts[(step * size + at) % len(prompts)] for at in range(size)]
        rows = collect(engine, batch, options, step, watch)
        widest = max(widest, *(len(row.prompt_ids) for row in rows))
        update(engine, rows, watch)
        watch.finish_step()
    rss["end"] = peak_rss_mb()
    return {
        "engine": "cloze",
        **watch.summary(options.warmup),
        "peak_rss_mb": rounded(rss),
        "settings": {
            "parameters": sum(weight.numel() for weight in model.parameters()),
            "completions": options.completions,
            "generations": options.generations,
            "completion_tokens": options.tokens,
            "widest_prompt": widest,
            "micro_batch_tokens": options.micro_batch_tokens,
            "threads": torch.get_num_threads(),
            "seed": options.seed,
        },
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "cloze": cloze.__version__,
        },
    }


def main(arguments: list[str]) -> None:
    parser = command_line("Time GRPO steps of Cloze's local engine; prints one JSON line.")
    parser.add_argument("--micro-batch-tokens", type=int, default=8192, help="tokens of one backward pass")
    print(json.dumps(measure(parse(parser, arguments))))


if __name__ == "__main__":
    main(sys.argv[1:])
