/// Local notifications: pending until their trigger fires, then delivered as others are.
extension DeviceFleet {
    package enum Adding: Sendable { case added, replaced, refused }

    /// The app on a device asks for a notification. One with the identifier of a pending one replaces it.
    ///
    /// - Returns: refused where the request is not as it must be, where its moment never comes, or where 64 are pending.
    @discardableResult
    package func add(_ request: LocalRequest, on key: DeviceKey, number: UInt64 = 0, at time: UInt64) -> Adding {
        advance(to: time)
        let device = devices.touch(key, number: number)
        let first = request.isUsable ? fires(request.trigger, device) : nil
        guard let first else {
            counts[.localRefused] += 1
            return .refused
        }
        let replaced = counts[.localReplaced] + counts[.replaced]
        let isAdded = Array(request.identifier.utf8).withUnsafeBufferPointer { makeRoom(for: $0, on: device) }
        guard isAdded else { return .refused }
        counts[.localAdded] += 1
        let job = begin(.pending, device, 0)
        jobs[job].flags = []
        keepText(of: request, for: job)
        jobs[job].presentation = .alert
        if request.hasSound { jobs[job].presentation.insert(.sound) }
        if let badge = request.badge {
            jobs[job].presentation.insert(.badge)
            jobs[job].badge = badge
        }
        jobs[job].category = Array(request.category.utf8).withUnsafeBytes { category($0) }
        triggers[job] = request.trigger
        jobs[job].until = first
        if first != .max { plan(job, at: first) }
        return counts[.localReplaced] + counts[.replaced] > replaced ? .replaced : .added
    }

    private func keepText(of request: LocalRequest, for job: UInt32) {
        let texts = [request.thread, request.title, request.subtitle, request.body].map {
            Array(JSONString.encoded($0).utf8)
        }
        Array(request.identifier.utf8).withUnsafeBytes { identifier in
            texts[0].withUnsafeBytes { thread in
                texts[1].withUnsafeBytes { title in
                    texts[2].withUnsafeBytes { subtitle in
                        texts[3].withUnsafeBytes { body in
                            let text = NotificationText(
                                identifier: identifier, thread: thread, title: title, subtitle: subtitle, body: body)
                            keep(text.length, for: job) { text.write(to: $0) }
                        }
                    }
                }
            }
        }
    }

    /// Removes the pending request with this identifier; false: there are too many others.
    func makeRoom(for identifier: UnsafeBufferPointer<UInt8>, on device: UInt32) -> Bool {
        if let older = job(of: device, where: { isPending($0, identifier) }) {
            endPending(older, .localReplaced, .replaced)
            return true
        }
        var count = 0
        _ = job(of: device) {
            if $0.kind == .pending { count += 1 }
            return false
        }
        if count >= DeviceModel.mostPending { counts[.localRefused] += 1 }
        return count < DeviceModel.mostPending
    }

    private func isPending(_ job: Job, _ identifier: some Sequence<UInt8>) -> Bool {
        job.kind == .pending
            && bytes.read(job.content, Int(job.contentLength)) {
                NotificationText(reading: $0).identifier.elementsEqual(identifier)
            }
    }

    /// It will not fire: of a rich push that is what becomes of the push.
    private func endPending(_ job: UInt32, _ event: DeviceEvent, _ outcome: DeviceOutcome) {
        if jobs[job].flags.contains(.isPush) {
            counts[.pending] -= 1
            settle(jobs[job].ticket, outcome)
        } else {
            counts[event] += 1
        }
        forget(job)
    }

    /// The app removes pending requests.
    ///
    /// - Parameter identifiers: nil: all.
    package func removePending(_ identifiers: [String]?, on key: DeviceKey, at time: UInt64) {
        advance(to: time)
        let device = devices.find(key)
        guard device != 0 else { return }
        while let job = self.job(
            of: device,
            where: { job in
                guard job.kind == .pending else { return false }
                return identifiers?.contains { isPending(job, $0.utf8) } ?? true
            })
        { endPending(job, .localRemoved, .fetched) }
    }

    /// The app removes delivered notifications.
    ///
    /// - Parameter identifiers: nil: all, also those that have none.
    package func removeDelivered(_ identifiers: [String]?, on key: DeviceKey, at time: UInt64) {
        advance(to: time)
        let device = devices.find(key)
        guard device != 0 else { return }
        for number in allDelivered(on: device)
        where identifiers?.contains(where: { !$0.isEmpty && identifies(number, $0.utf8) }) ?? true {
            counts[.removed] += 1
            takeDown(number)
        }
    }

    // MARK: Triggers

    /// When it fires next; `.max`: nobody knows; nil: never.
    private func fires(_ trigger: LocalRequest.Trigger, _ device: UInt32) -> UInt64? {
        switch trigger {
        case .interval(let time, _):
            let (moment, overflow) = now.addingReportingOverflow(time)
            return overflow ? nil : moment
        case .calendar(let time, _):
            let second = Int64(clamping: now / 1_000_000_000)
            return time.next(after: second, offset: traits.utcOffset(key(device))).map {
                UInt64(clamping: $0) &* 1_000_000_000
            }
        case .region: return .max
        }
    }

    /// The device enters or leaves a region, or a beacon's range.
    package func crossed(_ region: String, entering: Bool, on key: DeviceKey, at time: UInt64) {
        advance(to: time)
        var found: [UInt32] = []
        let device = devices.find(key)
        guard device != 0 else { return }
        var job = devices[device].jobs
        while job != 0 {
            if jobs[job].kind == .pending, case .region(region, entering, _)? = triggers[job] { found.append(job) }
            job = jobs[job].next
        }
        // In the order in which they were asked for.
        for job in found.reversed() { fire(job) }
    }

    /// Delivers a pending notification.
    func fire(_ job: UInt32) {
        let (device, flags, trigger) = (jobs[job].device, jobs[job].flags, triggers[job])
        let ticket = flags.contains(.isPush) ? jobs[job].ticket : nil
        let candidate = Candidate(
            text: NotificationText(reading: keptBytes(job)), category: jobs[job].category,
            presentation: jobs[job].presentation, badge: jobs[job].badge, ticket: ticket,
            isRemote: false, isRich: flags.contains(.isRich))
        let next = trigger.flatMap { $0.repeats ? fires($0, device) : nil }
        if let next {
            jobs[job].until = next
            if next != .max { plan(job, at: next) }
        } else {
            forget(job)
        }
        let outcome = present(candidate, on: device)
        if let ticket {
            counts[.pending] -= 1
            settle(ticket, outcome)
        } else {
            counts[outcome == .suppressed ? .localSuppressed : .localPresented] += 1
        }
    }
}
