"""The training loop, top to bottom: problems, rollouts, verdicts, advantages, update, log, evaluate, checkpoint.

Nothing here knows a method by name: a method is data (`cloze.methods`), what it does to prompts and groups is in
`collect`, and its losses are pure functions in `cloze.algorithms`. All draws are seeded by purpose and step, so the
loop keeps no random state and a run can go on from any checkpoint as if it had never stopped.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from cloze.algorithms.aggregate import token_weights
from cloze.algorithms.objectives import ppo_clip, unclipped
from cloze.engines.load import load_model
from cloze.engines.local import LocalEngine
from cloze.engines.protocol import Objective, UpdateReport
from cloze.errors import InputError
from cloze.evaluation.accuracy import accuracy, answer_all
from cloze.evaluation.copying import follow_rate
from cloze.guidance.guide import GuideSettings, check_maskers, guided_prompt, unguided_prompt
from cloze.methods.schema import Method, ObjectivePart, load_method
from cloze.problems.record import Problem
from cloze.rollouts.rows import Row
from cloze.rollouts.sampler import SamplingParams
from cloze.training.collect import Collector, draw_seed
from cloze.training.config import Config, write_config
from cloze.training.lr import learning_rate
from cloze.training.run_folder import RunFolder
from cloze.training.sources import load_problems, need_traces, with_right_traces
from cloze.verifiers.verdict import STATUSES

Metrics = dict[str, Any]
Report = Callable[[str], None]


@dataclass(slots=True)
class Setup:
    """What a run needs before its first step."""

    config: Config
    method: Method
    engine: LocalEngine
    tokenizer: Any
    problems: list[Problem]
    held_out: list[Problem]
    guide: GuideSettings
    params: SamplingParams
    collector: Collector


def prepare(config: Config, note: Report) -> Setup:
    """Load and check everything: data, traces, model, prompts.

    Raises:
        InputError: whatever of it cannot be used.
    """
    method = load_method(config.method, config.overrides)
    torch.set_num_threads(config.run.threads)
    check_group(method, config.sampling.group_size)
    notes: list[str] = []  # kept back until the data is known to be usable, so that an error stands alone
    problems = load_problems(config.data.train, notes.append)
    if method.needs_traces:
        need_traces(problems, config.data.train)
        problems = with_right_traces(problems, notes.append)
    for line in notes:
        note(line)
    held_out = load_problems(config.data.eval, note) if config.data.eval else []
    if method.mask.kind != "none":
        check_maskers([*problems, *held_out], method.mask.settings(config.run.seed))
    if shared := {problem.question for problem in problems} & {problem.question for problem in held_out}:
        note(f"warning: {len(shared)} evaluation questions also stand in the training data")
    model, tokenizer = load_model(config.model.path)
    engine = LocalEngine(
        model,
        tokenizer,
        weight_decay=config.optim.weight_decay,
        max_grad_norm=config.optim.max_grad_norm,
        temperature=config.sampling.temperature,
        micro_batch_tokens=config.optim.micro_batch_tokens,
    )
    guide = GuideSettings(
        show=method.guidance.show == "trace",
        masked=method.mask.kind != "none",
        mask=method.mask.settings(config.run.seed),
        placement=method.guidance.placement,
        instruction=config.sampling.instruction,
        max_prompt_tokens=config.sampling.max_prompt_tokens,
    )
    for problem in [*problems, *held_out]:
        unguided_prompt(problem, tokenizer, guide)
    params = SamplingParams(config.sampling.max_completion_tokens, config.sampling.temperature)
    collector = Collector(
        engine, tokenizer, method, guide, params, config.sampling.group_size, config.optim.steps, config.run.seed
    )
    return Setup(config, method, engine, tokenizer, problems, held_out, guide, params, collector)


def check_group(method: Method, group_size: int) -> None:
    """Refuse a group in which the method cannot work.

    Raises:
        InputError: a baseline that needs peers and a group of one, or no unguided member left.
    """
    if group_size == 1 and method.advantage.baseline != "none":
        raise InputError(
            f"a group of 1 has no peers for the baseline {method.advantage.baseline!r}: every advantage would be 0",
            field="sampling.group_size",
            mend="raise it to 2 or more",
        )
    if method.guidance.members >= group_size:
        raise InputError(
            f"the method guides {method.guidance.members} rollouts of a group of {group_size}",
            field="sampling.group_size",
            mend="raise it, or lower overrides.guidance.members (0 guides all)",
        )


def train(
    config: Config,
    *,
    resume: bool = False,
    note: Report = lambda line: None,
    on_step: Callable[[Metrics], None] = lambda metrics: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> RunFolder:
    """Run the whole training and return its folder.

    Args:
        config: with `run.out` set.
        resume: go on from the newest complete checkpoint of that folder.
        note: gets a line worth telling the user; `on_step` the metrics of each step.
        should_stop: asked after each step; when true the step is saved and KeyboardInterrupt raised.

    Raises:
        InputError: unusable input.
        FloatingPointError: a loss or gradient that is not finite; the last checkpoint stands.
        KeyboardInterrupt: `should_stop` said so, and the step is saved. Raised in the middle of a step it saves
            nothing, since the weights may be half way; the last checkpoint stands.
    """
    folder = RunFolder(Path(config.run.out).expanduser())
    setup = prepare(config, note)
    first = 0
    if resume:
        found = folder.last_checkpoint(note)
        if found:
            first = found[0]
            setup.engine.load(found[1])
            note(f"going on after step {first}")
        else:
            note("no complete checkpoint: starting again")
        folder.rewind(first if found else -1)
    else:
        folder.create(write_config(config), config.run.seed)
    if first == 0 and config.eval.every:
        metrics = {"step": 0, **evaluate(setup, 0)}
        folder.log(metrics)
        on_step(metrics)

    for step in range(first, config.optim.steps):
        metrics = train_step(setup, folder, step)
        done = step + 1
        if config.eval.every and (done % config.eval.every == 0 or done == config.optim.steps):
            metrics |= evaluate(setup, done)
        folder.log(metrics)
        on_step(metrics)
        _warn_without_signal(metrics, note)
        due = config.checkpoint.every and done % config.checkpoint.every == 0
        if done < config.optim.steps and (due or should_stop()):
            folder.save_checkpoint(done, setup.engine, config.checkpoint.keep)
            if should_stop():
                raise KeyboardInterrupt
    folder.save_checkpoint(config.optim.steps, setup.engine, config.checkpoint.keep)
    folder.finish()
    return folder


def train_step(setup: Setup, folder: RunFolder, step: int) -> Metrics:
    """One step: a batch of problems, their rollouts, `updates_per_step` optimiser steps, and the metrics."""
    config, engine = setup.config, setup.engine
    problems = batch_of(setup.problems, step, config.sampling.prompts_per_step, config.run.seed)
    version = engine.publish_weights()

    clock = time.perf_counter()
    rows = setup.collector.collect(problems, step, version)
    sampled = time.perf_counter()

    lr = learning_rate(
        step, config.optim.steps, config.optim.lr, config.optim.warmup_ratio, config.optim.final_lr_ratio
    )
    reports, norms, ages = [], [], []
    kept = [row for row in rows if row.kept]
    for part in _split_by_group(kept, config.optim.updates_per_step):
        set_loss_weights(part, setup.method.objective, config.sampling.max_completion_tokens)
        ages += [engine.version - row.policy_version for row in part]
        useful = [row for row in part if row.advantage != 0.0 and any(row.completion_mask)]
        if not useful:
            continue  # every objective is proportional to the advantage: nothing to learn, nothing to compute
        reports.append(engine.forward_backward(useful, objective_of(setup.method.objective)))
        norms.append(engine.optim_step(lr))
    updated = time.perf_counter()

    folder.write_rollouts(step + 1, rows)
    return {
        "step": step + 1,
        **describe_rows(rows, setup.params.max_tokens),
        **describe_updates(reports, norms),
        "staleness/mean": sum(ages) / len(ages),
        "staleness/max": max(ages),
        "guidance/schedule": setup.collector.ratio(step) if setup.guide.show else 0.0,
        "optim/lr": lr,
        "optim/updates": len(norms),
        "time/sample": sampled - clock,
        "time/update": updated - sampled,
    }


def batch_of(problems: Sequence[Problem], step: int, size: int, seed: int) -> list[Problem]:
    """The problems of a step: a seeded shuffle for each pass over the data, read on from where the last step ended.

    A pure function of the step, so there is no data position to lose.
    """
    batch: list[Problem] = []
    at = step * size
    while len(batch) < size:
        epoch, offset = divmod(at + len(batch), len(problems))
        order = list(range(len(problems)))
        random.Random(f"order/{seed}/{epoch}").shuffle(order)
        batch += [problems[i] for i in order[offset : offset + size - len(batch)]]
    return batch


def objective_of(part: ObjectivePart) -> Objective:
    """The pure function that a method's objective names."""
    if part.kind == "unclipped":
        return unclipped
    return partial(ppo_clip, clip_low=part.clip_low, clip_high=part.clip_high, dual_clip=part.dual_clip)


