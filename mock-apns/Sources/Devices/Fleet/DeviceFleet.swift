import Payloads

/// What devices do with the pushes they get, turned by hand in virtual time: pushes, hands and answers go in with their time, requests
/// and times of pushes come out. It knows no sockets and no clock.
///
/// A device that nothing has happened to costs nothing: `DeviceTraits` says what it is like. One that has costs 40 bytes and 11 to 21
/// of the index, and besides: a notification 32 bytes and its texts, what is under way 56 bytes and what it keeps, a planned moment
/// 24 bytes. A device belongs to one fleet, and a fleet to one thread.
///
/// Times are nanoseconds since 1970. One that lies before the last is taken for the last, one beyond the year 2262 for that.
package final class DeviceFleet {
    package let traits: DeviceTraits
    var model: DeviceModel { traits.model }
    /// Opens what was sealed for its devices; nil: nothing can be opened.
    let sealer: Sealer?
    let startedAt: UInt64
    @exclusivity(unchecked) private(set) var now: UInt64

    @exclusivity(unchecked) var devices = DeviceTable()
    @exclusivity(unchecked) var jobs = Pool<Job>()
    @exclusivity(unchecked) var shown = Pool<Shown>()
    @exclusivity(unchecked) var bytes = ByteStore()
    @exclusivity(unchecked) var agenda = Agenda()
    /// Of pending requests whose trigger is more than a moment, by job.
    var triggers: [UInt32: LocalRequest.Trigger] = [:]
    /// What was kept is copied here while it is used.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteStore.most, alignment: 8)

    @exclusivity(unchecked) package internal(set) var counts = DeviceCounts()
    /// Requests that devices make from now on: for the caller to take, after each call.
    @exclusivity(unchecked) package var requests: [EchoRequest] = []
    /// What became of pushes, and when: the same, where it was asked for.
    @exclusivity(unchecked) package var reports: [DeviceReport] = []
    private let isReporting: Bool

    /// - Parameters:
    ///   - sealingSeed: of the payloads that were sealed; nil: none can be opened.
    ///   - startedAt: nanoseconds since 1970; no time given later lies before it.
    ///   - isReporting: fills `reports`.
    package init(
        _ model: DeviceModel, seed: UInt64, sealingSeed: UInt64?, startedAt: UInt64, isReporting: Bool = false
    ) {
        traits = DeviceTraits(model, seed: seed, startedAt: startedAt)
        sealer = sealingSeed.map { Sealer(seed: $0, longest: Sealer.longestOpened) }
        self.startedAt = min(startedAt, Self.endOfTime)
        now = self.startedAt
        self.isReporting = isReporting
    }

    deinit { scratch.deallocate() }

    /// Devices that something has happened to.
    package var touched: Int { devices.count }
    /// Bytes that it holds, of what grows with devices and pushes; requests and reports that were not taken are not in it.
    package var memory: Int {
        devices.memory + jobs.memory + shown.memory + bytes.memory + agenda.memory
            + triggers.capacity * (MemoryLayout<LocalRequest.Trigger>.stride + 16)
    }

    // MARK: Time

    /// When something is due next; nil: nothing is planned.
    package var nextDue: UInt64? { agenda.nextDue }

    /// In the year 2262: nothing that is added to a time goes beyond 64 bits.
    private static let endOfTime: UInt64 = 1 << 63

    /// Does what is due.
    package func advance(to time: UInt64) {
        let time = min(time, Self.endOfTime)
        while let entry = agenda.take(now: time) {
            now = max(now, entry.due)
            if entry.isNotification {
                if shown[entry.place].generation == entry.generation, shown[entry.place].device != 0 {
                    react(entry.place)
                }
            } else if jobs[entry.place].generation == entry.generation, jobs[entry.place].device != 0 {
                run(entry.place)
            }
        }
        now = max(now, time)
    }

    private func run(_ job: UInt32) {
        switch jobs[job].kind {
        case .stored: lookAtStored(job)
        case .held: releaseHeld(job)
        case .extending: extensionIsDue(job)
        case .fetching, .fetchingRich:
            counts[.wakeTimedOut] += 1
            endFetch(job, .fetchFailed)
        case .pending:
            // The end of its fetch was planned too, and may come first.
            if now >= jobs[job].until { fire(job) }
        case .callback:
            counts[.callbackTimedOut] += 1
            forget(job)
        }
    }

    func plan(_ job: UInt32, at time: UInt64) {
        agenda.add(job, jobs[job].generation, isNotification: false, due: time)
        tidy()
    }

    func plan(notification: UInt32, at time: UInt64) {
        agenda.add(notification, shown[notification].generation, isNotification: true, due: time)
        tidy()
    }

    /// What is over is forgotten once it is as much as all the rest.
    private func tidy() {
        guard agenda.count > 3 * (jobs.count + shown.count) + 64 else { return }
        agenda.removeAll { entry in
            entry.isNotification
                ? shown[entry.place].generation != entry.generation : jobs[entry.place].generation != entry.generation
        }
    }

    // MARK: Arrival

    /// A push for a device may come soon: first where it is looked for, some hundred nanoseconds later what is kept of it, so that
    /// neither is waited for. Changes nothing.
    package func expect(_ key: DeviceKey) { devices.prefetchIndex(key) }
    package func approach(_ key: DeviceKey) { devices.prefetchDevice(key) }

    /// A push that APNs took.
    ///
    /// - Returns: what has become of it so far.
    @discardableResult
    package func receive(_ push: DevicePush, at time: UInt64) -> DeviceOutcome {
        advance(to: time)
        counts.received += 1
        let device = devices.touch(push.device, number: push.number)
        // Who touched it before may not have known it.
        devices[device].number = push.number
        let outcome = isOnline(device) ? deliver(push, to: device) : store(push, for: device)
        settle(push.ticket, outcome)
        return outcome
    }

    /// A push at its device.
    func deliver(_ push: DevicePush, to device: UInt32) -> DeviceOutcome {
        guard push.type == .alert || push.type == .background else { return .handedOver }
        let content = push.content
        if content.isSilent { return wake(device, push, content) }
        guard !content.presentation.isEmpty else { return .handedOver }
        if platform(device) == .watch, isUnlocked(device) { return .notForwarded }
        if content.isMutable, content.hasAlert, platform(device) != .tv, level(.alert, device) == .granted {
            return beginExtension(device, push, content)
        }
        return present(push, content, body: nil, to: device)
    }

    /// For a device that is offline: the latest of its app, until it expires.
    private func store(_ push: DevicePush, for device: UInt32) -> DeviceOutcome {
        if push.expiration == 0 {
            lose(push, device)
            return .notStored
        }
        var end = now + DeviceModel.longestStorage
        if let expiration = push.expiration {
            let (time, overflow) = UInt64(clamping: expiration).multipliedReportingOverflow(by: 1_000_000_000)
            if !overflow { end = min(end, time) }
        }
        guard end > now else {
            lose(push, device)
            return .expired
        }
        counts[.everStored] += 1
        if let older = job(of: device, where: { $0.kind == .stored }) { lose(older, from: .stored, to: .replaced) }
        let job = begin(.stored, device, push.ticket, keeping: push)
        jobs[job].until = end
        planStored(job)
        return .stored
    }

    /// At APNs until its device is online, or until it expires.
    func planStored(_ job: UInt32) {
        let device = jobs[job].device
        // Offline by hand: until somebody says otherwise.
        let comeback = devices[device].byHand.isOnline == false ? .max : traits.nextOnline(key(device), after: now)
        plan(job, at: min(jobs[job].until, comeback))
    }

    /// It is planned again where nothing has changed.
    func lookAtStored(_ job: UInt32) {
        if now >= jobs[job].until {
            lose(job, from: .stored, to: .expired)
        } else if isOnline(jobs[job].device) {
            counts[.stored] -= 1
            let device = jobs[job].device
            let push = kept(job)
            forget(job)
            settle(push.ticket, deliver(push, to: device))
        } else {
            planStored(job)
        }
    }

    // MARK: Jobs

    /// Something is under way from now on, at the head of the device's list.
    func begin(
        _ kind: Job.Kind, _ device: UInt32, _ ticket: UInt64, keeping push: DevicePush? = nil
    ) -> UInt32 {
        let job = jobs.take()
        jobs[job].kind = kind
        jobs[job].device = device
        jobs[job].ticket = ticket
        jobs[job].flags = .isPush
        jobs[job].next = devices[device].jobs
        devices[device].jobs = job
        if let push {
            keep(push.keptLength, for: job) { push.keep(in: $0) }
        }
        return job
    }

    /// Keeps so many bytes for a job.
    func keep(_ length: Int, for job: UInt32, _ write: (UnsafeMutableRawBufferPointer) -> Void) {
        let handle = bytes.take(length)
        bytes.write(handle, length, write)
        jobs[job].content = handle
        jobs[job].contentLength = UInt16(length)
    }

    /// The push that a job keeps, in `scratch`.
    func kept(_ job: UInt32) -> DevicePush {
        let device = jobs[job].device
        return DevicePush(
            kept: keptBytes(job), device: key(device), number: devices[device].number, ticket: jobs[job].ticket)
    }

    /// What a job keeps, in `scratch`.
    func keptBytes(_ job: UInt32) -> UnsafeRawBufferPointer {
        let length = Int(jobs[job].contentLength)
        bytes.read(jobs[job].content, length) { scratch.copyMemory(from: $0) }
        return UnsafeRawBufferPointer(rebasing: scratch[..<length])
    }

    func job(of device: UInt32, where isIt: (Job) -> Bool) -> UInt32? {
        var job = devices[device].jobs
        while job != 0 {
            if isIt(jobs[job]) { return job }
            job = jobs[job].next
        }
        return nil
    }

    /// It is over; what it was kept for counts by now.
    func forget(_ job: UInt32) {
        let device = jobs[job].device
        if devices[device].jobs == job {
            devices[device].jobs = jobs[job].next
        } else {
            var before = devices[device].jobs
            while jobs[before].next != job { before = jobs[before].next }
            jobs[before].next = jobs[job].next
        }
        if jobs[job].content != 0 { bytes.giveBack(jobs[job].content, Int(jobs[job].contentLength)) }
        if jobs[job].kind == .pending { triggers[job] = nil }
        jobs.giveBack(job)
    }

    // MARK: What became of pushes

    /// A push has this outcome from now on.
    func settle(_ ticket: UInt64, _ outcome: DeviceOutcome) {
        counts[outcome] += 1
        if isReporting, !outcome.isUnderWay { report(ticket, .outcome(outcome)) }
    }

    func report(_ ticket: UInt64, _ kind: DeviceReport.Kind) {
        if isReporting { reports.append(DeviceReport(ticket: ticket, kind: kind, at: now)) }
    }

    /// A push that never came to its device does not get its content either.
    private func lose(_ push: DevicePush, _ device: UInt32) {
        if isReporting, hasContent(push, device) { report(push.ticket, .noContent) }
    }

    /// A push that is kept will not come to its device, or to its app.
    func lose(_ job: UInt32, from before: DeviceOutcome, to outcome: DeviceOutcome) {
        counts[before] -= 1
        settle(jobs[job].ticket, outcome)
        if isReporting, hasContent(kept: job) { report(jobs[job].ticket, .noContent) }
        forget(job)
    }

    /// Whether there is something that its device would fetch, decrypt or attach.
    private func hasContent(_ push: DevicePush, _ device: UInt32) -> Bool {
        guard push.type == .alert || push.type == .background else { return false }
        let content = push.content
        if content.isSilent {
            return content.richID.isEmpty
                ? traits.unit(push.device, 31, push.ticket) < model.silent.fetches
                : content.richType.text(push.payload) == "img"
        }
        return content.isMutable && content.hasAlert && platform(device) != .tv
            && !(content.sealed.isEmpty && content.attachment.isEmpty)
    }

    /// Not by way of `scratch`, where another push may lie.
    private func hasContent(kept job: UInt32) -> Bool {
        let (device, ticket) = (jobs[job].device, jobs[job].ticket)
        return bytes.read(jobs[job].content, Int(jobs[job].contentLength)) {
            hasContent(
                DevicePush(kept: $0, device: key(device), number: devices[device].number, ticket: ticket), device)
        }
    }

    /// Tells of each push that is under way which outcome it has, and of each whose content is still to come that it has not: at the
    /// end of a run.
    package func tellUnfinished(_ tell: (DeviceReport) -> Void) {
        for place in jobs.places {
            let job = jobs[place]
            guard job.device != 0, job.flags.contains(.isPush), job.kind != .callback else { continue }
            let (outcome, hasContent): (DeviceOutcome, Bool) =
                switch job.kind {
                case .stored: (.stored, hasContent(kept: place))
                case .held: (.throttled, hasContent(kept: place))
                case .extending: (.extending, hasContent(kept: place))
                case .fetching, .fetchingRich: (.fetching, true)
                case .pending, .callback: (.pending, false)
                }
            tell(DeviceReport(ticket: job.ticket, kind: .outcome(outcome), at: 0))
            if hasContent { tell(DeviceReport(ticket: job.ticket, kind: .noContent, at: 0)) }
        }
    }

    // MARK: A device now

    /// The number it was touched with; nil: nothing has happened to it.
    package func number(of key: DeviceKey) -> UInt64? {
        let device = devices.find(key)
        return device == 0 ? nil : devices[device].number
    }

    func key(_ device: UInt32) -> DeviceKey { DeviceKey(word: devices[device].key) }
    func isOnline(_ device: UInt32) -> Bool {
        devices[device].byHand.isOnline ?? traits.isOnline(key(device), at: now)
    }
    func isUnlocked(_ device: UInt32) -> Bool {
        devices[device].byHand.isUnlocked ?? traits.isUnlocked(key(device), at: now)
    }
    func platform(_ device: UInt32) -> DeviceModel.Platform {
        devices[device].byHand.platform ?? traits.platform(key(device))
    }
    /// In the foreground only while the device is unlocked.
    func app(_ device: UInt32) -> DeviceTraits.AppState {
        let state = devices[device].byHand.app ?? traits.app(key(device), at: now)
        return state == .foreground && !isUnlocked(device) ? .background : state
    }
    /// What `app` says.
    func isInForeground(_ device: UInt32) -> Bool {
        if devices[device].byHand.isEmpty { return traits.isInForeground(key(device), at: now) }
        return app(device) == .foreground
    }
    func level(_ level: Presentation, _ device: UInt32) -> DeviceTraits.Level {
        devices[device].byHand[level] ?? traits.level(level, key(device), at: now)
    }
    /// The levels that are granted.
    func granted(_ device: UInt32) -> Presentation {
        let drawn = traits.granted(key(device), at: now)
        if devices[device].byHand.isEmpty { return drawn }
        var granted = Presentation()
        for level in [Presentation.alert, .sound, .badge]
        where devices[device].byHand[level].map({ $0 == .granted }) ?? drawn.contains(level) { granted.insert(level) }
        return granted
    }
}
