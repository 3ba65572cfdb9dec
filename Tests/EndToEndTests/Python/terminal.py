#!/usr/bin/env python3
"""Runs a program on a pseudo-terminal (`Session`) and prints, as JSON, what its screens show.

    terminal.py COLUMNS ROWS [--key TEXT=KEYS …] [--size TEXT=COLUMNSxROWS …] [--continue TEXT= …] -- PROGRAM [ARGUMENT …]

--key types KEYS (with Python's escapes: \\x03 is Ctrl-C) once the output holds TEXT; --size then makes it another size,
--continue waits until it is stopped and lets it go on. Each
happens once, in the order given; for TEXT what came after the one before counts.
"""

import codecs
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

import pyte

SWITCH = re.compile(r"(\x1b\[\?1049[hl])")


class Session:
    """A program on a pseudo-terminal until it ends, at most five minutes; its screens are rows of pyte's characters.

    `main` at the end; `other`: the alternate screen as it was last; `left`: as it was when the program went from it;
    `met`: as it was when its first line first matched `meet`, a regular expression.
    """

    def __init__(self, columns, rows, program, actions=(), environment=None, meet=None):
        actions = list(actions)
        self.raw, self.other, self.left, self.met = "", [], [], []
        self.is_other = False
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(program[0], program, environment or os.environ)
        resize(terminal, columns, rows)
        screens = [pyte.Screen(columns, rows), pyte.Screen(columns, rows)]
        streams = [pyte.Stream(screen) for screen in screens]
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        deadline = time.monotonic() + 300
        pending, since = "", 0
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    data = os.read(terminal, 65536)
                except OSError:
                    break
                if not data:
                    break
                read = decoder.decode(data)
                self.raw += read
                pending += read
                # A sequence that is cut stays for the next time.
                cut = pending.rfind("\x1b")
                ready, pending = (pending, "") if cut < 0 or len(pending) - cut > 16 else (pending[:cut], pending[cut:])
                if SWITCH.fullmatch(pending) or re.fullmatch(r"\x1b\[[0-9;?]*[A-Za-z].*", pending, re.S):
                    ready, pending = ready + pending, ""
                for part in SWITCH.split(ready):
                    if SWITCH.fullmatch(part):
                        if part.endswith("l"):
                            self.left = characters(screens[1])
                        self.is_other = part.endswith("h")
                    elif part:
                        streams[self.is_other].feed(part)
                        if self.is_other:
                            self.other = characters(screens[1])
                            if meet and not self.met and re.search(meet, text(self.other)[0]):
                                self.met = self.other
            if actions and actions[0][1] in self.raw[since:]:
                since = len(self.raw)
                flag, _, what = actions.pop(0)
                if flag == "--continue":
                    os.waitpid(pid, os.WUNTRACED)
                    os.kill(pid, signal.SIGCONT)
                elif flag == "--key":
                    os.write(terminal, what.encode().decode("unicode_escape").encode())
                else:
                    columns, rows = map(int, what.split("x"))
                    resize(terminal, columns, rows)
                    for screen in screens:
                        screen.resize(rows, columns)
        streams[self.is_other].feed(pending)
        self.main = characters(screens[0])
        self.status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self.is_cursor_hidden = any(screen.cursor.hidden for screen in screens)
        self.is_done = not actions


def characters(screen):
    return [[screen.buffer[row][column] for column in range(screen.columns)] for row in range(screen.lines)]


def text(rows):
    return ["".join(character.data for character in row).rstrip() for row in rows]


def main():
    split = sys.argv.index("--")
    actions = []
    for flag, wish in zip(sys.argv[3:split:2], sys.argv[4:split:2]):
        wanted, _, what = wish.rpartition("=")
        actions.append((flag, wanted, what))
    session = Session(int(sys.argv[1]), int(sys.argv[2]), sys.argv[split + 1:], actions)
    print(json.dumps({
        "status": session.status, "raw": session.raw, "main": text(session.main), "other": text(session.other),
        "left": text(session.left), "isOther": session.is_other, "isCursorHidden": session.is_cursor_hidden,
        "isDone": session.is_done}))


def resize(terminal, columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


if __name__ == "__main__":
    main()