def set_loss_weights(rows: Sequence[Row], part: ObjectivePart, length: int) -> None:
    """Give each token its share of the loss, over all rows of one update."""
    width = max(len(row.completion_ids) for row in rows)
    mask_BT = torch.zeros((len(rows), width), dtype=torch.bool)
    for i, row in enumerate(rows):
        mask_BT[i, : len(row.completion_mask)] = torch.tensor(row.completion_mask)
    weights_BT = token_weights(mask_BT, part.aggregation, length=length)
    for row, weights in zip(rows, weights_BT.tolist(), strict=True):
        row.loss_weights = tuple(weights[: len(row.completion_ids)])


def describe_rows(rows: Sequence[Row], max_tokens: int) -> Metrics:
    """What the rollouts of a step looked like; rows that could not be scored are counted and left out of means."""
    scored = [row for row in rows if row.reward is not None]
    guided = [row for row in rows if row.guided]
    groups: dict[int, bool] = {}
    for row in rows:
        if any(row.completion_mask):
            groups[row.peers] = groups.get(row.peers, False) or row.advantage != 0.0
    tokens = [value for row in rows for value, source in zip(row.entropy, row.source, strict=True) if source == 0]
    statuses = Counter(row.status for row in rows)
    return {
        "reward/mean": _mean([row.reward for row in scored if row.kept]),
        "reward/guided_mean": _mean([row.reward for row in scored if row.guided]),
        "reward/unguided_mean": _mean([row.reward for row in scored if not row.guided]),
        "group/zero_variance": 1.0 - sum(groups.values()) / len(groups) if groups else 1.0,
        "completion/length": _mean([len(row.completion_ids) for row in rows]),
        "completion/truncated": _mean([row.truncated for row in rows]),
        "guidance/guided": len(guided) / len(rows),
        "guidance/ratio": _mean([row.prefix_ratio for row in guided]) if guided else 0.0,
        "guidance/leak_rate": _mean([row.leaked for row in guided]) if guided else 0.0,
        "policy/entropy": _mean(tokens),
        **{f"verdict/{status}": statuses.get(status, 0) / len(rows) for status in STATUSES},
    }


