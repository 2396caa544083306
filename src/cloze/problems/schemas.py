"""What the columns mean: one small function for each way in which the field writes its data sets.

Each function takes one row and gives the fields of a `Problem`, or says which field of the row is wrong; it knows
nothing of files. `SCHEMAS` lists them with the columns by which a data set is recognised and the fields in which its
expert trace lives. A target or ground truth that is recognisably a set of tests makes a code problem; every other one
passes through `read_target`.

Not covered: prompts of several turns or with images, and a ground truth that is another structure (of a countdown's
numbers and target, only the target is kept).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, cast

from cloze.errors import InputError
from cloze.problems.code_rows import as_tests, human_eval, mbpp
from cloze.problems.values import (
    Fields,
    is_absent,
    plain,
    read_id,
    read_list,
    read_object,
    read_scalar,
    read_target,
    read_text,
    structured,
    without_target,
)

__all__ = ["SCHEMAS", "Fields", "Row", "Schema", "detect_schema", "plain", "read_target", "read_text", "structured"]

Row = Mapping[str, object]
CALCULATOR = re.compile(r"<<[^<>]*>>")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def cloze(row: Row, *, needs: Collection[str] = ("question", "target")) -> Fields:
    """Our own: the attributes of `Problem` by name; all but those in `needs` may be missing."""
    given = {name: row[name] for name in ("domain", "verifier", "source", "system") if not is_absent(row.get(name))}
    texts = cast(Fields, {name: read_text(value, name) for name, value in given.items()})
    settings = read_object(row.get("verifier_settings"), "verifier_settings")
    question, target = plain(row.get("question")), plain(row.get("target"))
    others: tuple[str, ...] = ()
    if "question" in needs or not is_absent(question):
        texts["question"] = read_text(question, "question")
    if settings.get("sandbox") == "unsafe":
        raise InputError(
            "a data set may not turn the sandbox off",
            field="verifier_settings",
            mend="set CLOZE_SANDBOX=unsafe yourself",
        )
    if texts.get("verifier", "code") == "code" and (tests := as_tests(target, "target")):
        texts = {"domain": "code", "verifier": "code", **texts, "target": tests}
    elif "target" in needs or not (is_absent(target) or target == []):
        texts["target"], others = read_target(target, "target")
    aliases = [*others, *(read_scalar(alias, "aliases") for alias in read_list(row.get("aliases"), "aliases"))]
    return {
        **read_id(row.get("id")),
        **texts,
        "trace": _trace(row.get("trace"), "trace"),
        # Columnar files give every row the keys of all rows; None stands for "not in this row".
        "verifier_settings": {key: value for key, value in settings.items() if value is not None},
        "aliases": without_target(aliases, texts.get("target", "")),
    }


def smepo(row: Row) -> Fields:
    """SMEPO: `question`, `reward_model.ground_truth`, the trace in `teacher_ds` or `extra_info.teacher_ds`."""
    extra = read_object(row.get("extra_info"), "extra_info")
    return {
        **read_id(row.get("id"), extra.get("id")),
        **_ground_truth(row),
        "question": read_text(row.get("question"), "question"),
        "trace": _trace(row.get("teacher_ds"), "teacher_ds")
        or _trace(extra.get("teacher_ds"), "extra_info.teacher_ds"),
    }


def verl(row: Row) -> Fields:
    """verl: `prompt` as messages, `reward_model.ground_truth`; a trace only if `extra_info` carries one."""
    extra = read_object(row.get("extra_info"), "extra_info")
    traces = (_trace(extra.get(name), f"extra_info.{name}") for name in ("teacher_ds", "trace", "solution"))
    trace = next((trace for trace in traces if trace), None)
    read: Fields = {**read_id(row.get("id"), extra.get("id")), **_prompt(row), **_ground_truth(row), "trace": trace}
    return _with_rest(read, extra.get("cloze"))


def luffy(row: Row) -> Fields:
    """LUFFY: as verl, with the expert's reply as messages in `target`."""
    extra = read_object(row.get("extra_info"), "extra_info")
    trace = _trace(row.get("target"), "target")
    return {**read_id(row.get("id"), extra.get("id")), **_prompt(row), **_ground_truth(row), "trace": trace}


