"""The loop on a tiny random policy: what it writes, that it resumes to the same bytes, that guidance reaches rows."""

import hashlib
import json
from collections import Counter

import pyarrow.parquet as pq
import pytest

from cloze.errors import InputError
from cloze.masking.names import entities
from cloze.problems.arithmetic import generate
from cloze.rollouts.rows import Row
from cloze.training import loop
from cloze.training.config import load_config
from cloze.training.loop import batch_of, describe_rows, train
from cloze.training.run_folder import RunFolder


@pytest.fixture
def policy(make_model, tokenizer, tmp_path):
    make_model(3).save_pretrained(tmp_path / "policy")
    tokenizer.save_pretrained(tmp_path / "policy")
    return tmp_path / "policy"


def configure(policy, out, method="smepo", steps=3, **sets):
    base = {
        "model.path": str(policy),
        "data.train": {"family": "arithmetic", "n": 8, "steps": 1, "distractors": 0},
        "data.eval": {"family": "arithmetic", "n": 6, "steps": 1, "distractors": 0, "split": "dev"},
        "sampling.prompts_per_step": 2,
        "sampling.group_size": 4,
        "sampling.max_completion_tokens": 6,
        "optim.steps": steps,
        "optim.lr": 1e-3,
        "eval.every": 2,
        "checkpoint.every": 1,
        "method": method,
        "run.out": str(out),
    }
    return load_config(None, [], {**base, **{key.replace("__", "."): value for key, value in sets.items()}})


def sums(folder):
    """What must be equal between two runs: metrics without times, rollouts, weights."""
    metrics = [{k: v for k, v in line.items() if not k.startswith("time/")} for line in RunFolder(folder).metrics()]
    rollouts = {p.name: pq.read_table(p).to_pylist() for p in sorted((folder / "rollouts").glob("*.parquet"))}
    last = RunFolder(folder).last_checkpoint()
    weights = hashlib.sha256((last[1] / "model.safetensors").read_bytes()).hexdigest()
    return metrics, rollouts, weights


@pytest.fixture(autouse=True)
def reward_by_first_token(monkeypatch):
    """A random policy is never right, so that signal would never come: pay for an even first token instead."""
    from cloze.training import collect
    from cloze.verifiers import Verdict

    def verdict(problem, text):
        good = len(text) > 0 and ord(text[0]) % 2 == 0
        return Verdict(float(good), "correct" if good else "wrong", text[:1], problem.target, "test", 0.0)

    monkeypatch.setattr(collect, "score", lambda problems, texts: list(map(verdict, problems, texts)))


def test_run_folder_holds_what_the_design_promises(policy, tmp_path):
    steps = []
    folder = train(configure(policy, tmp_path / "run"), on_step=steps.append)
    names = {p.name for p in folder.path.iterdir()}
    assert names == {"config.toml", "environment.json", "metrics.jsonl", "rollouts", "checkpoints", "finished"}
    lines = folder.metrics()
    assert [line["step"] for line in lines] == [0, 1, 2, 3] == [line["step"] for line in steps]
    assert {"eval/unguided_accuracy", "copying/guidance_gap", "copying/follow_rate"} <= set(lines[2]) & set(lines[3])
    assert {"reward/mean", "group/zero_variance", "policy/entropy", "optim/grad_norm", "time/sample"} <= set(lines[1])
    assert json.loads((folder.path / "environment.json").read_text())["seed"] == 0
    assert [p.name for p in sorted(folder.checkpoints.iterdir())] == ["step_2", "step_3"]
    from transformers import AutoModelForCausalLM

    AutoModelForCausalLM.from_pretrained(folder.checkpoints / "step_3")


def test_something_is_learnt_and_the_weights_move(policy, tmp_path):
    folder = train(configure(policy, tmp_path / "run", steps=2))
    assert folder.metrics()[1]["optim/grad_norm"] > 0
    assert sums(tmp_path / "run")[2] != hashlib.sha256((policy / "model.safetensors").read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("method", "steps", "killed"),
    # 8 problems in batches of 2: step 4 is the end of an epoch
    [("grpo", 8, 4), ("grpo", 8, 6), ("smepo", 3, 2), ("smepo_annealed", 3, 2), ("smepo_gated", 3, 2)],
)
def test_a_run_that_was_killed_resumes_to_the_same_bytes(policy, tmp_path, monkeypatch, method, steps, killed):
    train(configure(policy, tmp_path / "whole", method, steps))
    whole = sums(tmp_path / "whole")
    real = loop.train_step

    def dies(setup, folder, step):
        if step == killed:
            folder.write_rollouts(step + 1, [])  # killed half way: rollouts of a step that never was logged
            raise OSError("killed")
        return real(setup, folder, step)

    monkeypatch.setattr(loop, "train_step", dies)
    with pytest.raises(OSError, match="killed"):
        train(configure(policy, tmp_path / "part", method, steps))
    monkeypatch.setattr(loop, "train_step", real)
    notes = []
    train(configure(policy, tmp_path / "part", method, steps), resume=True, note=notes.append)
    assert f"going on after step {killed}" in notes
    assert len(whole[0]) == steps + 1 and sums(tmp_path / "part") == whole


