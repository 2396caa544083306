"""One GRPO step of TRL, timed in CPU-seconds on one thread.

The yardstick for a local engine: TRL's own `GRPOTrainer`, as shipped, on a model folder and a prompts file, one update
a batch. Run it in an environment that holds torch==2.13.0 and trl==1.16.0; it prints one JSON line.

    OMP_NUM_THREADS=1 python trl_step.py --model DIR --prompts FILE --steps 10 --warmup 3

What is measured: CPU-seconds around the trainer's own methods (`measuring`).

- `sample`: `_generate`, that is tokenising the prompts, `model.generate`, decoding.
- `old_logprobs`: the pass without gradient over prompts and completions. TRL leaves it out when every batch is used
  for one update, as here: the ratio is then 1 by construction. `--old-logprobs on` makes TRL compute it all the same.
- `forward`: `compute_loss`, that is the pass with gradient, the loss and TRL's metrics.
- `backward_and_rest`: everything else of the step. `parts` splits it further, each part timed on its own:
  `backward`, `optimizer` (clipping and update), `reward`, and `loop`, the only part found by subtraction.

Settings: what is not named in `make_config` is TRL's default (beta 0 and so no reference model, fused AdamW, SDPA, KV
cache). Three defaults are changed in TRL's favour: no gradient checkpointing, no logging, no saving. One is changed to
compare like with like: float32 in place of bfloat16 autocast (`--bf16 on`), which made no clear difference to the step
on a processor with bfloat16 instructions. The rest that is named (loss, learning rate, lengths) costs nothing.

What is not covered: vLLM, several processes, batches that do not fit in memory at once. Sampling never draws the end
token (`min_new_tokens`), so that every completion has the same length; a peer has to be asked for the same.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

import datasets
import torch
import transformers
import trl
from measuring import Stopwatch, command_line, digit_share, parse, peak_rss_mb, rounded
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer


class TimedTrainer(GRPOTrainer):
    """`GRPOTrainer` with a stopwatch around its methods; what the methods do is unchanged."""

    def __init__(self, *args: Any, watch: Stopwatch, tokens: int, old_logprobs: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.watch = watch
        self.tokens = tokens
        self.old_logprobs = old_logprobs
        self.prompt_widths: list[int] = []
        self.reward_spread: list[float] = []
        plain_backward = self.accelerator.backward

        def backward(*args: Any, **kwargs: Any) -> None:
            with watch.part("backward"):
                plain_backward(*args, **kwargs)

        self.accelerator.backward = backward

    def create_optimizer(self, *args: Any, **kwargs: Any) -> Any:
        optimizer = super().create_optimizer(*args, **kwargs)
        plain_step = optimizer.step

        def step(*args: Any, **kwargs: Any) -> Any:
            with self.watch.part("optimizer"):
                return plain_step(*args, **kwargs)

        optimizer.step = step
        return optimizer

    def _generate(self, prompts: list[Any]) -> Any:
        with self.watch.part("sample"):
            outcome = super()._generate(prompts)
        prompt_ids, completion_ids = outcome[0], outcome[1]
        if {len(ids) for ids in completion_ids} != {self.tokens}:
            raise RuntimeError(f"a completion does not have {self.tokens} tokens")
        self.prompt_widths.append(max(len(ids) for ids in prompt_ids))
        return outcome

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> Any:
        kept: int = self.num_iterations
        # TRL computes old log-probs when a batch serves several updates; to this one method it looks as if it did.
        self.num_iterations = 2 if self.old_logprobs else kept
        try:
            outcome = super()._generate_and_score_completions(inputs)
        finally:
            self.num_iterations = kept
        if ("old_per_token_logps" in outcome) != self.old_logprobs:
            raise RuntimeError("old log-probs were not computed, or not left out, as asked")
        return outcome

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
        if torch.is_grad_enabled():  # called from compute_loss, which is timed as a whole
            return super()._get_per_token_logps_and_entropies(*args, **kwargs)
        with self.watch.part("old_logprobs"):
            return super()._get_per_token_logps_and_entropies(*args, **kwargs)

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> Any:
        with self.watch.part("reward"):
            rewards = super()._calculate_rewards(*args, **kwargs)
        self.reward_spread.append(float(rewards.std()))
        return rewards

    def compute_loss(self, *args: Any, **kwargs: Any) -> Any:
        with self.watch.part("forward"):
            return super().compute_loss(*args, **kwargs)

    def _clip_grad_norm(self, *args: Any, **kwargs: Any) -> Any:
        with self.watch.part("optimizer"):
            return super()._clip_grad_norm(*args, **kwargs)


class StepEnd(transformers.TrainerCallback):
    """Closes the stopwatch's step; what comes before the first step is not a step."""

    def __init__(self, watch: Stopwatch) -> None:
        self.watch = watch

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.watch.finish_step()
        self.watch.steps.clear()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.watch.finish_step()


