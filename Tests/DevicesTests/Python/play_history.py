#!/usr/bin/env python3
"""What devices do with a history of pushes, hands and answers: a dictionary a device, written from the reference of devices alone.

Reads a history a line (JSON), writes what every check in it sees, a list a line. Traits and states are in the history."""

import datetime
import heapq
import json
import re
import sys

SECOND = 1_000_000_000
HOUR = 3600 * SECOND


def duration(text):
    number, unit = re.fullmatch(r"(\d+)(ms|s|m|h)", text).groups()
    return int(number) * {"ms": 1_000_000, "s": SECOND, "m": 60 * SECOND, "h": HOUR}[unit]


def certain(share):
    return {"0%": False, "100%": True}[share]


class World:
    def __init__(self, history):
        self.model = history["model"]
        self.start = self.now = history["start"]
        self.offset = int(next(iter(self.model["utc_offsets"])))
        self.devices = {}
        self.timers = []
        self.planned = 0
        self.outcomes = {}
        self.events = {}
        self.requests = []
        self.reports = []

    # Time

    def plan(self, time, what):
        self.planned += 1
        heapq.heappush(self.timers, (time, self.planned, what))

    def advance(self, time):
        while self.timers and self.timers[0][0] <= time:
            due, _, what = heapq.heappop(self.timers)
            self.now = max(self.now, due)
            what()
        self.now = max(self.now, time)

    def count(self, event):
        self.events[event] = self.events.get(event, 0) + 1

    def settle(self, ticket, outcome):
        self.outcomes[ticket] = outcome
        if outcome not in ("stored", "throttled", "extending", "fetching", "pending"):
            self.report(ticket, outcome)

    def report(self, ticket, kind):
        self.reports.append([ticket, kind, self.now])

    def lose(self, event, outcome):
        """It does not come to its device or its app, nor does what it announces."""
        self.settle(event["ticket"], outcome)
        if event["type"] not in ("alert", "background"):
            return
        payload = json.loads(event["payload"])
        aps = payload.get("aps", {})
        wants, _ = self.wanted(aps)
        if not wants and aps.get("content-available") == 1:
            if "richId" in payload:
                has_content = payload.get("richType") == "img"
            else:
                has_content = certain(self.model["silent"]["fetches"])
        else:
            has_content = (
                aps.get("mutable-content") == 1 and "alert" in wants
                and self.device(event["device"])["platform"] != "tv"
                and bool(payload.get("encrypted-content") or payload.get("attachment-url")))
        if has_content:
            self.report(event["ticket"], "no_content")

    def device(self, name):
        return self.devices.setdefault(name, {
            "name": name, "online": True, "unlocked": True, "app": "background", "platform": "phone",
            "alert": "granted", "sound": "granted", "badge": "granted", "icon": 0, "centre": [], "pending": [],
            "stored": None, "held": None, "hour": None, "wakes": 0})

    # Arrival

    def push(self, event):
        device = self.device(event["device"])
        ticket = event["ticket"]
        if device["online"]:
            return self.deliver(device, event)
        if event["expiration"] == 0:
            return self.lose(event, "not_stored")
        until = self.now + 30 * 24 * HOUR
        if event["expiration"] is not None:
            until = min(until, event["expiration"] * SECOND)
        if until <= self.now:
            return self.lose(event, "expired")
        self.count("ever_stored")
        if device["stored"]:
            self.lose(device["stored"], "replaced")
        device["stored"] = event
        self.settle(ticket, "stored")

        def expire():
            if device["stored"] is event:
                device["stored"] = None
                self.lose(event, "expired")
        self.plan(until, expire)

    def wanted(self, aps):
        """What it would present, and its texts."""
        alert = aps.get("alert")
        if isinstance(alert, str):
            texts = {"body": alert}
        else:
            texts = {key: (alert or {}).get(key, "") for key in ("title", "subtitle", "body")}
        wants = set()
        if any(texts.values()) or (isinstance(alert, dict) and alert.get("loc-key")):
            wants.add("alert")
        if aps.get("sound"):
            wants.add("sound")
        if "badge" in aps:
            wants.add("badge")
        return wants, texts

    def deliver(self, device, event):
        ticket = event["ticket"]
        payload = json.loads(event["payload"])
        aps = payload.get("aps", {})
        wants, texts = self.wanted(aps)
        if event["type"] not in ("alert", "background"):
            self.settle(ticket, "handed_over")
        elif not wants and aps.get("content-available") == 1:
            self.silent(device, event, payload)
        elif not wants:
            self.settle(ticket, "handed_over")
        else:
            note = {
                "ticket": ticket, "identifier": event["collapse"], "thread": aps.get("thread-id", ""),
                "title": texts.get("title", ""), "subtitle": texts.get("subtitle", ""), "body": texts.get("body", ""),
                "category": aps.get("category", ""), "wants": wants, "badge": aps.get("badge", 0),
                "passive": aps.get("interruption-level") == "passive", "gentle": event["priority"] == 1,
                "remote": True, "rich": False}
            if device["platform"] == "watch" and device["unlocked"]:
                self.settle(ticket, "not_forwarded")
            elif (aps.get("mutable-content") == 1 and "alert" in wants and device["platform"] != "tv"
                    and device["alert"] == "granted"):
                self.extend(device, event, payload, note)
            else:
                self.settle(ticket, self.present(device, note))

    # The service extension

    def extend(self, device, event, payload, note):
        ticket = event["ticket"]
        self.settle(ticket, "extending")
        settings = self.model["service_extension"]
        began, time = self.now, duration(settings["time"]["median"])
        run = {"downloading": False, "downloaded": False, "over": False}
        sealed, attachment = payload.get("encrypted-content"), payload.get("attachment-url")

        def end(how):
            if run["over"]:
                return
            run["over"] = True
            if how in ("extension_in_time", "extension_best_attempt") and sealed:
                if event["plain"] is None:
                    how = "seal_broken"
                else:
                    note["body"] = event["plain"]
            self.count(how)
            self.settle(ticket, self.present(device, note))
            if sealed or attachment:
                changed = how in ("extension_in_time", "extension_best_attempt")
                seen = self.outcomes[ticket] in ("banner", "lock_screen", "centre", "in_app")
                there = changed and seen and (not attachment or run["downloaded"])
                self.report(ticket, "content" if there else "no_content")

        def limit():
            end("extension_best_attempt" if certain(settings["best_attempt"]) else "extension_timed_out")

        def worked():
            if not run["downloading"]:
                end("extension_in_time")

        def downloaded(how):
            if run["over"]:
                return
            run["downloading"], run["downloaded"] = False, how == "new_data"
            if self.now >= began + time:
                end("extension_in_time")

        if certain(settings["crashes"]):
            self.plan(began + min(time, 30 * SECOND), lambda: end("extension_crashed"))
            return
        if attachment and device["online"]:
            run["downloading"] = True
            self.request(device, ticket, "attachment", attachment, "", "", "", began + 30 * SECOND, downloaded,
                         still=lambda: not run["over"])
        if time < 30 * SECOND:
            self.plan(began + time, worked)
        self.plan(began + 30 * SECOND, limit)

    # Silent pushes

    def silent(self, device, event, payload):
        ticket = event["ticket"]
        limit = self.model["silent"]["per_hour"]
        if limit != "unlimited":
            second = (self.now - self.start) // SECOND
            if device["wakes"] == 0 or second - device["hour"] >= 3600:
                device["hour"], device["wakes"] = second, 0
            if device["wakes"] >= limit:
                self.count("ever_throttled")
                if device["held"]:
                    self.lose(device["held"], "replaced")
                device["held"] = event
                self.settle(ticket, "throttled")

                def release():
                    if device["held"] is event:
                        device["held"] = None
                        self.silent(device, event, payload)
                if limit > 0:
                    self.plan(self.start + (device["hour"] + 3600) * SECOND, release)
                return
            device["wakes"] += 1
        rich = payload.get("richId")
        if rich is not None:
            rich = str(rich)
            if payload.get("richType") != "img":
                self.count("wake_new_data")
                return self.ask_for_rich(device, ticket, rich, payload)
            path, kind = "/api/notifications/" + rich, "rich"
        else:
            if not certain(self.model["silent"]["fetches"]):
                self.count("wake_no_data")
                self.settle(ticket, "no_data")
                return
            path, kind = self.model["silent"]["path"], "fetch"
        if not device["online"]:
            self.count("wake_failed")
            self.settle(ticket, "fetch_failed")
            return self.report(ticket, "no_content")
        self.settle(ticket, "fetching")
        deadline = self.now + 30 * SECOND

        def over(event_name):
            self.count(event_name)
            self.settle(ticket, "fetch_failed")
            self.report(ticket, "no_content")

        def ended(how):
            if how == "failed" or (kind == "rich" and how == "no_data"):
                over("wake_failed")
            elif how == "no_data":
                self.count("wake_no_data")
                self.settle(ticket, "no_data")
            else:
                self.count("wake_new_data")
                self.report(ticket, "content")
                if kind == "rich":
                    self.ask_for_rich(device, ticket, rich, payload)
                else:
                    self.settle(ticket, "fetched")
        self.request(device, ticket, kind, path, rich or "", "", "", deadline, ended,
                     late=lambda: over("wake_timed_out"))

    def ask_for_rich(self, device, ticket, rich, payload):
        if not self.make_room(device, rich):
            self.settle(ticket, "fetched")
            return
        self.settle(ticket, "pending")
        self.put_pending(device, {
            "ticket": ticket, "identifier": rich, "thread": "", "title": "", "subtitle": "",
            "body": payload.get("richMessage", ""), "category": "richPush", "wants": {"alert"}, "badge": 0,
            "passive": False, "gentle": False, "remote": False, "rich": True}, self.now + 5 * SECOND, None)

    # Local notifications

    def make_room(self, device, identifier):
        for request in device["pending"]:
            if request["note"]["identifier"] == identifier:
                self.end_pending(device, request, "local_replaced", "replaced")
                return True
        if len(device["pending"]) >= 64:
            self.count("local_refused")
            return False
        return True

    def end_pending(self, device, request, event, outcome):
        device["pending"].remove(request)
        if request["note"]["ticket"] is None:
            self.count(event)
        else:
            self.settle(request["note"]["ticket"], outcome)

    def put_pending(self, device, note, at, trigger):
        request = {"note": note, "at": at, "trigger": trigger}
        device["pending"].append(request)
        self.arm(device, request)

    def arm(self, device, request):
        at = request["at"]
        if at is not None:
            self.plan(at, lambda: self.fire(device, request, at))

    def fire(self, device, request, at):
        if request not in device["pending"] or request["at"] != at:
            return
        trigger = request["trigger"]
        again = self.next_time(trigger) if trigger and trigger["repeats"] else "never"
        if again != "never":
            request["at"] = again
            self.arm(device, request)
        else:
            device["pending"].remove(request)
        note = dict(request["note"])
        outcome = self.present(device, note)
        if note["ticket"] is not None:
            self.settle(note["ticket"], outcome)
        else:
            self.count("local_suppressed" if outcome == "suppressed" else "local_presented")

    def next_time(self, trigger):
        if trigger["kind"] == "interval":
            return self.now + trigger["time"]
        if trigger["kind"] == "region":
            return None
        units = ["month", "day", "hour", "minute", "second"]
        given = {unit: trigger.get(unit) for unit in units}
        weekday = trigger.get("weekday")
        zone = datetime.timezone(datetime.timedelta(hours=self.offset))
        first = datetime.datetime.fromtimestamp(self.now // SECOND, zone) + datetime.timedelta(seconds=1)
        # Units coarser than the coarsest that is given are any; those finer and not given are the least.
        coarsest = min([units.index(unit) for unit in units if given[unit] is not None]
                       + ([1] if weekday is not None else []))

        def allowed(unit, least, values):
            if given[unit] is not None:
                return [given[unit]]
            return [least] if units.index(unit) > coarsest else values
        days = allowed("day", 1, list(range(1, 32)))
        if weekday is not None and given["day"] is None:
            days = list(range(1, 32))
        months = allowed("month", 1, list(range(1, 13)))
        for ahead in range(8 * 366 + 1):
            date = first.date() + datetime.timedelta(days=ahead)
            if date.month not in months or date.day not in days:
                continue
            if weekday is not None and date.isoweekday() % 7 + 1 != weekday:
                continue
            for hour in allowed("hour", 0, list(range(24))):
                if ahead == 0 and hour < first.hour:
                    continue
                for minute in allowed("minute", 0, list(range(60))):
                    if ahead == 0 and (hour, minute) < (first.hour, first.minute):
                        continue
                    for second in allowed("second", 0, list(range(60))):
                        time = datetime.datetime(date.year, date.month, date.day, hour, minute, second, tzinfo=zone)
                        if time >= first:
                            return int(time.timestamp()) * SECOND
        return "never"

    def add(self, event):
        device = self.device(event["device"])
        request, trigger = event["request"], event["request"]["trigger"]
        at = self.next_time(trigger)
        short = trigger["kind"] == "interval" and (
            trigger["time"] == 0 or trigger["repeats"] and trigger["time"] < 60 * SECOND)
        if at == "never" or short:
            return self.count("local_refused")
        if not self.make_room(device, request["identifier"]):
            return
        self.count("local_added")
        wants = {"alert"} | ({"sound"} if request["sound"] else set())
        if request["badge"] is not None:
            wants.add("badge")
        self.put_pending(device, {
            "ticket": None, "identifier": request["identifier"], "thread": "", "title": request["title"],
            "subtitle": "", "body": request["body"], "category": request["category"], "wants": wants,
            "badge": request["badge"] or 0, "passive": False, "gentle": False, "remote": False, "rich": False},
            at, trigger)

    # What is seen

    def present(self, device, note):
        if note["remote"] and device["platform"] == "watch" and device["unlocked"]:
            return "not_forwarded"
        may = {level for level in note["wants"] if device[level] == "granted"}
        if device["platform"] == "tv":
            may &= {"badge"}
        if not may:
            return "suppressed"
        place = None
        if device["unlocked"] and device["app"] == "foreground":
            options = self.model["will_present"]
            may &= set() if note["rich"] or options == "none" else set(options)
            outcome = "banner" if "alert" in may else "in_app"
            place = outcome
        elif "alert" not in may:
            outcome = "badge_or_sound"
        elif note["passive"] or note["gentle"] and not device["unlocked"]:
            outcome = place = "centre"
            may -= {"sound"}
        else:
            outcome = place = "banner" if device["unlocked"] else "lock_screen"
        if "badge" in may:
            self.count("badges_set")
            device["icon"] = note["badge"]
        if "sound" in may:
            self.count("sounds_played")
        if "alert" in may or note["rich"]:
            self.show(device, note, place)
        return outcome

    def show(self, device, note, place):
        centre = device["centre"]
        for older in centre:
            if note["identifier"] and older["identifier"] == note["identifier"]:
                centre.remove(older)
                self.count("updated")
                break
        if len(centre) >= 100:
            centre.pop()
            self.count("crowded_out")
        note["place"], note["shown_at"] = place, self.now // SECOND
        if note["category"] and note["category"] not in self.model["categories"]:
            self.count("unknown_category")
            note["category"] = ""
        centre.insert(0, note)
        known = self.model["categories"].get(note["category"], self.model["reaction"])
        action = None
        if certain(known["opens"]):
            action = "default"
        else:
            for name, custom in known.get("actions", {}).items():
                if certain(custom["share"]):
                    action = name
            if action is None and certain(known["dismisses"]):
                action = "dismiss"
        if action:
            note["reaction"] = action
            self.plan(self.now + duration(known["delay"]["median"]), lambda: self.react(device, note))

    def react(self, device, note):
        # Another with the same texts is another.
        if not any(each is note for each in device["centre"]):
            return
        if self.act(device, note, note["reaction"], None) == "locked":
            note["waits"] = True

    def act(self, device, note, action, text):
        category = self.model["categories"].get(note["category"], {})
        custom = category.get("actions", {}).get(action)
        if action not in ("default", "dismiss") and custom is None:
            return "no_action"
        needs_unlock = action == "default" or custom and (custom["does"] == "foreground" or custom.get("unlock"))
        if needs_unlock and not device["unlocked"]:
            return "locked"
        typed = ""
        if action == "default":
            self.count("opened")
        elif action == "dismiss":
            self.count("dismissed")
        else:
            self.count("acted_on")
            if custom["does"] == "text":
                typed = text if text is not None else custom.get("text", "")
        if action != "dismiss" or category.get("dismiss_action"):
            if device["online"]:
                self.request(
                    device, note["ticket"], "action", "/api/actions", note["identifier"], action, typed,
                    self.now + 30 * SECOND,
                    lambda how: self.count("callback_failed" if how == "failed" else "callback_done"),
                    late=lambda: self.count("callback_timed_out"))
            else:
                self.count("callback_failed")
        device["centre"] = [each for each in device["centre"] if each is not note]
        return "done"

    # Requests

    def request(self, device, ticket, kind, path, notification, action, text, deadline, ended, late=None, still=None):
        request = {"open": True, "ended": ended, "still": still, "seen": [
            kind, device["name"], ticket, path, notification, action, text, deadline]}
        self.requests.append(request)

        def expire():
            if request["open"] and late:
                request["open"] = False
                late()
        if late:
            self.plan(deadline, expire)

    def finish(self, number, how):
        if not 0 <= number < len(self.requests):
            return
        request = self.requests[number]
        if not request["open"] or request["still"] and not request["still"]():
            return
        request["open"] = False
        request["ended"](how)

    # The history

    def take(self, event):
        self.advance(event["at"])
        what = event["do"]
        if what == "push":
            self.push(event)
        elif what == "add":
            self.add(event)
        elif what == "set":
            device = self.device(event["device"])
            device[event["what"]] = event["value"]
            if event["what"] == "online" and event["value"] and device["stored"]:
                stored, device["stored"] = device["stored"], None
                self.deliver(device, stored)
            if event["what"] == "unlocked":
                for note in list(device["centre"]):
                    if note.get("waits"):
                        self.react(device, note)
        elif what == "act":
            device = self.device(event["device"])
            if event["index"] < len(device["centre"]):
                self.act(device, device["centre"][event["index"]], event["action"], event["text"])
        elif what == "remove_pending":
            device = self.device(event["device"])
            for request in list(device["pending"]):
                if event["identifiers"] is None or request["note"]["identifier"] in event["identifiers"]:
                    self.end_pending(device, request, "local_removed", "fetched")
        elif what == "remove_delivered":
            device = self.device(event["device"])
            for note in list(device["centre"]):
                if event["identifiers"] is None or note["identifier"] in event["identifiers"]:
                    device["centre"] = [each for each in device["centre"] if each is not note]
                    self.count("removed")
        elif what == "crossed":
            device = self.device(event["device"])
            for request in list(device["pending"]):
                trigger = request["trigger"]
                if (trigger and trigger["kind"] == "region" and trigger["region"] == event["region"]
                        and trigger["entering"] == event["entering"]):
                    self.fire(device, request, request["at"])
        elif what == "finish":
            place = event["request"]
            self.finish(len(self.requests) - 1 - place % 3 if event["from_newest"] else place, event["how"])

    def check(self):
        outcomes = {}
        for outcome in self.outcomes.values():
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
        screens = {}
        for name, device in self.devices.items():
            screens[name] = {
                "badge": device["icon"],
                "notifications": [
                    [note["identifier"], note["thread"], note["title"], note["subtitle"], note["body"],
                     note["category"], note["place"], note["shown_at"], note["ticket"],
                     list(self.model["categories"].get(note["category"], {}).get("actions", {}))]
                    for note in device["centre"]],
                "pending": sorted(
                    ([request["note"]["identifier"], request["at"]] for request in device["pending"]),
                    key=lambda each: (each[1] is None, each[1] or 0, each[0]))}
        return {
            "outcomes": sorted(map(list, outcomes.items())), "events": sorted(map(list, self.events.items())),
            "screens": screens,
            "requests": [request["seen"] for request in self.requests], "reports": sorted(self.reports)}


def main():
    for line in sys.stdin:
        history = json.loads(line)
        world = World(history)
        checks = []
        for event in history["events"]:
            world.take(event)
            if event["do"] == "check":
                checks.append(world.check())
        print(json.dumps(checks, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


main()