def test_an_incomplete_checkpoint_is_skipped_with_a_line(policy, tmp_path):
    folder = train(configure(policy, tmp_path / "run"))
    (folder.checkpoints / "step_3" / "complete").unlink()
    (folder.checkpoints / "step_9.partial").mkdir()
    notes = []
    assert folder.last_checkpoint(notes.append)[0] == 2
    assert len(notes) == 2 and all("incomplete" in line for line in notes)


def test_a_run_asked_to_stop_finishes_its_step_saves_and_resumes_to_the_same_bytes(policy, tmp_path):
    train(configure(policy, tmp_path / "whole", checkpoint__every=0))
    seen = []
    config = configure(policy, tmp_path / "part", checkpoint__every=0)
    with pytest.raises(KeyboardInterrupt):
        train(config, on_step=seen.append, should_stop=lambda: seen[-1]["step"] == 2)
    assert RunFolder(tmp_path / "part").last_checkpoint()[0] == 2
    train(config, resume=True)
    assert sums(tmp_path / "part") == sums(tmp_path / "whole")


def test_an_interrupt_in_the_middle_of_an_update_saves_nothing_half_done(policy, tmp_path, monkeypatch):
    from cloze.engines.local import LocalEngine

    real, calls = LocalEngine.optim_step, []

    def interrupted(self, lr):
        calls.append(lr)
        norm = real(self, lr)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return norm

    train(configure(policy, tmp_path / "whole"))
    monkeypatch.setattr(LocalEngine, "optim_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(configure(policy, tmp_path / "part"))
    monkeypatch.setattr(LocalEngine, "optim_step", real)
    train(configure(policy, tmp_path / "part"), resume=True)
    assert sums(tmp_path / "part") == sums(tmp_path / "whole")


def test_a_second_run_in_the_same_folder_is_refused(policy, tmp_path):
    train(configure(policy, tmp_path / "run", steps=1))
    with pytest.raises(InputError, match="already holds a run"):
        train(configure(policy, tmp_path / "run", steps=1))


def rows_of(tmp_path, name="run", step=1):
    return pq.read_table(tmp_path / name / "rollouts" / f"step_{step:06d}.parquet").to_pylist()


@pytest.mark.parametrize(
    ("method", "guided", "same_prompt"),
    [
        ("grpo", 0, True),
        ("full_trace", 8, True),
        ("smepo", 8, True),
        ("smepo_mixed", 4, True),
        ("smepo_unguided_update", 8, False),
    ],
)
def test_who_is_guided_and_under_which_prompt_the_update_is(policy, tmp_path, tokenizer, method, guided, same_prompt):
    sets = {"overrides__guidance__members": 2} if method == "smepo_mixed" else {}
    train(configure(policy, tmp_path / "run", method, steps=1, **sets))
    rows = rows_of(tmp_path)
    assert len(rows) == 8 and sum(row["guided"] for row in rows) == guided
    for row in rows:
        shown, trained = tokenizer.decode(row["prompt_ids"]), tokenizer.decode(row["train_prompt_ids"])
        assert ("worked solution" in shown) == row["guided"]
        assert (shown == trained) == (same_prompt or not row["guided"])
        assert "worked solution" not in trained or same_prompt
        assert ("[N1]" in shown) == (row["guided"] and method != "full_trace")
        assert row["leaked"] == (method == "full_trace")


def test_gate_guides_only_groups_that_fail_and_keeps_the_first_draw_in_the_log(policy, tmp_path, tokenizer):
    folder = train(configure(policy, tmp_path / "run", "smepo_gated", steps=6))
    outcomes = {True: 0, False: 0}
    for step in range(1, 7):
        groups = {}
        for row in rows_of(tmp_path, step=step):
            groups.setdefault(row["group"], []).append(row)
        for rows in groups.values():
            first = [row for row in rows if not row["guided"]]
            again = [row for row in rows if row["guided"]]
            fails = not any(row["reward"] for row in first)
            outcomes[fails] += 1
            assert len(first) == 4 and len(again) == (4 if fails else 0)
            assert all(row["kept"] != fails for row in first) and all(row["kept"] for row in again)
            assert all("[N1]" in tokenizer.decode(row["prompt_ids"]) for row in again)
            assert all(row["advantage"] == 0.0 and not row["loss_weights"] for row in first if fails)
        draws = [row["reward"] for rows in groups.values() for row in rows if not row["guided"]]
        assert folder.metrics()[step + step // 10]["reward/unguided_mean"] == pytest.approx(sum(draws) / len(draws))
    assert outcomes[True] > 0 and outcomes[False] > 0


def test_annealing_shows_less_and_less(policy, tmp_path):
    folder = train(configure(policy, tmp_path / "run", "smepo_annealed", steps=4))
    schedule = [line["guidance/schedule"] for line in folder.metrics() if "guidance/schedule" in line]
    assert schedule == pytest.approx([1.0, 0.8535534, 0.5, 0.1464466])


def test_a_prefix_in_the_policys_own_turn_is_not_trained(policy, tmp_path, tokenizer):
    sets = {"overrides__guidance__placement": "assistant_prefix", "overrides__guidance__start": 0.9}
    sets |= {"data.train.steps": 2, "sampling__max_completion_tokens": 60}
    train(configure(policy, tmp_path / "run", "full_trace", steps=1, **sets))
    for row in rows_of(tmp_path):
        hint = row["source"].count("hint")
        assert hint > 0 and row["source"] == ["hint"] * hint + ["policy"] * (len(row["source"]) - hint)
        assert row["completion_mask"] == [source == "policy" for source in row["source"]]
        assert len(row["completion_ids"]) <= 60
        assert all(weight == 0.0 for weight in row["loss_weights"][:hint])
        assert tokenizer.decode(row["prompt_ids"]).endswith("<|assistant|>")


def test_eight_problems_in_batches_of_two_are_seen_once_an_epoch():
    problems = generate(8, steps=1, distractors=0)
    seen = [problem.id for step in range(8) for problem in batch_of(problems, step, 2, seed=1)]
    assert Counter(seen[:8]) == Counter(seen[8:]) == Counter(problem.id for problem in problems)
    assert seen[:8] != seen[8:]
    assert [p.id for p in batch_of(problems, 3, 2, seed=1)] == seen[6:8]
    assert len(batch_of(problems, 0, 20, seed=1)) == 20


def test_the_configuration_reaches_the_engine(policy, tmp_path, monkeypatch):
    from cloze.engines.local import LocalEngine

    seen = {"lr": [], "rows": [], "init": {}}
    real = {name: getattr(LocalEngine, name) for name in ("__init__", "optim_step", "forward_backward")}

    def init(self, *arguments, **options):
        seen["init"] = options
        real["__init__"](self, *arguments, **options)

    def step(self, lr):
        seen["lr"].append(lr)
        return real["optim_step"](self, lr)

    def forward_backward(self, rows, objective):
        seen["rows"].append({row.group for row in rows})
        seen["objective"] = objective
        return real["forward_backward"](self, rows, objective)

    for name, change in (("__init__", init), ("optim_step", step), ("forward_backward", forward_backward)):
        monkeypatch.setattr(LocalEngine, name, change)
    sets = {"optim__updates_per_step": 2, "optim__weight_decay": 0.5, "optim__max_grad_norm": 0.3}
    sets |= {"sampling__temperature": 0.7, "overrides__objective__clip_high": 4.0, "sampling__group_size": 8}
    train(configure(policy, tmp_path / "run", "smepo", steps=4, **sets))
    options = seen["init"]
    assert (options["weight_decay"], options["max_grad_norm"], options["temperature"]) == (0.5, 0.3, 0.7)
    assert seen["objective"].keywords == {"clip_low": 0.0, "clip_high": 4.0, "dual_clip": 3.0}
    assert all(len(groups) == 1 for groups in seen["rows"]) and {0} in seen["rows"] and {1} in seen["rows"]
    assert len(set(seen["lr"])) > 2 and max(seen["lr"]) <= 1e-3


@pytest.mark.parametrize(("groups", "parts", "sizes"), [(8, 5, [1, 2, 1, 2, 2]), (3, 5, [1, 1, 1]), (6, 2, [3, 3])])
def test_updates_share_whole_groups_evenly(groups, parts, sizes):
    rows = [make_row(0.0, "wrong") for _ in range(2 * groups)]
    for i, row in enumerate(rows):
        row.group = i // 2
    cut = loop._split_by_group(rows, parts)
    assert [len({row.group for row in part}) for part in cut] == sizes
    assert sorted(id(row) for part in cut for row in part) == sorted(map(id, rows))


def test_zero_variance_counts_the_groups_that_share_statistics():
    rows = [make_row(1.0, "correct"), make_row(1.0, "correct"), make_row(0.0, "wrong"), make_row(0.0, "wrong")]
    for row, peers in zip(rows, (1, 1, 0, 0), strict=True):
        row.peers = peers
    assert describe_rows(rows, 8)["group/zero_variance"] == 1.0


def test_traces_that_the_verifier_rejects_are_counted_and_not_shown(policy, tmp_path):
    path = tmp_path / "d.jsonl"
    good, bad = generate(2, steps=1)
    rows = [{"id": p.id, "question": p.question, "target": p.target, "trace": p.trace} for p in (good, bad)]
    rows[1]["trace"] = rows[1]["trace"].rsplit("####", 1)[0] + "#### 1"
    path.write_text("".join(json.dumps({**row, "verifier_settings": {"extract": "hash"}}) + "\n" for row in rows))
    notes = []
    config = configure(policy, tmp_path / "run", "smepo", steps=1)
    source = config.data.train.model_copy(update={"family": "", "path": str(path)})
    config = config.model_copy(update={"data": config.data.model_copy(update={"train": source})})
    train(config, note=notes.append)
    assert any("1 of 2 expert traces are rejected" in line and bad.id in line for line in notes)
    assert {row["guided"] for row in rows_of(tmp_path) if row["problem_id"] == bad.id} == {False}
    assert {row["guided"] for row in rows_of(tmp_path) if row["problem_id"] == good.id} == {True}


def test_the_guidance_gap_compares_the_same_problems(policy, tmp_path, monkeypatch):
    from cloze.evaluation import accuracy as evaluation
    from cloze.verifiers import Verdict

    path = tmp_path / "half.jsonl"
    problems = generate(8, steps=1, split="dev")
    rows = [{"id": p.id, "question": p.question, "target": p.target} | ({"trace": p.trace} if i < 4 else {})
            for i, p in enumerate(problems)]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    easy = {p.id for p in problems[4:]}  # right without any help, and they have no trace

    def verdict(problem, text):
        return Verdict(float(problem.id in easy), "correct", None, problem.target, "test", 0.0)

    monkeypatch.setattr(evaluation, "score", lambda problems, texts: list(map(verdict, problems, texts)))
    config = configure(policy, tmp_path / "run", "smepo", steps=1)
    source = config.data.eval.model_copy(update={"family": "", "path": str(path)})
    config = config.model_copy(update={"data": config.data.model_copy(update={"eval": source})})
    first = train(config).metrics()[0]
    assert (first["eval/unguided_accuracy"], first["eval/guided_accuracy"]) == (0.5, 0.0)
    assert first["copying/guidance_gap"] == 0.0


@pytest.mark.parametrize(("method", "size", "words"), [("grpo", 1, "no peers"), ("smepo_mixed", 4, "guides 4")])
def test_a_group_in_which_the_method_cannot_work_is_refused(policy, tmp_path, method, size, words):
    with pytest.raises(InputError, match=words):
        train(configure(policy, tmp_path / "run", method, sampling__group_size=size))
    assert not (tmp_path / "run").exists()


def test_a_masker_whose_package_is_missing_is_refused_before_the_run_begins(policy, tmp_path, monkeypatch):
    entities.load_model.cache_clear()
    monkeypatch.setattr(entities, "find_spec", lambda name: None)
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps({"question": "Q?", "target": "1", "trace": "#### 1", "domain": "entities"}) + "\n")
    config = configure(policy, tmp_path / "run", "smepo")
    source = config.data.train.model_copy(update={"family": "", "path": str(path)})
    config = config.model_copy(update={"data": config.data.model_copy(update={"train": source})})
    with pytest.raises(InputError, match="needs spaCy"):
        train(config)
    assert not (tmp_path / "run").exists()


def test_a_checkpoint_that_exists_is_not_written_again(policy, tmp_path, monkeypatch):
    folder = train(configure(policy, tmp_path / "run", steps=1))
    monkeypatch.setattr(loop.LocalEngine, "save", lambda self, path: (_ for _ in ()).throw(OSError("disk full")))
    train(configure(policy, tmp_path / "run", steps=1), resume=True)
    assert folder.last_checkpoint()[0] == 1


def make_row(reward, status, truncated=False):
    return Row("p", 0, 0, (1,), (2, 3), (-1.0, -1.0), (0.5, 1.5), truncated, 0, "", reward=reward, status=status)


def test_rows_that_cannot_be_scored_are_counted_and_left_out_of_means():
    rows = [make_row(1.0, "correct"), make_row(None, "error"), make_row(0.0, "wrong"), make_row(0.0, "wrong")]
    metrics = describe_rows(rows, 8)
    assert metrics["reward/mean"] == pytest.approx(1 / 3)
    assert (metrics["verdict/error"], metrics["verdict/wrong"]) == (0.25, 0.5)
    assert metrics["policy/entropy"] == 1.0


def test_a_step_without_signal_is_said_aloud():
    notes = []
    loop._warn_without_signal({"step": 3, **describe_rows([make_row(0.0, "wrong", True)], 8)}, notes.append)
    loop._warn_without_signal({"step": 4, **describe_rows([make_row(None, "error")], 8)}, notes.append)
    assert "100% truncated, no signal" in notes[0] and "no completion could be scored" in notes[1]
