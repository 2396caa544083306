"""What the columns mean: one small function for each way in which the field writes its data sets.

Each function takes one row and gives the fields of a `Problem`, or says which field of the row is wrong; it knows
nothing of files. `SCHEMAS` lists them with the columns by which a data set is recognised and the fields in which its
expert trace lives. Targets are where public data sets disagree most (the number 4, the text "4", a list of one, an
object with a `target`), so all of them pass through `read_target`, which reads what is clear and refuses the rest.

Not covered: prompts of several turns or with images, and a ground truth that is itself a structure (test cases; of a
countdown's numbers and target, only the target is kept).
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NamedTuple, TypedDict, cast

from cloze.errors import InputError

Row = Mapping[str, object]
CALCULATOR = re.compile(r"<<[^<>]*>>")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


class Fields(TypedDict, total=False):
    """Arguments of `Problem`; what a row does not say is left out."""

    id: str
    question: str
    target: str
    trace: str | None
    domain: str
    verifier: str
    verifier_settings: Mapping[str, object]
    source: str
    system: str
    aliases: tuple[str, ...]


def cloze(row: Row, *, needs: Collection[str] = ("question", "target")) -> Fields:
    """Our own: the attributes of `Problem` by name; all but those in `needs` may be missing."""
    given = {name: row[name] for name in ("domain", "verifier", "source", "system") if not _absent(row.get(name))}
    texts = cast(Fields, {name: read_text(value, name) for name, value in given.items()})
    settings = _object(row.get("verifier_settings"), "verifier_settings")
    question, target = plain(row.get("question")), plain(row.get("target"))
    others: tuple[str, ...] = ()
    if "question" in needs or not _absent(question):
        texts["question"] = read_text(question, "question")
    if "target" in needs or not (_absent(target) or target == []):
        texts["target"], others = read_target(target, "target")
    aliases = [*others, *(_scalar(alias, "aliases") for alias in _list(row.get("aliases"), "aliases"))]
    return {
        **_id(row.get("id")),
        **texts,
        "trace": _trace(row.get("trace"), "trace"),
        # Columnar files give every row the keys of all rows; None stands for "not in this row".
        "verifier_settings": {key: value for key, value in settings.items() if value is not None},
        "aliases": _aliases(aliases, texts.get("target", "")),
    }


def smepo(row: Row) -> Fields:
    """SMEPO: `question`, `reward_model.ground_truth`, the trace in `teacher_ds` or `extra_info.teacher_ds`."""
    extra = _object(row.get("extra_info"), "extra_info")
    return {
        **_id(row.get("id"), extra.get("id")),
        **_ground_truth(row),
        "question": read_text(row.get("question"), "question"),
        "trace": _trace(row.get("teacher_ds"), "teacher_ds")
        or _trace(extra.get("teacher_ds"), "extra_info.teacher_ds"),
    }


def verl(row: Row) -> Fields:
    """verl: `prompt` as messages, `reward_model.ground_truth`; a trace only if `extra_info` carries one."""
    extra = _object(row.get("extra_info"), "extra_info")
    traces = (_trace(extra.get(name), f"extra_info.{name}") for name in ("teacher_ds", "trace", "solution"))
    trace = next((trace for trace in traces if trace), None)
    read: Fields = {**_id(row.get("id"), extra.get("id")), **_prompt(row), **_ground_truth(row), "trace": trace}
    return _with_rest(read, extra.get("cloze"))


def luffy(row: Row) -> Fields:
    """LUFFY: as verl, with the expert's reply as messages in `target`."""
    extra = _object(row.get("extra_info"), "extra_info")
    trace = _trace(row.get("target"), "target")
    return {**_id(row.get("id"), extra.get("id")), **_prompt(row), **_ground_truth(row), "trace": trace}


def openr1(row: Row) -> Fields:
    """OpenR1-Math: `problem`, `answer`; the trace is the first generation marked correct, else `solution`."""
    generations = _list(row.get("generations"), "generations")
    marks = _list(row.get("correctness_math_verify"), "correctness_math_verify")
    if marks and len(marks) != len(generations):
        raise InputError(
            f"{len(generations)} generations but {len(marks)} marks of correctness",
            field="correctness_math_verify",
            mend="give one mark a generation",
        )
    right = (text for text, mark in zip(generations, marks, strict=False) if mark is True and not _absent(text))
    best = next(right, None)
    target, aliases = read_target(row.get("answer"), "answer")
    return {
        **_id(row.get("id"), row.get("uuid")),
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
        **_id(row.get("id")),
        "question": read_text(row.get("question"), "question"),
        "target": target,
        "trace": f"{body}\n#### {target}" if body else None,
        "verifier_settings": {"extract": "hash"},
    }


def trl(row: Row) -> Fields:
    """TRL: `prompt` and `completion` (the trace) as text or messages; the target in `answer`, else in `solution`."""
    name = "solution" if _absent(row.get("answer")) and not _absent(row.get("solution")) else "answer"
    target, aliases = read_target(row.get(name), name)
    trace = _trace(row.get("completion"), "completion")
    read: Fields = {**_id(row.get("id")), **_prompt(row), "target": target, "aliases": aliases, "trace": trace}
    return _with_rest(read, row.get("cloze"))


