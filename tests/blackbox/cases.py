"""Reads case files into cases and steps. README.md has the format."""
import re

METHODS = ('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS')
HEAD = re.compile(r'^==\s+(.*?)(?:\s+\[([a-z ]+)\])?\s*$')


class CaseError(Exception):
    """A case file that cannot be read; says where."""


class Step:
    def __init__(self, kind, request, line):
        self.kind, self.request, self.line = kind, request, line
        self.default_status = {'program': '0', 'http': '200', 'call': 'ok'}[kind]
        self.status = self.output = self.errors = None
        self.headers, self.reply_headers, self.body = [], [], ''

    def add(self, mark, rest):
        """One line that belongs to this step. False when it does not fit."""
        if mark == '=':
            self.status = rest.strip()
        elif mark == '>':
            self.output = rest if self.output is None else f'{self.output}\n{rest}'
        elif mark == '!' and self.kind != 'http':
            self.errors = rest if self.errors is None else f'{self.errors}\n{rest}'
        elif mark == '|' and self.kind == 'http':
            self.body = f'{self.body}\n{rest}' if self.body else rest
        elif mark in '+<' and self.kind == 'http' and ':' in rest:
            name, _, value = rest.partition(':')
            (self.headers if mark == '+' else self.reply_headers).append((name.strip(), value.strip()))
        else:
            return False
        return True


class Case:
    def __init__(self, name, doors):
        self.name, self.doors, self.steps = name, doors, []

    @property
    def has_calls(self):
        return any(step.kind == 'call' for step in self.steps)


def new_step(line, number):
    first, _, rest = line.partition(' ')
    if first == '$' and rest.startswith('loci'):
        return Step('program', rest[4:].strip(), number)
    if first in METHODS:
        return Step('http', line.strip(), number)
    if first == 'call' and rest:
        return Step('call', rest.strip(), number)
    return None


def read_cases(path):
    cases = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        head = HEAD.match(line)
        if head:
            cases.append(Case(head.group(1), head.group(2).split() if head.group(2) else None))
            continue
        if not line.strip() or line.startswith('#'):
            continue
        if not cases:
            raise CaseError(f'{path.name}:{number}: a case starts with "== name"')
        step = new_step(line, number)
        if step:
            cases[-1].steps.append(step)
        elif not cases[-1].steps or not cases[-1].steps[-1].add(line[0], line[1:].lstrip(' ')):
            raise CaseError(f'{path.name}:{number}: cannot be understood: {line}')
    if not cases:
        raise CaseError(f'{path.name}: no case in it')
    return cases
