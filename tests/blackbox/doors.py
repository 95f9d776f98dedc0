"""The program under test, and the doors through which an operation is called."""
import http.client
import json
import os
import shlex
import signal
import subprocess

SECONDS = 30  # for one answer; long enough for a loaded machine


class Program:
    """loci with a store of its own in `folder`. The server starts when it is first asked."""

    def __init__(self, path, folder):
        self.path, self.folder, self.server, self.address = path, folder, None, None
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(('LOCI_', 'LETTA_'))}
        for name in ('LOCI_MODEL_DIR',):
            if name in os.environ:
                self.env[name] = os.environ[name]
        self.env.update(XDG_CONFIG_HOME=f'{folder}/config', XDG_DATA_HOME=f'{folder}/data',
                        HOME=folder, NO_COLOR='1', LOCI_CHECK_OUTPUT='true')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.server:
            self.server.send_signal(signal.SIGTERM)
            try:
                self.server.wait(SECONDS)
            except subprocess.TimeoutExpired:
                self.server.kill()
                raise OSError('the server did not stop on SIGTERM') from None
            self.server.stdout.close()

    def start(self, *arguments, **pipes):
        return subprocess.Popen([self.path, *arguments], env=self.env, cwd=self.folder, **pipes)

    def run(self, words):
        done = subprocess.run([self.path, *shlex.split(words)], env=self.env, cwd=self.folder,
                              capture_output=True, text=True, timeout=SECONDS, check=False,
                              stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout.rstrip('\n'), done.stderr.rstrip('\n')

    def serve(self):
        if not self.server:
            self.server = self.start('serve', '--listen', '127.0.0.1:0', stdout=subprocess.PIPE,
                                     text=True)
            line = self.server.stdout.readline()
            if 'http://' not in line:
                raise OSError(f'the server did not say its URL: {line!r}')
            self.address = line.split('http://')[1].split()[0].rstrip('/')
        return self.address

    def http(self, request, headers, body):
        method, _, path = request.partition(' ')
        connection = http.client.HTTPConnection(self.serve(), timeout=SECONDS)
        if body and 'content-type' not in {h.lower() for h in headers}:
            headers = {**headers, 'Content-Type': 'application/json'}
        connection.request(method, path.strip(), body.encode() if body else None, headers)
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply.status, reply.headers, text


class Rest:
    def __init__(self, program):
        self.program = program

    def call(self, operation, text):
        status, _, body = self.program.http(f'POST /v1/ops/{operation}', {}, text)
        if status == 200:
            return 'ok', body, ''
        reply = json.loads(body)
        return reply['code'], '', reply['detail']

    def close(self):
        pass


class Cli:
    def __init__(self, program):
        self.program = program

    def call(self, operation, text):
        status, out, err = self.program.run(f'--json call {operation} {shlex.quote(text)}')
        if status == 0:
            return 'ok', out, ''
        reply = json.loads(err)
        return reply['code'], '', reply['detail']

    def close(self):
        pass


class Mcp:
    """One stdio connection, all toolsets."""

    def __init__(self, program):
        self.process = program.start('mcp', '--toolsets', 'all', stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
        self.number = 0
        self.ask('initialize', {'protocolVersion': '2025-06-18', 'capabilities': {},
                                'clientInfo': {'name': 'blackbox', 'version': '1'}})
        self.send({'method': 'notifications/initialized'})

    def send(self, message):
        self.process.stdin.write(json.dumps({'jsonrpc': '2.0', **message}) + '\n')
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({'id': self.number, 'method': method, 'params': params})
        for line in self.process.stdout:
            reply = json.loads(line)
            if reply.get('id') == self.number:
                if 'error' in reply:
                    raise OSError(f"MCP: {reply['error']}")
                return reply['result']
        raise OSError('MCP: the program closed its output')

    def call(self, operation, text):
        result = self.ask('tools/call', {'name': operation, 'arguments': json.loads(text)})
        body = result['content'][0]['text']
        if not result.get('isError'):
            return 'ok', body, ''
        return None, '', body  # MCP carries an error's text, not its code

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        if self.process.wait(SECONDS) != 0:
            raise OSError(f'MCP: the program ended with {self.process.returncode}')


DOORS = {'rest': Rest, 'mcp': Mcp, 'cli': Cli}