def openr1(row: Row) -> Fields:
    """OpenR1-Math: `problem`, `answer`; the trace is the first generation marked correct, else `solution`."""
    generations = read_list(row.get("generations"), "generations")
    marks = read_list(row.get("correctness_math_verify"), "correctness_math_verify")
    if marks and len(marks) != len(generations):
        raise InputError(
            f"{len(generations)} generations but {len(marks)} marks of correctness",
            field="correctness_math_verify",
            mend="give one mark a generation",
        )
    right = (text for text, mark in zip(generations, marks, strict=False) if mark is True and not is_absent(text))
    best = next(right, None)
    target, aliases = read_target(row.get("answer"), "answer")
    return {
        **read_id(row.get("id"), row.get("uuid")),
        "question": read_text(row.get("problem"), "problem"),
        "target": target,
        "trace": _trace(row.get("solution"), "solution") if best is None else read_text(best, "generations"),
        "aliases": aliases,
    }


def gsm8k(row: Row) -> Fields:
    """GSM8K: `answer` is the worked solution and ends in `#### target`; calculator spans `<<...>>` are taken out."""
    body, mark, target = read_text(row.get("answer"), "answer").rpartition("####")
    target = THOUSANDS.sub("", target.strip())
    if not mark or not target:
        raise InputError("no '#### target' at the end", field="answer", mend="end the solution with that line")
    body = CALCULATOR.sub("", body).strip()
    return {
        **read_id(row.get("id")),
        "question": read_text(row.get("question"), "question"),
        "target": target,
        "trace": f"{body}\n#### {target}" if body else None,
        "verifier_settings": {"extract": "hash"},
    }


def trl(row: Row) -> Fields:
    """TRL: `prompt` and `completion` (the trace) as text or messages; the target in `answer`, else in `solution`."""
    name = "solution" if is_absent(row.get("answer")) and not is_absent(row.get("solution")) else "answer"
    target, aliases = read_target(row.get(name), name)
    trace = _trace(row.get("completion"), "completion")
    read: Fields = {**read_id(row.get("id")), **_prompt(row), "target": target, "aliases": aliases, "trace": trace}
    return _with_rest(read, row.get("cloze"))


def _with_rest(read: Fields, value: object) -> Fields:
    """The fields for which a format has no place, which `cloze convert` puts aside as one object, taken in again."""
    rest = read_object(value, "cloze")
    if not rest:
        return read
    known = {name: rest.get(name) for name in ("domain", "verifier", "verifier_settings", "source", "aliases")}
    said = cloze(known, needs=())
    said["aliases"] = without_target([*read.get("aliases", ()), *said["aliases"]], read["target"])
    return {**said, **read, "aliases": said["aliases"]}


class Schema(NamedTuple):
    """How a data set is read, recognised and described."""

    read: Callable[[Row], Fields]
    matches: Callable[[set[str], Sequence[Row]], bool]
    columns: str
    traces: tuple[str, ...]


def detect_schema(rows: Sequence[Row]) -> str:
    """The one schema that fits some rows, by their column names and, where names do not tell, their values.

    Raises:
        InputError: no schema fits, or more than one.
    """
    columns = list(dict.fromkeys(str(name) for row in rows for name in row))
    fitting = [name for name, schema in SCHEMAS.items() if schema.matches(set(columns), rows)]
    if len(fitting) == 1:
        return fitting[0]
    known = "; ".join(f"{name} ({schema.columns})" for name, schema in SCHEMAS.items())
    what = f"fit more than one schema, {' and '.join(fitting)}" if fitting else "fit no known schema"
    raise InputError(
        f"the columns {', '.join(map(repr, columns)) or '(none)'} {what}",
        mend=f"name the schema, or rename columns; known are {known}",
    )


def _is_cloze(columns: set[str], rows: Sequence[Row]) -> bool:
    # A trace alone cannot be trained on, but it can be masked.
    named = {"question", "target"} <= columns or ("trace" in columns and not {"prompt", "problem", "answer"} & columns)
    return named and "reward_model" not in columns


def _is_smepo(columns: set[str], rows: Sequence[Row]) -> bool:
    extras = [structured(row.get("extra_info")) for row in rows]
    traced = "teacher_ds" in columns or any(isinstance(extra, dict) and "teacher_ds" in extra for extra in extras)
    return {"question", "reward_model"} <= columns and (traced or "prompt" not in columns)


