import Audience
import Foundation
import Scenarios
import Settings
import Transport

/// What answers said of devices that can no longer be pushed to: kept by a worker until the run ends, then written to the journal of
/// the registrations.
struct Feedback: Sendable {
    private struct Heard: Sendable {
        let sequence: UInt64
        let reason: String
        /// UNIX time, ms.
        let timestamp: UInt64?

        /// For comparing two of a registration: one without a timestamp is of this run, and so the latest.
        var moment: UInt64 { timestamp ?? .max }
    }

    private var heard: [Heard] = []
    /// Beyond the most that are kept.
    private var leftOut: UInt64 = 0
    /// In each worker, and in all.
    private static let most = 1_000_000
    /// Of a send, a registration and a reason only one is kept: the one that is latest by its timestamp.
    private var places: [UInt64: Int] = [:]

    /// - Parameter body: of an answer with status 400 or 410.
    mutating func note(
        _ sequence: UInt64, of sends: Sends, _ body: UnsafeBufferPointer<UInt8>, status: UInt16
    ) {
        guard let text = ReasonText.find(in: body) else { return }
        let reason = String(decoding: text, as: UTF8.self)
        guard let kind = FeedbackEntry.reasons.firstIndex(of: reason) else { return }
        // That a device is gone is said with status 410; with another it is no word of APNs.
        guard status == 410 || !FeedbackEntry.removes(reason) else { return }
        let place = sends.place(sequence)
        let send = sends.all[place]
        let registration = UInt64(place) << 48 | UInt64(kind) << 44 | (sequence &- send.first) % max(1, send.count)
        let new = Heard(sequence: sequence, reason: reason, timestamp: ReasonText.timestamp(in: body))
        if let known = places[registration] {
            if new.moment > heard[known].moment { heard[known] = new }
            return
        }
        guard heard.count < Self.most else { return leftOut += 1 }
        places[registration] = heard.count
        heard.append(new)
    }

    mutating func add(_ other: Feedback) {
        let room = Self.most - heard.count
        heard += other.heard.prefix(room)
        leftOut += other.leftOut + UInt64(other.heard.count - min(room, other.heard.count))
    }

    /// Appends it to the journal beside the registrations.
    ///
    /// - Returns: what a reader of the result must know of it, a sentence each; and whether it could not be kept.
    func write(_ sends: Sends, topic: String) -> (notes: [String], isLost: Bool) {
        let now = Int64(Date().timeIntervalSince1970)
        let registrations = sends.registrations
        guard registrations.isUnwritten else {
            let note =
                "\(registrations.path) was written to while the run went on: who was pushed to is not certain"
                + (heard.isEmpty ? "" : ", and feedback was not kept")
            return ([note], !heard.isEmpty)
        }
        guard !heard.isEmpty else { return ([], false) }
        var wrongTimes: UInt64 = 0
        var latest: [FeedbackEntry.Subject: FeedbackEntry] = [:]
        for heard in heard {
            let timestamp = heard.timestamp.flatMap { FeedbackEntry.isMilliseconds($0) ? $0 : nil }
            if timestamp != heard.timestamp { wrongTimes += 1 }
            let entry = FeedbackEntry(
                token: sends.token(heard.sequence), topic: registrations.topics.isEmpty ? nil : topic,
                reason: heard.reason, timestamp: timestamp, seen: now)
            if let known = latest[entry.subject], known.moment >= entry.moment { continue }
            latest[entry.subject] = entry
        }
        let entries = latest.values.sorted { ($0.token, $0.reason) < ($1.token, $1.reason) }
        let path = registrations.path + ".feedback"
        do throws(AudienceError) { try FeedbackJournal(of: registrations.path).append(entries) } catch {
            return (["feedback was not kept: \(error)"], true)
        }
        let tokens = Set(entries.map(\.subject.token))
        let gone = Set(entries.filter(\.removes).map(\.subject.token))
        var notes = [
            "feedback: \(Units.counted(UInt64(gone.count), "device")) answered as gone, "
                + "\(Units.grouped(UInt64(tokens.count - gone.count))) only reported; pushload audience feedback shows them (\(path))"
        ]
        if wrongTimes > 0 {
            notes.append(
                "\(Units.counted(wrongTimes, "answer")) had a timestamp that is no time in milliseconds since 1970; "
                    + "the end of the run stands for it in the feedback")
        }
        if leftOut > 0 {
            notes.append(
                "feedback of \(Units.counted(leftOut, "push")) more was not kept: at most \(Units.grouped(UInt64(Self.most)))"
            )
        }
        return (notes, false)
    }
}

extension Sends {
    /// The device token that a push went to.
    func token(_ sequence: UInt64) -> String {
        let send = all[place(sequence)]
        guard let selection = send.devices.selection, send.count > 0 else { return "" }
        return registrations.token(selection.row((sequence &- send.first) % send.count))
    }
}
