#!/usr/bin/env python3
"""Runs a program on a pseudo-terminal and prints, as JSON, what its screens show.

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


def main():
    columns, rows = int(sys.argv[1]), int(sys.argv[2])
    split = sys.argv.index("--")
    actions = []
    for flag, text in zip(sys.argv[3:split:2], sys.argv[4:split:2]):
        wanted, _, what = text.rpartition("=")
        actions.append((flag, wanted, what))
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.argv[split + 1], sys.argv[split + 1:])
    resize(terminal, columns, rows)
    main_screen, other = pyte.Screen(columns, rows), pyte.Screen(columns, rows)
    streams = [pyte.Stream(main_screen), pyte.Stream(other)]
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    raw, shown, is_other, left = "", [], False, []
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
            text = decoder.decode(data)
            raw += text
            pending += text
            # A sequence that is cut stays for the next time.
            cut = pending.rfind("\x1b")
            ready, pending = (pending, "") if cut < 0 or len(pending) - cut > 16 else (pending[:cut], pending[cut:])
            if SWITCH.fullmatch(pending) or re.fullmatch(r"\x1b\[[0-9;?]*[A-Za-z].*", pending, re.S):
                ready, pending = ready + pending, ""
            for part in SWITCH.split(ready):
                if SWITCH.fullmatch(part):
                    if part.endswith("l"):
                        left = [line.rstrip() for line in other.display]
                    is_other = part.endswith("h")
                elif part:
                    streams[is_other].feed(part)
                    if is_other:
                        shown = [line.rstrip() for line in other.display]
        if actions and actions[0][1] in raw[since:]:
            since = len(raw)
            flag, _, what = actions.pop(0)
            if flag == "--continue":
                os.waitpid(pid, os.WUNTRACED)
                os.kill(pid, signal.SIGCONT)
            elif flag == "--key":
                os.write(terminal, what.encode().decode("unicode_escape").encode())
            else:
                columns, rows = map(int, what.split("x"))
                resize(terminal, columns, rows)
                main_screen.resize(rows, columns)
                other.resize(rows, columns)
    streams[is_other].feed(pending)
    _, status = os.waitpid(pid, 0)
    print(json.dumps({
        "status": os.waitstatus_to_exitcode(status), "raw": raw, "main": [line.rstrip() for line in main_screen.display],
        "other": shown, "left": left, "isOther": is_other, "isCursorHidden": main_screen.cursor.hidden or other.cursor.hidden,
        "isDone": not actions}))


def resize(terminal, columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


if __name__ == "__main__":
    main()
