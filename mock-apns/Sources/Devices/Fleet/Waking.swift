import Payloads

/// Silent pushes: the app is woken for at most 30 s, and may fetch.
extension DeviceFleet {
    private static let hour: UInt32 = 3600

    /// A silent push at its device.
    func wake(_ device: UInt32, _ push: DevicePush, _ content: PushContent) -> DeviceOutcome {
        guard takeWake(device) else { return hold(device, push) }
        if !content.richID.isEmpty { return wakeForRich(device, push, content) }
        guard traits.unit(push.device, 31, push.ticket) < model.silent.fetches else {
            counts[.wakeNoData] += 1
            return .noData
        }
        guard isOnline(device) else { return failWake(push.ticket) }
        let job = begin(.fetching, device, push.ticket)
        fetch(job, .fetch, model.silent.path, notification: "")
        return .fetching
    }

    /// A rich push: its content is fetched if it is an image; then a local notification is asked for.
    private func wakeForRich(
        _ device: UInt32, _ push: DevicePush, _ content: PushContent
    ) -> DeviceOutcome {
        let isImage = content.richType.text(push.payload) == "img"
        guard !isImage || isOnline(device) else { return failWake(push.ticket) }
        let text = content.richID.text(push.payload)
        let identifier = String(text.prefix(60))
        let job = begin(.fetchingRich, device, push.ticket)
        var utf8 = identifier
        utf8.withUTF8 { identifier in
            let text = NotificationText(
                identifier: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(identifier).prefix(64)),
                body: content.richMessage.bytes(push.payload))
            keep(text.length, for: job) { text.write(to: $0) }
        }
        guard isImage else {
            counts[.wakeNewData] += 1
            return askForRich(job)
        }
        fetch(job, .rich, "/api/notifications/" + Self.escaped(text), notification: identifier)
        return .fetching
    }

    /// As one part of a path: what is not unreserved there is escaped (RFC 3986 section 2).
    private static func escaped(_ text: String) -> String {
        text.utf8.reduce(into: "") { path, byte in
            let isPlain =
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || [45, 46, 95, 126].contains(byte)
            if isPlain {
                path.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                path += byte < 16 ? "%0" + digits : "%" + digits
            }
        }
    }

    private func failWake(_ ticket: UInt64) -> DeviceOutcome {
        counts[.wakeFailed] += 1
        report(ticket, .noContent)
        return .fetchFailed
    }

    private func fetch(_ job: UInt32, _ kind: EchoRequest.Kind, _ path: String, notification: String) {
        jobs[job].until = now + DeviceModel.workLimit
        plan(job, at: jobs[job].until)
        request(job, kind, path, notification: notification)
    }

    // MARK: The hour's wakes

    /// Whole seconds of the fleet.
    private var second: UInt32 { UInt32(clamping: (now - startedAt) / 1_000_000_000) }

    private func takeWake(_ device: UInt32) -> Bool {
        guard let limit = model.silent.perHour else { return true }
        if devices[device].wakes == 0 || second - devices[device].hourStart >= Self.hour {
            devices[device].hourStart = second
            devices[device].wakes = 0
        }
        guard Int(devices[device].wakes) < limit else { return false }
        devices[device].wakes += 1
        return true
    }

    /// Held until the next hour; only the newest is.
    private func hold(_ device: UInt32, _ push: DevicePush) -> DeviceOutcome {
        counts[.everThrottled] += 1
        if let older = job(of: device, where: { $0.kind == .held }) { lose(older, from: .throttled, to: .replaced) }
        let job = begin(.held, device, push.ticket, keeping: push)
        jobs[job].until = startedAt + UInt64(devices[device].hourStart + Self.hour) * 1_000_000_000
        // Never, where the app is never woken.
        if model.silent.perHour != 0 { plan(job, at: jobs[job].until) }
        return .throttled
    }

    func releaseHeld(_ job: UInt32) {
        counts[.throttled] -= 1
        let device = jobs[job].device
        let push = kept(job)
        forget(job)
        settle(push.ticket, wake(device, push, push.content))
    }

    // MARK: How it ended

    func fetchEnded(_ job: UInt32, _ ending: EchoEnding) {
        switch (jobs[job].kind, ending) {
        case (_, .failed), (.fetchingRich, .noData):
            counts[.wakeFailed] += 1
            endFetch(job, .fetchFailed)
        case (.fetchingRich, .newData):
            counts[.wakeNewData] += 1
            let ticket = jobs[job].ticket
            report(ticket, .content)
            counts[.fetching] -= 1
            settle(ticket, askForRich(job))
        case (_, .newData):
            counts[.wakeNewData] += 1
            endFetch(job, .fetched)
        case (_, .noData):
            counts[.wakeNoData] += 1
            endFetch(job, .noData)
        }
    }

    func endFetch(_ job: UInt32, _ outcome: DeviceOutcome) {
        counts[.fetching] -= 1
        settle(jobs[job].ticket, outcome)
        if outcome == .fetched { report(jobs[job].ticket, .content) }
        if outcome == .fetchFailed { report(jobs[job].ticket, .noContent) }
        forget(job)
    }

    /// The rich push's local notification, 5 s from now: its job is a pending request from here on.
    private func askForRich(_ job: UInt32) -> DeviceOutcome {
        let device = jobs[job].device
        let isAdded = NotificationText(reading: keptBytes(job)).identifier.withMemoryRebound(to: UInt8.self) {
            makeRoom(for: $0, on: device)
        }
        guard isAdded else {
            forget(job)
            return .fetched
        }
        jobs[job].kind = .pending
        jobs[job].flags.insert(.isRich)
        jobs[job].presentation = .alert
        jobs[job].category = Self.richCategory.withUTF8Buffer {
            category(UnsafeRawBufferPointer($0))
        }
        jobs[job].until = now + DeviceModel.richDelay
        plan(job, at: jobs[job].until)
        return .pending
    }

    private static let richCategory: StaticString = "richPush"
}
