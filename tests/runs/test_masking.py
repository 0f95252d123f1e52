"""What is a secret and what is not, at each depth of JSON; and that it takes no longer than the text is long."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.bundles import read_rows
from runs.bundles.base import RawRecord
from runs.masking import count_kinds, mask_bytes, mask_effect, mask_text, mask_value, said_masked
from runs.records import Effect, EffectKind, Write
from tests.bundles import MAX_LINE

HEX = "0123456789abcdef0123456789abcdef01234567"
KEYS = {
    "openai": ("sk-" + HEX, "API key"),
    "openai project": ("sk-proj-Ab_9-" + HEX, "API key"),
    "anthropic": ("sk-ant-api03-Ab_9-" + HEX, "API key"),
    "amazon": ("AKIAIOSFODNN7EXAMPLE", "API key"),
    "github": ("ghp_" + HEX[:36], "token"),
    "github fine-grained": ("github_pat_11ABC_" + HEX, "token"),
    "gitlab": ("glpat-" + HEX[:20], "token"),
    "slack": ("xoxb-1234567890-abcdefABCDEF", "token"),
    "google": ("AIzaSy" + HEX[:33], "API key"),
    "stripe": ("sk_live_" + HEX[:24], "API key"),
    "hugging face": ("hf_" + HEX[:34], "token"),
    "our own": ("tf_" + (HEX + "abc")[:43], "token"),
    "web token": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "token"),
    "private key": ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC=\n-----END RSA PRIVATE KEY-----", "private key"),
    "private key without an end": ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\nZXktdjEAAAA", "private key"),
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_a_key_is_masked_at_each_depth_of_json_and_the_rest_stays(name: str, depth: int) -> None:
    key, kind = KEYS[name]
    value: Any = {"said": f"Take\n{key}", "then": f"é\t{key}", "next": 'a "b" \\'}
    wanted: Any = {"said": f"Take\n[masked: {kind}]", "then": f"é\t[masked: {kind}]", "next": 'a "b" \\'}
    text = json.dumps(value)
    for _ in range(depth):
        text = json.dumps({"inner": text})
    masked = mask_bytes(text.encode())
    back = json.loads(masked.text)
    for _ in range(depth):
        back = json.loads(back["inner"])
    assert back == wanted
    assert count_kinds(masked.found) == {kind: 1}


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abcdef0123456789xyz", "Authorization: Bearer [masked: token]"),
        ("curl -H 'authorization: token abcd1234efgh'", "curl -H 'authorization: token [masked: token]'"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [masked: password]"),
        ("postgres://ada:hunter2@db:5432/x", "postgres://ada:[masked: password]@db:5432/x"),
        ("redis://:hunter2@cache", "redis://:[masked: password]@cache"),
        ("https:\\/\\/ada:hunter2@host", "https:\\/\\/ada:[masked: password]@host"),
        ("/x?a=1&api_key=abc12345&b=2", "/x?a=1&api_key=[masked: API key]&b=2"),
        ("/x?token=abcdefgh12345678#y", "/x?token=[masked: token]#y"),
        ("/x?password=secretly&b=2", "/x?password=[masked: password]&b=2"),
        ("export OPENAI_API_KEY=abcdefgh12345678", "export OPENAI_API_KEY=[masked: API key]"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG+bPx", "aws_secret_access_key = [masked: API key]"),
        ("{'api_key': 'abc12345', 'x': 1}", "{'api_key': '[masked: API key]', 'x': 1}"),
        ("password: Hunter2!x", "password: [masked: password]"),
        ("DB_PASSWORD=hunter22", "DB_PASSWORD=[masked: password]"),
        ('assert u["password"] == "Abc12345"', 'assert u["password"] == "[masked: password]"'),
        ("u['api_key'] != 'abc12345'", "u['api_key'] != '[masked: API key]'"),
        ('"password": "cutAbc123...', '"password": "[masked: password]...'),
        ("login --password Tr0ub4dor -v", "login --password [masked: password] -v"),
        ("passcode=19a51b", "passcode=[masked: password]"),
    ],
)
def test_what_a_name_or_an_address_tells_is_masked(text: str, masked: str) -> None:
    assert mask_text(text) == masked
    assert mask_text(masked) == masked


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ({"password": "hunter2"}, {"password": "[masked: password]"}),
        ({"password": 'a"b\\'}, {"password": "[masked: password]"}),
        ({"password": "\\\\\\"}, {"password": "[masked: password]"}),
        ({"user_password": "geheim"}, {"user_password": "[masked: password]"}),
        ({"clientSecret": "abcd1234"}, {"clientSecret": "[masked: token]"}),
        ({"access_token": "abcd1234"}, {"access_token": "[masked: token]"}),
        ({"X-Api-Key": "abcd1234"}, {"X-Api-Key": "[masked: API key]"}),
        ({"Authorization": "Bearer abcd1234"}, {"Authorization": "Bearer [masked: token]"}),
        ({"token": "0123456789abcdef"}, {"token": "[masked: token]"}),
        ({"password": ["a1b2c3", "word"]}, {"password": ["[masked: password]", "word"]}),
        ({"password": {"new": "x9y8z7", "n": 1}}, {"password": {"new": "[masked: password]", "n": 1}}),
        ({"password": "my-Secret9"}, {"password": "[masked: password]"}),
        ({"password": "your9Pass!"}, {"password": "[masked: password]"}),
        ({"password": "$ecret9!"}, {"password": "[masked: password]"}),
    ],
)
def test_a_field_is_masked_by_its_name(value: Any, masked: Any) -> None:
    assert mask_value(value) == masked
    # Two levels deeper, as arguments of a call within a response.
    inner = json.loads(mask_value({"a": json.dumps({"b": json.dumps(value)})})["a"])["b"]
    assert json.loads(inner) == masked


@pytest.mark.parametrize(
    "text",
    [
        "The token usage was 1200 tokens; total_tokens=1280, max_tokens: 4096",
        '{"input_tokens": 1200, "token": "T-100234", "next_page_token": "CAUQAA0123456789abcdef"}',
        '{"session": "550e8400-e29b-41d4-a716-446655440000", "token": "550e8400-e29b-41d4-a716-446655440000"}',
        f'{{"sha256": "{HEX}", "commit": "{HEX}", "hash": "{HEX}"}}',
        '{"order_id": "#W1234567", "item_id": "6086499569", "payment": "credit_card_4421486"}',
        '{"password": {"type": "string"}, "required": ["password"]}',
        '{"password": "string", "secret": "optional", "api_key": "YOUR_API_KEY_1"}',
        '{"password": null, "token": "", "api_key": 5, "authorization": "AUTH-12345"}',
        "Please enter your password: it must have 8 characters. Reset password? The secret: patience.",
        "https://example.com:8443/a@b?x=1 and http://host:80/path, mailto:ada@example.com",
        '{"password": {"type": "string", "minLength": 8, "description": "At least 8 signs", "title": "Pass2"}}',
        '{"password": "{{password}}", "api_key": "${API_KEY}", "token": "%(token)s", "secret": "<your secret 1>"}',
        "postgres://user:{password}@host and https://u:$TOKEN@host and ftp://u:***@host",
        "task-force, risk-adjusted, sk-learn-is-a-library-for-python, desk-updates-are-here",
        "Basic information about the bearer of the letter; Bearer authentication-is-required",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n-----BEGIN PUBLIC KEY-----",
        "key=value&primary_key=0123456789abcdef&keyboard: 12345678a",
        "tf_idf_vectorizer hf_model xoxo AKIA eyJ sk_live_ ghp_short",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask_text(text) == text


def test_one_secret_at_two_depths_is_one() -> None:
    key = KEYS["private key"][0]
    text = json.dumps({"a": key, "b": json.dumps({"c": key}), "d": "ghp_" + HEX[:36], "password": "hunter2"})
    kinds = count_kinds(mask_bytes(text.encode()).found)
    assert kinds == {"password": 1, "private key": 1, "token": 1}
    assert said_masked(kinds) == "1 password, 1 private key, 1 token"
    assert (said_masked({"API key": 1200}), said_masked({})) == ("1,200 API keys", "")


def test_an_effect_of_a_password_has_none_of_its_values() -> None:
    effect = Effect(
        kind=EffectKind.WRONG, server="s", table="users", key="1", field="password", before="old-one", after="new-one",
        required=None, writes=[Write(step=3, value="new-one")],
    )  # fmt: skip
    masked = mask_effect(effect)
    word = "[masked: password]"
    assert (masked.before, masked.after, masked.required, masked.writes) == (
        word, word, None, [Write(step=3, value=word)],
    )  # fmt: skip


_TEXTS = st.text(st.sampled_from("ab1:=\"\\/ {}\n'&?@é")) | st.sampled_from(
    ["password", '"password":"', "token", "sk-" + HEX, "-----BEGIN PRIVATE KEY-----", "://u:p@h", "secret=", "Bearer "]
)
_VALUES = st.recursive(
    _TEXTS | st.integers() | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(_TEXTS, inner) | inner.map(json.dumps),
    max_leaves=12,
)


@given(_VALUES)
def test_json_stays_json_of_the_same_form(value: Any) -> None:
    """Names of fields may be masked as well, so only the form is compared; and masking twice is masking once."""
    once = mask_bytes(json.dumps(value).encode()).text
    assert _form(json.loads(once)) == _form(value)
    assert mask_bytes(once).text == once


def _form(value: Any) -> Any:
    if isinstance(value, dict):
        return [_form(item) for item in value.values()]
    if isinstance(value, list):
        return [_form(item) for item in value]
    return type(value).__name__


REPORT = "1. Path: {path}\n   Type: value mismatch\n   Result:  {result}\n   Golden:  {golden}\n\n2. Path: a.b"


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize(
    ("path", "result", "golden", "shown"),
    [
        ("users[2].password", '"hunter2"', '"old-one"', '"[masked: password]" "[masked: password]"'),
        ("users[2].settings['secret_key']", '"abc12345"', "null", '"[masked: API key]" null'),
        ('users[2].settings["secret_key"]', '"abc12345"', "null", '"[masked: API key]" null'),
        (
            "users[2].db_password", '["a1b2c3", "word"]', '{"new": "x9y8z7"}',
            '["[masked: password]", "word"] {"new": "[masked: password]"}',
        ),
        ("users[2].password", '"cut off a', '"cutAbc123..."', '"cut off a "[masked: password]"'),
        ("users[2].password_hint", '"hunter2"', '"old-one"', '"hunter2" "old-one"'),
        ("orders[2].status", '"solved1"', '"hold"', '"solved1" "hold"'),
    ],
    ids=["password", "key", "key in double quotes", "list and object", "cut off", "another name", "no secret"],
)  # fmt: skip
def test_what_a_check_reports_of_a_secret_field_is_masked(
    path: str, result: str, golden: str, shown: str, depth: int
) -> None:
    text = REPORT.format(path=path, result=result, golden=golden)
    packed = text
    for _ in range(depth):
        packed = json.dumps(packed)
    masked = mask_text(packed)
    for _ in range(depth):
        masked = json.loads(masked)
    values = re.search(r"Result:  (.*)\n   Golden:  (.*)\n", masked)
    assert values is not None
    assert f"{values[1]} {values[2]}" == shown
    assert masked.startswith(f"1. Path: {path}\n")


def test_a_list_of_differences_is_masked_by_its_paths() -> None:
    value = [
        {"path": "users[1].password", "type": "value mismatch", "result": "/a/path/7", "golden": "geheim"},
        {"path": "users[1].name", "type": "value mismatch", "result": "Ada Path: 7", "golden": "Bob"},
    ]
    word = "[masked: password]"
    wanted = [{**value[0], "result": word, "golden": word}, value[1]]
    assert mask_value(value) == wanted
    assert json.loads(mask_value({"a": json.dumps(value)})["a"]) == wanted


def test_a_report_in_one_line_is_masked_too() -> None:
    text = 'AssertionError: Path: users[2].password \u2026 Result: "hunter2"'
    assert mask_text(text) == 'AssertionError: Path: users[2].password \u2026 Result: "[masked: password]"'


@pytest.mark.shared
def test_nothing_in_the_reference_bundles_is_taken_for_a_secret(shared: Path) -> None:
    rows = found = 0
    for path in sorted((shared / "bundles").rglob("*.jsonl*")):
        if path.name == "provoked.jsonl" or "other" in path.parts:
            continue
        with path.open("rb") as source:
            for row in read_rows(source, name=path.name, max_line=MAX_LINE)[1]:
                if isinstance(row, RawRecord):
                    rows += 1
                    found += len(mask_bytes(row.text).found)
    assert (rows > 2000, found) == (True, 0)


@pytest.mark.shared
def test_in_files_of_other_harnesses_only_real_keys_are(shared: Path) -> None:
    """The one there is: the key of an inference service, published by mistake with the results."""
    found = {}
    for path in sorted((shared / "bundles" / "other").rglob("*")):
        if path.is_file() and path.suffix in {".json", ".jsonl", ".txt", ".md", ".yaml"}:
            kinds = count_kinds(mask_bytes(path.read_bytes()).found)
            if kinds:
                found[path.name] = kinds
    assert found == {"gpt-oss-120b_airline_1trial.sample.json": {"API key": 1}}
