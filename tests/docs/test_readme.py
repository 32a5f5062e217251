"""Every block of Python and every console session in README.md and docs/ is run and must be true."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs.blocks import WrongDocument, blocks, matches, run_document
from tests.tidy.tree import ROOT

DOCUMENTS = sorted({"README.md", *(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md"))})


@pytest.mark.parametrize("name", DOCUMENTS)
def test_document_is_true(name: str, tmp_path: Path) -> None:
    path = ROOT / name
    assert path.exists(), f"{name} is missing"
    if (ROOT / "examples").exists():
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    run_document(path.read_text(encoding="utf-8"), name=name, folder=tmp_path)


def test_readme_shows_both_python_and_commands() -> None:
    readme = ROOT / "README.md"
    assert readme.exists(), "README.md is missing"
    assert {"python", "console"} <= {block.language for block in blocks(readme.read_text(encoding="utf-8"))}


TRUE = """
Blocks share their names, and their folder with the console:

```python
from pathlib import Path
amount = "4,050 INR"
Path("amount.txt").write_text(amount)
```

- also inside a list:

  ```python
  assert amount == "4,050 INR"
  if amount:
      assert Path("amount.txt").exists()
  ```

```console
$ cat amount.txt; echo
4,050 INR
$ printf 'one\\ntwo\\nthree\\n'
one
...
th...e
$ echo a \\
  b
a b
$ ls nowhere; echo "exit code $?"
ls: ...nowhere...
exit code 2
$ true
```

```sh
this is only shown
```

~~~text
```python
this too
```
~~~
"""


def test_a_true_document_passes(tmp_path: Path) -> None:
    assert run_document(TRUE, name="true.md", folder=tmp_path) == 3


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        ("```python\nassert 1 + 1 == 3\n```", "wrong.md, line 2: AssertionError"),
        ("```python\nx = 1\n```\n\n```python\nx = 2\ny = z\n```", "wrong.md, line 7: NameError"),
        ("```python\nx = \n```", "wrong.md, line 2: SyntaxError"),
        ("text\n```console\n$ echo 4,050\n4,180\n```", "wrong.md, line 3: the document shows\n4,180"),
        ("```console\n$ echo shown; echo hidden\nshown\n```", "but it printed\nshown\nhidden"),
        ("```console\n$ echo something\n```", "but it printed\nsomething"),
        ("```console\n$ echo a\n...\nb\n```", "but it printed\na"),
        ("```console\n$ true\n$ false\n```", "wrong.md, line 3: exit code 1"),
        ("```console\n$ no-such-command\n```", "wrong.md, line 2: exit code 127"),
        ("```console\necho no prompt\n```", "wrong.md, line 2: a console block begins with a command"),
        ("```python\nx = 1\n", "wrong.md, line 1: this block never ends"),
        ("```python skip\nassert False\n```", "wrong.md, line 2: AssertionError"),
    ],
)
def test_an_untrue_document_fails_at_its_line(planted: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(WrongDocument) as caught:
        run_document(planted, name="wrong.md", folder=tmp_path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("expected", "printed", "alike"),
    [
        ("", "", True),
        ("", "a", False),
        ("...", "", True),
        ("...", "a\nb\n", True),
        ("a\n...\nd", "a\nb\nc\nd\n", True),
        ("a\n...\nd", "a\nd\n", True),
        ("a\n...\nd", "a\nb\n", False),
        ("took ... ms", "took 12 ms\n", True),
        ("took ... ms", "took 12\nms\n", False),
        ("a.c", "abc\n", False),
        ("a", "a   \n\n", True),
        ("  a", "a\n", False),
    ],
)
def test_dots_stand_for_anything_and_nothing_else_does(expected: str, printed: str, *, alike: bool) -> None:
    assert matches(expected, printed) is alike
