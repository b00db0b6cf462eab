"""The calls of functions in a JMESPath: what its library would refuse only when a page is there."""

from typing import Any, Final

from jmespath.functions import Functions

from gregor.worker.base.amounts import count

_TABLE: Final[dict[str, dict[str, Any]]] = Functions.FUNCTION_TABLE


def check_calls(parsed: Any) -> None:
    """Raises ValueError, with what is allowed, for a call in a parsed expression that works with no document: of a
    function that is none, with too few or too many arguments, with a value where an expression (``&name``) is wanted,
    or an expression where a value is."""
    waiting = [parsed]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):  # of slices the children are numbers
            if node["type"] == "function_expression":
                _check(node["value"], node["children"])
            waiting += reversed(node["children"])


def _check(name: str, arguments: list[dict[str, Any]]) -> None:
    if name not in _TABLE:
        raise ValueError(f"there is no function {name}(); allowed: {', '.join(sorted(_TABLE))}")
    signature = _TABLE[name]["signature"]
    wanted, takes_more = len(signature), bool(signature[-1].get("variadic"))
    if len(arguments) < wanted or (len(arguments) > wanted and not takes_more):
        least = "at least " if takes_more else ""
        raise ValueError(f"{name}() wants {least}{count(wanted, 'argument')}, not {len(arguments)}")
    for number, argument in enumerate(arguments):
        types = signature[min(number, wanted - 1)]["types"]
        is_expression = argument["type"] == "expref"
        if is_expression != (types == ["expref"]) and (types or is_expression):
            what = "an expression, such as &name" if types == ["expref"] else "a value, not an expression (&)"
            raise ValueError(f"{name}() wants {what}, as its argument {number + 1}")
