import tomllib

import pytest

from cloze.errors import InputError
from cloze.training.config import Config, load_config, write_config
from cloze.training.lr import learning_rate

BASE = {"data.train.family": "arithmetic"}


def test_file_then_set_then_flags(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text('method = "smepo"\n[data.train]\nfamily = "arithmetic"\n[optim]\nlr = 1e-3\nsteps = 7\n')
    config = load_config(path, ["optim.lr=2e-3", "run.seed=4"], {"run.seed": 5})
    assert (config.method, config.optim.lr, config.optim.steps, config.run.seed) == ("smepo", 2e-3, 7, 5)


def test_written_configuration_reads_back_the_same(tmp_path):
    config = load_config(None, ["overrides.guidance.start=0.5", "data.train.steps=[2, 4]", "method=smepo"], BASE)
    text = write_config(config)
    (tmp_path / "config.toml").write_text(text)
    assert load_config(tmp_path / "config.toml") == config
    assert tomllib.loads(text)["overrides"] == {"guidance": {"start": 0.5}}
    assert config.data.train.steps == (2, 4)


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        (["optim.learning-rte=1e-6"], ["learning-rte", "optim"]),
        (["optim.stepz=3"], ["stepz", "optim", "steps"]),
        (["sampling.group_sise=3"], ["group_sise", "sampling", "group_size"]),
        (["data.train.famly=x"], ["famly", "data.train", "family"]),
        (["optim.lr=-1"], ["lr", "optim", "greater than 0"]),
        (["optim.lr"], ["key=value"]),
        (["sampling.top_p=0.8"], ["top_p"]),
        (["method=smepoo"], ["smepoo", "smepo"]),
        (["method=smepo", "overrides.guidance.plcement=1"], ["plcement", "method.guidance", "placement"]),
        (["optim.updates_per_step=99"], ["updates_per_step", "prompts_per_step"]),
        (["eval.every=2"], ["data.eval"]),
        (["data.train.path=x.jsonl"], ["either a path or a family"]),
        (["run=3"], ["run"]),
    ],
)
def test_a_wrong_key_or_value_is_named_with_its_section_and_the_nearest_spelling(sets, words):
    with pytest.raises(InputError) as caught:
        load_config(None, sets, BASE)
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"), [("", "empty"), ("- a\n- b\n", "broken TOML"), ("[[x]]\n", "unknown key 'x'")]
)
def test_a_file_that_is_no_configuration_is_refused(tmp_path, text, words):
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        load_config(path, [], BASE if text else {})


def test_missing_file_and_missing_data_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such configuration file"):
        load_config(tmp_path / "none.toml")
    with pytest.raises(InputError, match="missing key 'data'"):
        load_config(None, ["optim.lr=1"])


def test_every_section_refuses_unknown_keys():
    def sections(model):
        yield model
        for field in model.model_fields.values():
            if hasattr(field.annotation, "model_fields"):
                yield from sections(field.annotation)

    found = list(sections(Config))
    assert len(found) >= 8
    assert all(section.model_config["extra"] == "forbid" for section in found)


def test_learning_rate_warms_up_and_follows_a_cosine():
    rates = [learning_rate(step, 100, 1.0, 0.1, 0.0) for step in range(100)]
    assert rates[0] == pytest.approx(0.1) and rates[9] == rates[10] == 1.0
    assert rates[55] == pytest.approx(0.5)
    assert 0.0 < rates[99] < 0.001
    assert learning_rate(99, 100, 1.0, 0.0, 0.3) >= 0.3