def describe_updates(reports: Sequence[UpdateReport], norms: Sequence[float]) -> Metrics:
    """What the updates of a step did; zeros when no row carried signal."""
    tokens = sum(report.tokens for report in reports) or 1
    return {
        "loss/policy": _mean([report.loss for report in reports]) if reports else 0.0,
        "policy/ratio_max": max((report.ratio_max for report in reports), default=1.0),
        "policy/clip_fraction": sum(report.clip_fraction * report.tokens for report in reports) / tokens,
        "policy/approx_kl": sum(report.approx_kl * report.tokens for report in reports) / tokens,
        "optim/grad_norm": _mean(norms) if norms else 0.0,
    }


def evaluate(setup: Setup, step: int) -> Metrics:
    """Unguided accuracy on the held-out problems, and with it the copy diagnostics (methods that show a trace)."""
    clock = time.perf_counter()
    seed = draw_seed(setup.config.run.seed, "eval", step)
    problems, engine, tokenizer = setup.held_out, setup.engine, setup.tokenizer
    plain = [unguided_prompt(problem, tokenizer, setup.guide) for problem in problems]
    samples = setup.config.eval.samples
    answers = answer_all(engine, problems, plain, setup.params, samples=samples, seed=seed)
    unguided = accuracy(answers)
    metrics: Metrics = {
        "eval/unguided_accuracy": unguided.mean,
        "eval/unguided_low": unguided.low,
        "eval/unguided_high": unguided.high,
        "eval/unscored": unguided.unscored,
    }
    traced = [problem for problem in problems if problem.trace is not None]
    if setup.config.eval.copying and traced:
        if setup.guide.show:
            prompts = [guided_prompt(problem, tokenizer, setup.guide) for problem in traced]
            guided = accuracy(answer_all(engine, traced, prompts, setup.params, samples=samples, seed=seed))
            metrics["eval/guided_accuracy"] = guided.mean
            same = [group for group, problem in zip(answers, problems, strict=True) if problem.trace is not None]
            metrics["copying/guidance_gap"] = guided.mean - accuracy(same).mean
            own = follow_rate(engine, tokenizer, traced, setup.guide, setup.params, seed=seed)
            metrics["copying/follow_rate"] = own.follow_rate
            metrics["copying/truth_rate"] = own.truth_rate
        probe = GuideSettings(
            show=True, instruction=setup.guide.instruction, max_prompt_tokens=setup.guide.max_prompt_tokens
        )
        metrics["copying/full_trace_follow_rate"] = follow_rate(
            engine, tokenizer, traced, probe, setup.params, seed=seed
        ).follow_rate
    return {**metrics, "time/eval": time.perf_counter() - clock}


def _split_by_group(rows: Sequence[Row], parts: int) -> list[list[Row]]:
    """Whole groups in `parts` shares that differ by one at most; fewer shares only where there are fewer groups."""
    groups = sorted({row.group for row in rows})
    parts = min(parts, len(groups))
    cuts = [set(groups[i * len(groups) // parts : (i + 1) * len(groups) // parts]) for i in range(parts)]
    return [[row for row in rows if row.group in cut] for cut in cuts]


def _warn_without_signal(metrics: Metrics, note: Report) -> None:
    step = metrics["step"]
    if metrics["completion/truncated"] == 1.0:
        note(f"step {step}: 100% truncated, no signal; raise sampling.max_completion_tokens")
    if metrics["verdict/correct"] + metrics["verdict/wrong"] + metrics["verdict/no_answer"] == 0.0:
        note(f"step {step}: no completion could be scored")


def _mean(values: Sequence[Any]) -> float:
    return float(sum(values) / len(values)) if values else float("nan")
