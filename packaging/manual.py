#!/usr/bin/env python3
"""Writes the manual pages of a program from its own help: NAME.1, and NAME-SUBCOMMAND.1 for each of its subcommands.

    packaging/manual.py PROGRAM FOLDER

Flags that only --help-all (--help-hidden) lists are in them too. The pages hold no date and no path, so that two of one version are the same.
"""

import json
import os
import subprocess
import sys


def main():
    program, folder = sys.argv[1:]
    dump = subprocess.run([program, "--experimental-dump-help"], capture_output=True, text=True, check=True).stdout
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    root = json.loads(dump)["command"]
    os.makedirs(folder, exist_ok=True)
    for words, command in pages(root, [root["commandName"]]):
        with open(os.path.join(folder, "-".join(words) + ".1"), "w") as file:
            file.write(page(words, listed(command, program, words), version))


def shown(command):
    """Subcommands that --help names; help itself has no page."""
    return [c for c in command.get("subcommands", []) if c["shouldDisplay"] and c["commandName"] != "help"]


def listed(command, program, words):
    """The command without flags that no help lists."""
    arguments = command.get("arguments", [])
    if all(argument["shouldDisplay"] for argument in arguments):
        return command
    every = subprocess.run([program, *words[1:], "--help-hidden"], capture_output=True, text=True, check=True).stdout.split()
    known = {word.rstrip(",") for text in every for word in text.split("/")}

    def is_listed(argument):
        return argument["shouldDisplay"] or any(f"--{name['name']}" in known for name in argument.get("names", []))

    return dict(command, arguments=[argument for argument in arguments if is_listed(argument)])


def pages(command, words):
    yield words, command
    for sub in shown(command):
        yield from pages(sub, [*words, sub["commandName"]])


def escape(text):
    """Plain text for groff; a line that begins with a dot or an apostrophe would be a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def prose(text):
    """Paragraphs; lines that are set in, such as examples, stay as they are."""
    lines, is_example = [], False
    for line in text.split("\n"):
        indented = line.startswith("  ")
        if indented and not is_example:
            lines += [".PP", ".nf"]
        elif is_example and not indented:
            lines.append(".fi")
        is_example = indented
        lines.append(escape(line) if line.strip() else ".PP")
    return "\n".join(lines + [".fi"] * is_example)


def flag(name):
    dashes = "--" if name["kind"] == "long" else "-"
    return f"\\fB{escape(dashes + name['name'])}\\fR"


def value(argument):
    return f"\\fI{escape(argument['valueName'])}\\fR"


def heading(argument):
    if argument["kind"] == "positional":
        return value(argument)
    names = ", ".join(flag(name) for name in sorted(argument["names"], key=lambda name: name["kind"] == "long"))
    return names if argument["kind"] == "flag" else f"{names} {value(argument)}"


def options(arguments):
    """A heading for each group of flags, as --help has them."""
    groups = {}
    for argument in arguments:
        title = argument.get("sectionTitle") or ("Arguments" if argument["kind"] == "positional" else "Options")
        groups.setdefault(title, []).append(argument)
    for title, members in groups.items():
        yield f".SS {escape(title)}"
        for argument in members:
            text = argument.get("abstract", "")
            if "defaultValue" in argument and "default" not in text.lower():
                text += f" (default: {argument['defaultValue']})"
            yield f".TP\n{heading(argument)}\n{escape(text.strip()) or '.'}"


def page(words, command, version):
    name = "-".join(words)
    arguments = [argument for argument in command.get("arguments", []) if argument["kind"] != "flag"
                 or not {"help", "version"} & {n["name"] for n in argument["names"]}]
    synopsis = [f"\\fB{escape(' '.join(words))}\\fR"]
    if shown(command):
        synopsis.append("\\fIsubcommand\\fR")
    if any(argument["kind"] != "positional" for argument in arguments):
        synopsis.append("[\\fIoptions\\fR]")
    for argument in arguments:
        if argument["kind"] == "positional":
            dots = " ..." if argument["isRepeating"] else ""
            synopsis.append(f"[{value(argument)}{dots}]" if argument["isOptional"] else value(argument) + dots)
    lines = [
        f'.TH {name.upper()} 1 "" "pushload {version}" "User Commands"', ".SH NAME",
        f"{escape(name)} \\- {escape(command.get('abstract', '').rstrip('.'))}", ".SH SYNOPSIS", " ".join(synopsis)]
    if command.get("discussion"):
        lines += [".SH DESCRIPTION", prose(command["discussion"])]
    if shown(command):
        lines.append(".SH SUBCOMMANDS")
        lines += [f".TP\n\\fB{escape('-'.join([*words, sub['commandName']]))}\\fR(1)\n{escape(sub.get('abstract', ''))}"
                  for sub in shown(command)]
    if arguments:
        lines += [".SH OPTIONS", *options(arguments)]
    other = words[:-1] if len(words) > 1 else [{"pushload": "mock-apns", "mock-apns": "pushload"}[words[0]]]
    lines += [".SH SEE ALSO", f"\\fB{escape('-'.join(other))}\\fR(1)"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
