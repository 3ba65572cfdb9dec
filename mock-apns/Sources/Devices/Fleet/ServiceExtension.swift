import Payloads

/// The notification service extension: it decrypts, and attaches what it downloads, before anything is shown.
extension DeviceFleet {
    func beginExtension(
        _ device: UInt32, _ push: DevicePush, _ content: PushContent
    ) -> DeviceOutcome {
        let job = begin(.extending, device, push.ticket, keeping: push)
        let time = traits.time(model.serviceExtension.time, push.device, 32, push.ticket)
        jobs[job].limit = now + DeviceModel.workLimit
        jobs[job].until = now + time
        if traits.unit(push.device, 34, push.ticket) < model.serviceExtension.crashes {
            jobs[job].flags.insert(.crashes)
        } else if !content.attachment.isEmpty, isOnline(device) {
            jobs[job].flags.insert(.waitsForDownload)
            request(job, .attachment, content.attachment.text(push.payload), notification: "")
        }
        plan(job, at: min(jobs[job].until, jobs[job].limit))
        return .extending
    }

    /// Its work is done, or its time is up.
    func extensionIsDue(_ job: UInt32) {
        if jobs[job].flags.contains(.crashes) {
            endExtension(job, .extensionCrashed)
        } else if now >= jobs[job].limit {
            let isKept = traits.unit(key(jobs[job].device), 35, jobs[job].ticket) < model.serviceExtension.bestAttempt
            endExtension(job, isKept ? .extensionBestAttempt : .extensionTimedOut)
        } else if jobs[job].flags.contains(.waitsForDownload) {
            plan(job, at: jobs[job].limit)
        } else {
            endExtension(job, .extensionInTime)
        }
    }

    func downloadEnded(_ job: UInt32, _ ending: EchoEnding) {
        jobs[job].flags.remove(.waitsForDownload)
        if ending == .newData { jobs[job].flags.insert(.isDownloaded) }
        if now >= jobs[job].until { endExtension(job, .extensionInTime) }
    }

    /// Shows what it handed back: changed content, or the original.
    private func endExtension(_ job: UInt32, _ ending: DeviceEvent) {
        let (device, flags) = (jobs[job].device, jobs[job].flags)
        let push = kept(job)
        let content = push.content
        forget(job)
        var ending = ending
        var body: String?
        if !content.sealed.isEmpty, ending == .extensionInTime || ending == .extensionBestAttempt {
            body = opened(content.sealed.bytes(push.payload), push.number)
            if body == nil { ending = .sealBroken }
        }
        counts[ending] += 1
        counts[.extending] -= 1
        let outcome: DeviceOutcome
        if var body {
            outcome = body.withUTF8 {
                present(push, content, body: UnsafeRawBufferPointer($0), to: device)
            }
        } else {
            outcome = present(push, content, body: nil, to: device)
        }
        settle(push.ticket, outcome)
        guard !content.sealed.isEmpty || !content.attachment.isEmpty else { return }
        let isHandedBack = ending == .extensionInTime || ending == .extensionBestAttempt
        let isThere = isHandedBack && (content.attachment.isEmpty || flags.contains(.isDownloaded))
        let isSeen = [.banner, .lockScreen, .centre, .inApp].contains(outcome)
        report(push.ticket, isThere && isSeen ? .content : .noContent)
    }

    /// Bytes of a decrypted text that are shown, as JSON has them.
    private static let longestBody = 2000

    /// What was sealed for this device, as JSON has it; nil: the seal is broken.
    private func opened(_ sealed: UnsafeRawBufferPointer, _ number: UInt64) -> String? {
        guard let sealer else { return nil }
        var found: [UInt8]?
        if sealed.contains(0x5C) {
            // A slash may be escaped.
            var digits = JSONString.decoded(sealed)
            found = digits.withUTF8 { sealer.open(base64: UnsafeRawBufferPointer($0), device: number) }
        } else {
            found = sealer.open(base64: sealed, device: number)
        }
        guard let plain = found else { return nil }
        var text = String(decoding: plain, as: UTF8.self)
        var encoded = JSONString.encoded(text)
        while encoded.utf8.count > Self.longestBody {
            text = String(text.prefix(text.count * 9 / 10))
            encoded = JSONString.encoded(text)
        }
        return encoded
    }
}
