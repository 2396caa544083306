"""The command line as a user meets it: what it prints where, and one clear line for each kind of bad input."""

import csv
import json
import sys

import pytest

from cloze.cli.main import main
from cloze.problems.arithmetic import generate


@pytest.fixture
def cloze(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["cloze", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        out, err = capsys.readouterr()
        return caught.value.code or 0, out, err

    return run


@pytest.fixture
def policy(make_model, tokenizer, tmp_path):
    make_model(3).save_pretrained(tmp_path / "policy")
    tokenizer.save_pretrained(tmp_path / "policy")
    return tmp_path / "policy"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.jsonl"
    rows = [{"id": p.id, "question": p.question, "target": p.target, "trace": p.trace} for p in generate(4, steps=1)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


SMALL = ("--set", "optim.steps=2", "--set", "sampling.prompts_per_step=2", "--set", "sampling.group_size=2",
         "--set", "sampling.max_completion_tokens=4")  # fmt: skip


def test_help_teaches_and_version_prints(cloze):
    code, out, _ = cloze("--help")
    assert code == 0 and "demo" in out and "Train language models" in out
    code, out, _ = cloze("train", "--help")
    assert code == 0 and "--dry-run" in out and 'method = "smepo"' in out
    assert cloze("--version")[1].strip().count(".") == 2


def test_train_eval_and_resume(cloze, policy, data, tmp_path):
    run = tmp_path / "run"
    sets = (*SMALL, "--set", f"model.path={policy}", "--set", f"data.train.path={data}", "--out", run)
    code, out, err = cloze("train", "--method", "smepo", *sets)
    assert (code, out) == (0, "") and "run folder" in err
    code, out, err = cloze("eval", run, data, "-n", 2, "--json", "--csv", tmp_path / "answers.csv")
    result = json.loads(out)
    assert code == 0 and result["problems"] == 4 and result["samples"] == 2 and "pass@2" in result
    with (tmp_path / "answers.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 8
    code, out, _ = cloze("eval", run, data, "--guided")
    assert code == 0 and "guided" in out and "95% interval" in out
    code, _, err = cloze("resume", run)
    assert code == 0 and "going on after step 2" in err
    code, _, err = cloze("train", "--method", "smepo", *sets)
    assert code == 2 and "already holds a run" in err


def test_dry_run_shows_configuration_and_prompt_and_writes_nothing(cloze, policy, data, tmp_path):
    run = tmp_path / "run"
    code, out, err = cloze("train", "--method", "smepo", "--dry-run", *SMALL, "--set", f"model.path={policy}",
                           "--set", f"data.train.path={data}", "--out", run)  # fmt: skip
    assert code == 0 and not run.exists()
    assert 'method = "smepo"' in out and "[sampling]" in out
    assert "[N1]" in err


def test_methods_lists_and_shows(cloze):
    code, out, _ = cloze("methods")
    assert code == 0 and all(name in out for name in ("grpo", "full_trace", "smepo"))
    code, out, _ = cloze("methods", "smepo")
    assert code == 0 and "2605.25198" in out and "clip_high = 5.0" in out and "inferred" in out


def test_env_and_eval_of_a_family(cloze, policy):
    code, out, _ = cloze("env")
    assert code == 0 and "torch:" in out and "python:" in out
    code, out, _ = cloze("eval", policy, "arithmetic:steps=1,distractors=0,n=3", "--max-tokens", 4, "--json")
    assert code == 0 and json.loads(out)["problems"] == 3


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


BAD_DATA = {
    "missing file": (None, ["none.jsonl"]),
    "empty data set": ([], ["empty"]),
    "wrong schema": ([{"prompt_text": "a", "label": 1}], ["prompt_text", "label", "schema"]),
    "empty traces": ([{"question": "1+1?", "target": "2", "trace": ""}] * 2, ["trace", "empty"]),
    "bad row": ([{"question": "1+1?", "target": "2"}, {"question": "2+2?", "target": None}], ["row 2", "target"]),
}


@pytest.mark.parametrize("kind", BAD_DATA)
def test_bad_data_is_one_clear_line_and_exit_2(cloze, policy, tmp_path, kind):
    rows, words = BAD_DATA[kind]
    path = tmp_path / "none.jsonl" if rows is None else write(tmp_path / "d.jsonl", *rows)
    code, out, err = cloze("train", "--method", "smepo", *SMALL, "--set", f"model.path={policy}",
                           "--set", f"data.train.path={path}", "--out", tmp_path / "run")  # fmt: skip
    assert (code, out) == (2, "") and err.count("\n") == 1, err
    assert not (tmp_path / "run").exists()
    for word in words:
        assert word in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("train", "--set", "optim.learning-rte=1", "--set", "data.train.family=arithmetic"),
            ["learning-rte", "optim"],
        ),
        (("train", "nowhere.toml"), ["nowhere.toml", "no such configuration file"]),
        (("train", "--method", "smeppo", "--set", "data.train.family=arithmetic"), ["smeppo", "smepo"]),
        (("eval", "nowhere", "arithmetic"), ["nowhere", "no such model folder"]),
        (("eval", "tiny", "arithmetic:stepz=3"), ["stepz", "steps"]),
        (("eval", "tiny", "nowhere.jsonl"), ["nowhere.jsonl"]),
        (("methods", "smeppo"), ["smeppo", "smepo"]),
        (("resume", "nowhere"), ["nowhere", "not a run folder"]),
    ],
)
def test_bad_arguments_are_one_clear_line_and_exit_2(cloze, arguments, words):
    code, out, err = cloze(*arguments)
    assert (code, out) == (2, "") and err.count("\n") == 1, err
    for word in words:
        assert word in err


def test_a_model_folder_without_tokenizer_or_model_is_named(cloze, policy, tmp_path):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (policy / name).unlink()
    code, _, err = cloze("eval", policy, "arithmetic:n=2")
    assert code == 2 and "no tokenizer" in err and err.count("\n") == 1
    (tmp_path / "empty").mkdir()
    code, _, err = cloze("eval", tmp_path / "empty", "arithmetic:n=2")
    assert code == 2 and "no model in this folder" in err and err.count("\n") == 1
    (policy / "tokenizer.json").write_text("{")
    code, _, err = cloze("eval", policy, "arithmetic:n=2")
    assert code == 2 and "cannot be loaded" in err and err.count("\n") == 1