def _with_rest(read: Fields, value: object) -> Fields:
    """The fields for which a format has no place, which `cloze convert` puts aside as one object, taken in again."""
    rest = _object(value, "cloze")
    if not rest:
        return read
    known = {name: rest.get(name) for name in ("domain", "verifier", "verifier_settings", "source", "aliases")}
    said = cloze(known, needs=())
    said["aliases"] = _aliases([*read.get("aliases", ()), *said["aliases"]], read["target"])
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
}


def read_text(value: object, field: str) -> str:
    """Text that is there and that any later stage can hold.

    Raises:
        InputError: missing, blank, not text, or with a lone surrogate or a NUL byte.
    """
    value = plain(value)
    if value is None:
        raise InputError("is missing", field=field, mend="fill it in")
    if not isinstance(value, str):
        kind = "NaN" if value != value else type(value).__name__
        raise InputError(f"must be text, not {kind}", field=field, mend="convert it to text")
    if not value.strip():
        raise InputError("is empty", field=field, mend="fill it in")
    if "\0" in value:
        raise InputError("holds a NUL byte", field=field, mend="take it out")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("holds a lone surrogate, half a character", field=field, mend="encode it again") from None
    return value


def read_target(value: object, field: str) -> tuple[str, tuple[str, ...]]:
    """A target and its aliases, from any of the forms that are clear.

    Args:
        value: text, a number (4.0 is "4"), a list of one of them, a list of several texts (the first is the target,
            the rest are aliases), or an object with one of these under `target` or `ground_truth`.
        field: its name, for messages.

    Raises:
        InputError: anything else: None, NaN, True, empty text, {}, [], a mixed or nested list.
    """
    value = plain(value)
    if isinstance(value, dict):
        inner = [value[key] for key in ("target", "ground_truth") if value.get(key) is not None]
        if not inner or inner[0] != inner[-1]:
            held = ", ".join(map(repr, value)) or "nothing"
            raise InputError(
                f"must hold one 'target' or 'ground_truth', holds {held}", field=field, mend="give the target alone"
            )
        value = inner[0]
    if not isinstance(value, list):
        return _scalar(value, field), ()
    if len(value) != 1 and not (value and all(isinstance(item, str) for item in value)):
        raise InputError(
            f"a list of {len(value)} that is not all text", field=field, mend="give one target, or texts that all count"
        )
    target, *others = (_scalar(item, field) for item in value)
    return target, _aliases(others, target)


def plain(value: object) -> Any:
    """Numpy scalars and arrays as Python's own, all the way down; float32 by its shortest decimal."""
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        is_float = isinstance(value, Real) and not isinstance(value, Integral)
        value = float(str(value)) if is_float else value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def structured(value: object) -> Any:
    """As `plain`, and a list or object that a csv cell holds as text (JSON, or Python's own writing) is read."""
    value = plain(value)
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        # Python's writing only with an object in it: it would join the texts of ['a' 'b'], as numpy prints them.
        parsers = (json.loads, ast.literal_eval) if "{'" in value.lstrip()[:3] else (json.loads,)
        for parse in parsers:
            try:
                return parse(value.strip())
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
    return value


def _scalar(value: object, field: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        if not isinstance(value, str | None):
            kind = type(value).__name__
            raise InputError(f"must be text or a number, not {kind}", field=field, mend="convert it to text")
        text = read_text(value, field).strip()
        if text in ("nan", "NaN"):
            raise InputError("is NaN", field=field, mend="fill it in or drop the row")
        return text
    number = Decimal(str(value))
    if not number.is_finite():
        raise InputError(f"is {value}", field=field, mend="fill it in or drop the row")
    return str(int(number)) if number == number.to_integral_value() else f"{number:f}".rstrip("0")


def _absent(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _id(*candidates: object) -> Fields:
    found = next((candidate for candidate in candidates if not _absent(candidate)), None)
    return {} if found is None else {"id": _scalar(plain(found), "id")}


def _aliases(texts: Iterable[str], target: str) -> tuple[str, ...]:
    return tuple(text for text in dict.fromkeys(texts) if text != target)


def _object(value: object, field: str) -> dict[str, object]:
    value = structured(value)
    if _absent(value):
        return {}
    if not isinstance(value, dict):
        raise InputError(f"must be an object, not {type(value).__name__}", field=field, mend="write it as JSON")
    return value


def _list(value: object, field: str) -> list[object]:
    value = structured(value)
    if _absent(value):
        return []
    if not isinstance(value, list):
        raise InputError(f"must be a list, not {type(value).__name__}", field=field, mend="write it as JSON")
    return value


def _is_messages(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) and "role" in item for item in value)


def _ground_truth(row: Row) -> Fields:
    holder = _object(row.get("reward_model"), "reward_model")
    if not holder:
        raise InputError("is missing or empty", field="reward_model", mend='write {"ground_truth": ...}')
    target, aliases = read_target(holder.get("ground_truth"), "reward_model.ground_truth")
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
    system = "" if len(contents) == 1 or _absent(contents[0]) else read_text(contents[0], "prompt")
    return {"question": read_text(contents[-1], "prompt"), "system": system}


def _trace(value: object, field: str) -> str | None:
    read = structured(value)
    value = read if _is_messages(read) else plain(value)  # a trace may be JSON and yet no list of messages
    if isinstance(value, list) and value:
        if len(value) > 1 or (_is_messages(value) and value[0]["role"] != "assistant"):
            raise InputError("must be text or one assistant message", field=field, mend="give the reply alone")
        value = value[0].get("content") if _is_messages(value) else value[0]
    return None if _absent(value) or value == [] else read_text(value, field)
