"""What openapi.json cannot say to schemathesis: formats of our own, and rules between fields."""

from datetime import datetime
from unicodedata import category

import schemathesis
from hypothesis import strategies as st

TEXT = st.characters(exclude_categories=("Cs", "Cc"))
# Names that are something to JavaScript, Redis, Lua, SQL, spreadsheets or the eye.
HOSTILE = [
    "__proto__", "constructor", "toString", "hasOwnProperty", "0", "-1", "null", "undefined", "{0.1}", "}", "*", "\\",
    "'; DROP TABLE entries; --", "$1", "%", "%00", "..%2f", "a/b", "=1+1", "\u202eabc", "a\u200bb", "\ufeff",
    "\U0001f3c6" * 32, "e\u0301", "\u00e9", "]]..'", 'redis.call("flushall")',
]
OPAQUE_IDS = st.one_of(
    st.sampled_from(["ada", "bob"]),
    st.sampled_from(HOSTILE),
    st.text(TEXT, min_size=1, max_size=32).filter(lambda text: text not in (".", "..", "me")),
)
# Those of test/e2e/schemathesis.spec.ts.
BOARDS = ["blitz", "sums", "columns", "daily", "guilded", "recorded", "kept"]
NAMED_IDS = st.one_of(
    st.sampled_from(BOARDS),
    st.from_regex(r"\A[a-z0-9][a-z0-9._-]{0,63}\Z"),
)
TIMESTAMPS = st.one_of(
    st.sampled_from(["2026-11-20T18:00:00.000Z", "1970-01-01T00:00:00Z", "2020-02-29T23:59:59.999999999+14:00"]),
    st.datetimes(datetime(1971, 1, 1), datetime(2026, 1, 1)).map(
        lambda time: time.isoformat(timespec="milliseconds") + "Z"
    ),
)

schemathesis.openapi.format("opaque-id", OPAQUE_IDS)
# At most 64 bytes of UTF-8, four for the largest characters.
schemathesis.openapi.format("scope-value", st.text(TEXT, min_size=1, max_size=16))
schemathesis.openapi.format("named-id", NAMED_IDS)
schemathesis.openapi.format("timestamp", TIMESTAMPS)
schemathesis.openapi.format("cursor", st.just("start"))
schemathesis.openapi.format("https-url", st.from_regex(r"\Ahttps://[a-z]{1,20}\.example(/[a-z0-9._~%20-]{0,40})?\Z"))
schemathesis.openapi.format("http-url", st.from_regex(r"\Ahttps?://[a-z]{1,20}\.example(/[a-z0-9._~%20-]{0,40})?\Z"))

PLACES = ("cursor", "offset", "aroundRank", "aroundScore", "aroundPlayer")
OPENS_BY_CURSOR = ("getEntries", "getGuilds")


@schemathesis.hook
def filter_case(context, case):
    """The tool cannot tell what violates a format of our own: what it takes for a fault of format alone may be none."""
    data = case.meta.phase.data
    is_of_format = "`format`" in (getattr(data, "description", None) or "")
    return not is_of_format or len(getattr(data, "mutations", None) or ()) > 1


@schemathesis.hook
def map_case(context, case):
    operation = case.operation.definition.raw["operationId"]
    keep_boards(operation, case)
    if case.meta.generation.mode.is_positive:
        follow_rules_between_fields(operation, case)
    return case


def keep_boards(operation, case):
    """What reads boards and pools is to find them: deletions go to others."""
    path = case.path_parameters
    if operation == "deletePool" and path.get("pool") in BOARDS:
        path["pool"] = "doomed"
    if operation == "deleteBoard" and path.get("board") in BOARDS:
        path["board"] = "doomed"


def follow_rules_between_fields(operation, case):
    query, path, headers = case.query or {}, case.path_parameters or {}, case.headers or {}
    # The place of a page is said once, and a cursor is one that the service gave.
    given = [name for name in PLACES if name in query]
    for name in given[1:] if operation in OPENS_BY_CURSOR else [name for name in given if name == "cursor"]:
        del query[name]
    # Only pages by offset may come from a replica.
    if query.get("from") == "replica" and any(name in query for name in PLACES if name != "offset"):
        del query["from"]
    # A version that the board will never reach is waited for, and answered 503.
    query.pop("minVersion", None)
    if query.get("accuracy") == "estimated":
        for name in ("around", "above", "below"):
            query.pop(name, None)
    if "from" in query:
        query.pop("to", None)
    # A window is read as an edition of it says, or as it stood.
    if "edition" in query:
        query.pop("asOf", None)
    # What guards spreadsheets is for what they read.
    if query.get("format") == "ndjson":
        query.pop("guard", None)
    # A patch is named with its family where two families have one of that name.
    if "patch" in path:
        case.query = {"family": "blitz", **query}
    # Nobody is a friend of itself.
    if "other" in path and path["other"] == path["player"]:
        path["other"] = "somebody else"
    # Text is clean wherever it stands in metadata.
    if isinstance(case.body, dict) and "metadata" in case.body:
        case.body["metadata"] = clean(case.body["metadata"])
    # A key that is made ends in the future, if at all.
    if isinstance(case.body, dict) and case.body.get("expiresAt"):
        case.body["expiresAt"] = "2099-12-31T23:59:59Z"
    # Which games are void is said somehow.
    if operation == "voidGames" and isinstance(case.body, dict):
        if not any(name in case.body for name in ("playerId", "from", "to", "gameIds")):
            case.body["playerId"] = "ada"
    # The id of a submission is said once; in a batch each has its own.
    if isinstance(case.body, dict) and ("submissionId" in case.body or "submissions" in case.body):
        headers.pop("Idempotency-Key", None)


def clean(value):
    if isinstance(value, str):
        return "".join(one for one in value if category(one) not in ("Cc", "Cs"))
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean(name) if name != "__proto__" else "proto": clean(item) for name, item in value.items()}
    return value
