"""BigCodeBench: a Python function that passes unit tests. Nothing is run here; a sandbox runs `program`.

The solution is what the reply's code defines for the entry point, with what that needs, behind the
prompt's own imports ("calibrated" in https://github.com/bigcode-project/bigcodebench).
"""

from __future__ import annotations

import ast
import json
import re

from workbench.benchmarks.judging import Facts
from workbench.benchmarks.reading import without_thinking

_FENCE = re.compile(
    r"^[ \t]*```[ \t]*(?:python3?|py)?[ \t]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE | re.I
)
_RUNNER = """
import importlib.util, os, sys, types, unittest

SOLUTION = {solution}
TESTS = {tests}
VERDICT = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

def say(verdict):
    os.write(VERDICT, ("\\n" + verdict + "\\n").encode())
    os._exit(0)

for name in {needed}:
    if importlib.util.find_spec(name) is None:
        say("{word} lacks " + name)
module = types.ModuleType("__test__")
module.__dict__.update(__file__="__test__.py", os=os, sys=sys, environ=os.environ)
sys.modules["__test__"] = module
try:
    exec(compile(SOLUTION + "\\n" + TESTS, "__test__.py", "exec"), module.__dict__)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(module.TestCases)
    result = unittest.TestResult()
    suite.run(result)
    say("{word}" if result.testsRun > 0 and result.wasSuccessful() else "wrong")
except BaseException as error:
    sys.stderr.write(repr(error)[:500])
    say("wrong")
"""


def program(reply: str, facts: Facts, word: str) -> str:
    """The reply's solution and the instance's tests as one program.

    It prints ``<word>`` as its last line when every test passes, and ``<word> lacks <module>`` when
    a module that the prompt or the tests import is not there.

    Args:
        word: a secret, so that a solution that ends the program itself cannot claim to have passed.
    """
    solution = extract(reply, str(facts.get("entry_point", "")))
    prompt = str(facts.get("code_prompt", ""))
    whole = f"{prompt}\n    pass\n{solution}" if prompt else solution
    tests = str(facts["test"])
    needed = sorted(_modules(f"{prompt}\n    pass\n" if prompt else "") | _modules(tests))
    return _RUNNER.format(solution=json.dumps(whole), tests=json.dumps(tests), needed=needed, word=word)


def _modules(code: str) -> set[str]:
    """Top-level names of what code imports."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError):
        return set()
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    parts = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 0}
    return {name.split(".")[0] for name in plain | parts if name}


def extract(reply: str, entry_point: str) -> str:
    """The code of a reply: of the fenced blocks, or of the whole, what the entry point needs.

    Of several blocks the last that defines the entry point counts. Code that cannot be parsed is
    cut at its end until it can; what is left of nothing is empty.
    """
    text = without_thinking(reply)
    blocks = [block for block in _FENCE.findall(text) if block.strip()] or [text]
    defining = [block for block in blocks if re.search(rf"\bdef\s+{re.escape(entry_point)}\b", block)]
    tree = _parsed((defining or blocks)[-1])
    return "" if tree is None else "\n".join(ast.unparse(node) for node in _needed(tree.body, entry_point))


def _parsed(code: str) -> ast.Module | None:
    """The longest run of lines from the first line of code on that is Python."""
    lines = code.split("\n")
    starts = [
        n for n, line in enumerate(lines) if re.match(r"(?:import|from|def|class|@|[A-Za-z_]\w*\s*=)", line)
    ]
    for start in starts[:3]:
        for end in range(len(lines), start, -1):
            try:
                return ast.parse("\n".join(lines[start:end]))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
    return None


def _needed(body: list[ast.stmt], entry_point: str) -> list[ast.stmt]:
    """Imports, and the definitions that the entry point reaches; all of them where it is not defined."""
    defined: dict[str, ast.stmt] = {}
    for node in body:
        for name in _defines(node):
            defined[name] = node
    wanted, reached = [entry_point], set[str]()
    while wanted:
        name = wanted.pop()
        if name in defined and name not in reached:
            reached.add(name)
            wanted += [n.id for n in ast.walk(defined[name]) if isinstance(n, ast.Name)]
    return [
        node
        for node in body
        if isinstance(node, ast.Import | ast.ImportFrom) or not reached or reached & set(_defines(node))
    ]


def _defines(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
