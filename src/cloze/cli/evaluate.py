"""`cloze eval`."""

from __future__ import annotations

import csv
import json
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cloze.cli.terminal import UnsafeSandbox, note, percent, progress, table
from cloze.errors import InputError

if TYPE_CHECKING:
    from cloze.training.config import Config, Source


FAMILIES = {"arithmetic": "arithmetic:steps=4,n=200", "gym": "gym:task=chain_sum,n=50,config.max_terms=3"}


def evaluate(
    model: Annotated[str, typer.Argument(help="Model folder, run folder, or 'tiny'.")],
    data: Annotated[
        str, typer.Argument(help="Data file, or a family: arithmetic:steps=4,split=test,n=200 or gym:task=gcd,n=50")
    ],
    samples: Annotated[int, typer.Option("-n", "--samples", min=1, help="Completions a problem.")] = 1,
    guided: Annotated[bool, typer.Option("--guided", help="Show the trace as the method does.")] = False,
    method: Annotated[str | None, typer.Option(help="Whose guidance (default: the run's own).")] = None,
    temperature: Annotated[float | None, typer.Option(min=0.0, help="0 is greedy (default: the run's, or 1).")] = None,
    top_p: Annotated[float, typer.Option(min=0.0, max=1.0)] = 1.0,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Of a completion (default: the run's, or 256).")] = None,
    max_prompt_tokens: Annotated[int | None, typer.Option(min=1, help="Default: the run's, or 1024.")] = None,
    instruction: Annotated[str | None, typer.Option(help="After every question (default: the run's, or none).")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**62, help="Of all draws.")] = 0,
    limit: Annotated[int, typer.Option(min=0, help="Only the first so many problems.")] = 0,
    schema: Annotated[str, typer.Option(help="Schema of the data file (default: detected).")] = "",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Go on past rows that cannot be read.")] = False,
    unsafe_sandbox: UnsafeSandbox = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write one row a completion.")] = None,
) -> None:
    """Accuracy of a policy: mean@n and pass@k with 95% intervals, unguided unless --guided is given."""
    from cloze.engines.load import load_model
    from cloze.evaluation.accuracy import accuracy, answer_all, mean_pass_at_k
    from cloze.guidance.guide import GuideSettings, guided_prompt, unguided_prompt
    from cloze.methods.schema import load_method
    from cloze.rollouts.sampler import SamplingParams
    from cloze.rollouts.transformers_sampler import TransformersSampler
    from cloze.training.config import Sampling
    from cloze.training.sources import load_problems, need_traces

    folder, config = _find(model)
    if guided and method is None and config is None:
        raise InputError("--guided needs --method, since a model folder has none of its own")
    chosen = load_method(
        method or (config.method if config else "grpo"), config.overrides if config and not method else None
    )
    if guided and not chosen.needs_traces:
        raise InputError("--guided with a method that shows no trace", mend="name one that does with --method")
    sampling = config.sampling if config else Sampling.model_validate({})
    if instruction is not None:
        sampling = sampling.model_copy(update={"instruction": instruction})
    if max_prompt_tokens is not None:
        sampling = sampling.model_copy(update={"max_prompt_tokens": max_prompt_tokens})
    if csv_file:
        _write_csv(csv_file, [])  # better to fail now than after all sampling
    source = _source(data, schema, skip_bad, limit)
    problems = load_problems(source, note)
    if guided:
        need_traces(problems, source)
    policy, tokenizer = load_model(folder)
    settings = GuideSettings(
        show=guided and chosen.needs_traces,
        masked=chosen.mask.kind != "none",
        mask=chosen.mask.settings(config.run.seed if config else seed),
        placement=chosen.guidance.placement,
        instruction=sampling.instruction,
        max_prompt_tokens=sampling.max_prompt_tokens,
    )
    make = guided_prompt if guided else unguided_prompt
    prompts = [make(problem, tokenizer, settings) for problem in problems]
    params = SamplingParams(
        max_tokens or sampling.max_completion_tokens,
        sampling.temperature if temperature is None else temperature,
        top_p,
    )
    sampler = TransformersSampler(policy, tokenizer)
    with progress("sampling", len(problems) * samples, "completions") as advance:
        answers = answer_all(
            sampler, problems, prompts, params, samples=samples, seed=seed, chunk=max(1, 256 // samples), report=advance
        )
    result = accuracy(answers)
    ks = [k for k in (1, 2, 4, 8, 16, 32, 64, 128, 256) if k <= samples]
    passes = {k: mean_pass_at_k(answers, k) for k in ks} if samples > 1 and not result.unscored else {}
    if csv_file:
        _write_csv(csv_file, answers)
    if as_json:
        print(json.dumps({**asdict(result), "guided": guided, **{f"pass@{k}": v for k, v in passes.items()}}))
        return
    from rich.console import Console

    rows: list[list[Any]] = [
        [f"mean@{samples}", percent(result.mean), f"{percent(result.low)} to {percent(result.high)}"],
        *[[f"pass@{k}", percent(value), ""] for k, value in passes.items()],
        ["problems", result.problems, ""],
        ["unscored completions", result.unscored, ""],
        ["truncated", percent(result.truncated), ""],
        ["mean length", f"{result.length:.1f}", "tokens"],
    ]
    title = f"{model}, {'guided' if guided else 'unguided'}, temperature {params.temperature:g}"
    Console().print(table(title, ["", "value", "95% interval"], rows))


def _find(model: str) -> tuple[str, Config | None]:
    """The folder of the weights, and the configuration when `model` is a run."""
    from cloze.training.config import load_config
    from cloze.training.run_folder import RunFolder

    path = Path(model).expanduser()
    if not (path / "config.toml").is_file():
        return model, None
    found = RunFolder(path).last_checkpoint(note)
    if found is None:
        raise InputError("this run has no complete checkpoint yet", file=path)
    return str(found[1]), load_config(path / "config.toml")


def _source(data: str, schema: str, skip_bad: bool, limit: int) -> Source:
    from pydantic import ValidationError

    from cloze.methods.spelling import explain
    from cloze.training.config import Source

    name, _, options = data.partition(":")
    values: dict[str, Any] = {"path": data, "schema": schema, "skip_bad": skip_bad, "limit": limit}
    if name in FAMILIES and not Path(data).exists():
        try:
            given = tomllib.loads("\n".join(_quoted(item) for item in options.split(",") if item))
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"cannot read {data!r}: {error}", mend=f"write it as {FAMILIES[name]}") from error
        values = {"split": "test", "n": 200, "limit": limit, **given, "family": name}
    try:
        return Source.model_validate(values)
    except ValidationError as error:
        raise explain(error, Source, prefix="data") from error


def _quoted(item: str) -> str:
    key, _, value = item.partition("=")
    return f"{key} = {value}" if value.strip().lstrip("-").isdigit() else f"{key} = {json.dumps(value)}"


def _write_csv(path: Path, answers: Any) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["problem_id", "sample", "reward", "status", "extracted", "target", "tokens", "truncated", "text"]
        )
        for group in answers:
            for index, answer in enumerate(group):
                verdict, completion = answer.verdict, answer.completion
                writer.writerow(
                    [answer.problem.id, index, verdict.reward, verdict.status, verdict.extracted, verdict.target]
                    + [len(completion.token_ids), completion.truncated, answer.text]
                )
