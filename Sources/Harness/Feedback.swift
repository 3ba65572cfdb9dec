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
    }

    private var heard: [Heard] = []
    /// Beyond the most that are kept.
    private var leftOut: UInt64 = 0
    /// In each worker, and in all: 40 bytes each.
    private static let most = 1_000_000
    /// Of a send and a registration the first answer is enough.
    private var seen: Set<UInt64> = []

    /// - Parameter body: of an answer with status 400 or 410.
    mutating func note(_ sequence: UInt64, of sends: Sends, _ body: UnsafeBufferPointer<UInt8>) {
        guard let text = ReasonText.find(in: body) else { return }
        let reason = String(decoding: text, as: UTF8.self)
        guard FeedbackEntry.reasons.contains(reason) else { return }
        let place = sends.place(sequence)
        let send = sends.all[place]
        let registration = UInt64(place) << 48 | (sequence &- send.first) % max(1, send.count)
        guard !seen.contains(registration) else { return }
        guard heard.count < Self.most else { return leftOut += 1 }
        seen.insert(registration)
        heard.append(Heard(sequence: sequence, reason: reason, timestamp: ReasonText.timestamp(in: body)))
    }

    mutating func add(_ other: Feedback) {
        let room = Self.most - heard.count
        heard += other.heard.prefix(room)
        leftOut += other.leftOut + UInt64(other.heard.count - min(room, other.heard.count))
    }

    /// Appends it to the journal beside the registrations.
    ///
    /// - Returns: what a reader of the result must know of it, a sentence each.
    func write(_ sends: Sends, topic: String) -> [String] {
        let now = Int64(Date().timeIntervalSince1970)
        let registrations = sends.registrations
        guard registrations.isUnwritten else {
            return [
                "\(registrations.path) was written to while the run went on: who was pushed to is not certain"
                    + (heard.isEmpty ? "" : ", and feedback was not kept")
            ]
        }
        guard !heard.isEmpty else { return [] }
        var told: Set<String> = []
        var wrongTimes: UInt64 = 0
        let entries = heard.compactMap { heard -> FeedbackEntry? in
            let token = sends.token(heard.sequence)
            guard told.insert(token + heard.reason).inserted else { return nil }
            let timestamp = heard.timestamp.flatMap { FeedbackEntry.isMilliseconds($0) ? $0 : nil }
            if timestamp != heard.timestamp { wrongTimes += 1 }
            return FeedbackEntry(
                token: token, topic: registrations.topics.isEmpty ? nil : topic, reason: heard.reason,
                timestamp: timestamp, seen: now)
        }
        let path = registrations.path + ".feedback"
        do throws(AudienceError) { try FeedbackJournal(of: registrations.path).append(entries) } catch {
            return ["feedback was not kept: \(error)"]
        }
        let gone = UInt64(entries.count { $0.removes })
        var notes = [
            "feedback: \(Units.counted(gone, "device")) answered as gone, "
                + "\(Units.grouped(UInt64(entries.count) - gone)) only reported; pushload audience feedback shows them (\(path))"
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
        return notes
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
