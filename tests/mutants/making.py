"""The mutants of a module: cosmic-ray's operators, where a mistake could be one."""

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.operators.provider import OperatorProvider

ROOT = Path(__file__).parents[2]
PROVIDER = OperatorProvider()
# Of the replacements of an operator by every other, those that stand for a mistake people make.
SWAPPED = {
    *("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Div", "Mod_FloorDiv", "Pow_Mul"),
    *("BitAnd_BitOr", "BitOr_BitAnd", "RShift_LShift", "LShift_RShift"),
    *("Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt"),
    *("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is", "In_NotIn", "NotIn_In"),
    *("USub_UAdd", "Delete_Not", "Delete_USub"),
}
OTHERS = {
    *("NumberReplacer", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr"),
    *("ReplaceOrWithAnd", "AddNot", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak"),
    *("ExceptionReplacer", "ZeroIterationForLoop"),
}


@dataclass(frozen=True)
class Place:
    """Where an operator can make a mistake: its how-manieth place in the file."""

    path: Path
    operator: str
    at: int


@dataclass(frozen=True)
class Mutant:
    """One changed module; `key` is of its whole text, and so names it as long as nothing moves."""

    module: str
    line: int
    was: str
    now: str
    source: str

    @property
    def key(self) -> str:
        return hashlib.sha256(f"{self.module}\n{self.source}".encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.was}  ->  {self.now}"


def places_in(path: Path) -> Iterator[Place]:
    """Of every operator in a file."""
    text = path.read_text("utf-8")
    left_out = list(_left_out(ast.parse(text)))
    nodes = list(ast_nodes(get_ast(text)))
    for name in sorted(PROVIDER):
        if name in OTHERS or name.rpartition("Operator_")[2] in SWAPPED:
            operator = PROVIDER[name]()
            starts = [start for node in nodes for start, _ in operator.mutation_positions(node)]
            for at, place in enumerate(starts):
                if not any(start <= place < end for start, end in left_out):
                    yield Place(path, name, at)


def mutant_at(place: Place) -> Mutant | None:
    """None where the change is none, or is no Python."""
    text = place.path.read_text("utf-8")
    source = _mutated(PROVIDER[place.operator](), text, place.at)
    if source == text or not _compiles(source):
        return None
    lines = list(zip(text.splitlines(), source.splitlines(), strict=False))
    number = next(n for n, (was, now) in enumerate(lines) if was != now)
    was, now = (line.strip() for line in lines[number])
    module = ".".join(place.path.relative_to(ROOT).with_suffix("").parts)
    module = module.removesuffix(".__init__")
    return Mutant(module, number + 1, was, now, source)


def _mutated(operator: object, text: str, wanted: int) -> str:
    tree, at = get_ast(text), 0
    for node in list(ast_nodes(tree)):
        n = len(list(operator.mutation_positions(node)))
        if at <= wanted < at + n and node.parent.type != "parameters":  # no operator, but a mark
            try:
                mutated = operator.mutate(node, wanted - at)
            except AttributeError:  # of exceptions it replaces those with a plain name only
                return text
            if mutated is not node:
                place = node.parent.children.index(node)
                if mutated is None:
                    node.parent.children.pop(place)
                else:
                    node.parent.children[place] = mutated
            return str(tree.get_code())
        at += n
    return text


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _left_out(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Types, decorators, how memory is laid out: what no run can be held to. And `strict=True`
    of zip, which guards against a mistake of ours that no right code ever makes.
    """
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.arg | ast.AnnAssign):
            parts.append(node.annotation)
        if isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation):
            parts.append(node.value)
        if isinstance(node, ast.FunctionDef):
            parts.append(node.returns)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            parts += node.decorator_list
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            parts.append(node)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "zip":
            parts += [word.value for word in node.keywords if ast.unparse(word) == "strict=True"]
        for part in parts:
            if part is not None:
                yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)