def digit_shares(completions: list[Any], **_: Any) -> list[float]:
    """The reward of each completion."""
    return [digit_share(text if isinstance(text, str) else text[0]["content"]) for text in completions]


def make_config(options: argparse.Namespace, folder: str) -> GRPOConfig:
    """TRL's settings for the comparison; what is not named is TRL's default."""
    return GRPOConfig(
        output_dir=folder,
        seed=options.seed,
        use_cpu=True,
        bf16=options.bf16 == "on",
        gradient_checkpointing=options.checkpointing == "on",
        max_steps=options.warmup + options.steps,
        per_device_train_batch_size=options.completions,
        gradient_accumulation_steps=1,
        num_iterations=1,
        num_generations=options.generations,
        max_completion_length=options.tokens,
        generation_kwargs={"min_new_tokens": options.tokens},
        temperature=1.0,
        beta=0.0,
        loss_type="grpo",
        learning_rate=1e-5,
        lr_scheduler_type="constant",
        dataloader_pin_memory=False,
        logging_strategy="no",
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Train and return what the JSON line says."""
    torch.set_num_threads(options.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    rows = [json.loads(line) for line in Path(options.prompts).read_text(encoding="utf-8").splitlines() if line]
    dataset = datasets.Dataset.from_list([{"prompt": row["prompt"]} for row in rows])
    rss = {"before_model": peak_rss_mb()}
    model = AutoModelForCausalLM.from_pretrained(
        options.model, dtype=torch.float32, attn_implementation=options.attention
    )
    tokenizer = AutoTokenizer.from_pretrained(options.model, padding_side="left")
    rss["after_model"] = peak_rss_mb()
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        config = make_config(options, folder)
        trainer = TimedTrainer(
            model=model,
            reward_funcs=digit_shares,
            args=config,
            train_dataset=dataset,
            processing_class=tokenizer,
            callbacks=[StepEnd(watch)],
            watch=watch,
            tokens=options.tokens,
            old_logprobs=options.old_logprobs == "on",
        )
        trainer.remove_callback(transformers.PrinterCallback)  # would print its summary beside the JSON line
        trainer.train()
    rss["end"] = peak_rss_mb()
    if len(watch.steps) != options.warmup + options.steps or min(trainer.reward_spread) == 0.0:
        raise RuntimeError("a step is missing, or all rewards of a batch are alike")
    return {
        "engine": "trl",
        **watch.summary(options.warmup),
        "peak_rss_mb": rounded(rss),
        "settings": {
            "parameters": sum(weight.numel() for weight in model.parameters()),
            "completions": options.completions,
            "generations": options.generations,
            "completion_tokens": options.tokens,
            "widest_prompt": max(trainer.prompt_widths),
            "checkpointing": options.checkpointing,
            "bf16": options.bf16,
            "old_logprobs": options.old_logprobs,
            "attention": options.attention,
            "optimizer": str(getattr(config.optim, "value", config.optim)),
            "threads": torch.get_num_threads(),
            "seed": options.seed,
        },
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "trl": trl.__version__,
        },
    }


def main(arguments: list[str]) -> None:
    parser = command_line("Time GRPO steps of TRL; prints one JSON line.")
    parser.add_argument("--checkpointing", choices=("on", "off"), default="off", help="gradient checkpointing")
    parser.add_argument(
        "--old-logprobs", choices=("on", "off"), default="off", help="compute them though the ratio is 1"
    )
    parser.add_argument("--bf16", choices=("on", "off"), default="off", help="bfloat16 autocast")
    parser.add_argument("--attention", choices=("sdpa", "eager"), default="sdpa")
    print(json.dumps(measure(parse(parser, arguments))))


if __name__ == "__main__":
    main(sys.argv[1:])
