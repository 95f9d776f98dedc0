"""Comparing replies with what a case wants: <any>, and <name>s that are kept."""
import json
import re

NAME = re.compile(r'<([a-z][a-z0-9_]*)>')


class Mismatch(Exception):
    """What came back is not what was wanted."""


class Names:
    """The values that <name>s stand for, found along the way."""

    def __init__(self):
        self.values = {}

    def bind(self, name, value):
        """True when `value` may stand for <name>."""
        if name == 'any':
            return True
        return self.values.setdefault(name, value) == value

    def fill(self, text):
        return NAME.sub(lambda m: str(self.values.get(m.group(1), m.group(0))), text)

    def blank(self, text):
        """The text with kept values replaced by their names, so that two stores can be compared."""
        for name, value in sorted(self.values.items(), key=lambda item: -len(str(item[1]))):
            text = text.replace(str(value), f'<{name}>')
        return text


def match_json(want, got, names, where):
    if isinstance(want, str) and NAME.fullmatch(want):
        if not names.bind(NAME.fullmatch(want).group(1), got):
            raise Mismatch(f'{where}: {want} was {names.values[want[1:-1]]!r}, now {got!r}')
    elif isinstance(want, str) and NAME.search(want) and isinstance(got, str):
        match_text(want, got, names, where)
    elif isinstance(want, dict) and isinstance(got, dict):
        open_ended = '...' in want
        missing = [k for k in want if k not in got and k != '...']
        extra = [] if open_ended else [k for k in got if k not in want]
        if missing or extra:
            raise Mismatch(f'{where}: missing {missing}, not expected {extra}: {json.dumps(got)}')
        for key in want:
            if key != '...':
                match_json(want[key], got[key], names, f'{where}.{key}')
    elif isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            raise Mismatch(f'{where}: wanted {len(want)} items, got {len(got)}: {json.dumps(got)}')
        for number, (one, other) in enumerate(zip(want, got)):
            match_json(one, other, names, f'{where}[{number}]')
    elif type(want) is not type(got) or want != got:
        raise Mismatch(f'{where}: wanted {json.dumps(want)}, got {json.dumps(got)}')


def match_text(want, got, names, where):
    pattern, kept = '', []
    at = 0
    for mark in NAME.finditer(want):
        pattern += re.escape(want[at:mark.start()]) + '(.*?)'
        kept.append(mark.group(1))
        at = mark.end()
    found = re.fullmatch(pattern + re.escape(want[at:]), got.rstrip('\n'), re.DOTALL)
    if not found or not all(names.bind(n, v) for n, v in zip(kept, found.groups())):
        raise Mismatch(f'{where}: wanted\n{names.fill(want)}\ngot\n{got}')