def _is_verl(columns: set[str], rows: Sequence[Row]) -> bool:
    narrower = _is_smepo(columns, rows) or _is_luffy(columns, rows)
    return {"prompt", "reward_model"} <= columns and not narrower


def _is_luffy(columns: set[str], rows: Sequence[Row]) -> bool:
    replies = any(_is_messages(structured(row.get("target"))) for row in rows)
    return {"prompt", "reward_model", "target"} <= columns and replies


def _is_openr1(columns: set[str], rows: Sequence[Row]) -> bool:
    return {"problem", "answer"} <= columns and "reward_model" not in columns


def _is_gsm8k(columns: set[str], rows: Sequence[Row]) -> bool:
    marked = any("####" in str(row.get("answer")) for row in rows)
    return {"question", "answer"} <= columns and "reward_model" not in columns and marked


def _is_trl(columns: set[str], rows: Sequence[Row]) -> bool:
    return "prompt" in columns and bool({"answer", "solution"} & columns) and "reward_model" not in columns


def _is_human_eval(columns: set[str], rows: Sequence[Row]) -> bool:
    return {"prompt", "entry_point", "test"} <= columns


def _is_mbpp(columns: set[str], rows: Sequence[Row]) -> bool:
    return {"test_list", "code"} <= columns and bool({"text", "prompt"} & columns)


SCHEMAS: dict[str, Schema] = {
    "cloze": Schema(cloze, _is_cloze, "question, target", ("trace",)),
    "smepo": Schema(
        smepo, _is_smepo, "question, reward_model.ground_truth, teacher_ds", ("teacher_ds", "extra_info.teacher_ds")
    ),
    "verl": Schema(
        verl,
        _is_verl,
        "prompt, reward_model.ground_truth",
        ("extra_info.teacher_ds", "extra_info.trace", "extra_info.solution"),
    ),
    "luffy": Schema(luffy, _is_luffy, "prompt, target as messages, reward_model.ground_truth", ("target",)),
    "openr1": Schema(openr1, _is_openr1, "problem, answer", ("generations", "solution")),
    "gsm8k": Schema(gsm8k, _is_gsm8k, "question, answer that ends in '#### target'", ("answer",)),
    "trl": Schema(trl, _is_trl, "prompt, answer or solution", ("completion",)),
    "human_eval": Schema(human_eval, _is_human_eval, "prompt, entry_point, test", ("canonical_solution",)),
    "mbpp": Schema(mbpp, _is_mbpp, "text or prompt, code, test_list", ("code",)),
}


def _is_messages(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) and "role" in item for item in value)


def _ground_truth(row: Row) -> Fields:
    holder = read_object(row.get("reward_model"), "reward_model")
    if not holder:
        raise InputError("is missing or empty", field="reward_model", mend='write {"ground_truth": ...}')
    field = "reward_model.ground_truth"
    if tests := as_tests(holder.get("ground_truth"), field):
        return {"target": tests, "domain": "code", "verifier": "code"}
    target, aliases = read_target(holder.get("ground_truth"), field)
    return {"target": target, "aliases": aliases}


def _prompt(row: Row) -> Fields:
    value = structured(row.get("prompt"))
    if isinstance(value, str) and not value.lstrip().startswith("[{"):
        return {"question": read_text(value, "prompt")}
    if not _is_messages(value):
        what = "is missing" if value is None else "must be text or a list of messages with role and content"
        raise InputError(what, field="prompt", mend="write it as JSON")
    roles = [message["role"] for message in value]
    if roles not in (["user"], ["system", "user"]):
        raise InputError(
            f"has the turns {', '.join(map(str, roles))}",
            field="prompt",
            mend="give one user message, with a system message before it or none",
        )
    contents = [message.get("content") for message in value]
    system = "" if len(contents) == 1 or is_absent(contents[0]) else read_text(contents[0], "prompt")
    return {"question": read_text(contents[-1], "prompt"), "system": system}


def _trace(value: object, field: str) -> str | None:
    read = structured(value)
    value = read if _is_messages(read) else plain(value)  # a trace may be JSON and yet no list of messages
    if isinstance(value, list) and value:
        if len(value) > 1 or (_is_messages(value) and value[0]["role"] != "assistant"):
            raise InputError("must be text or one assistant message", field=field, mend="give the reply alone")
        value = value[0].get("content") if _is_messages(value) else value[0]
    return None if is_absent(value) or value == [] else read_text(value, field)
