import Measurement
import Results
import Settings

/// The sends of several parts as one: those of the same name are one send.
struct SendMerge {
    private(set) var sends: [ResultDocument.Send] = []
    /// What the parts do not have in common, a sentence each.
    private(set) var notes: [String] = []

    private typealias Owner = (name: String, send: ResultDocument.Send)

    /// - Parameters:
    ///   - apart: seconds from the first part's start to the last one's.
    ///   - times: from a send's start to its accepted answers, by its name, over all parts, µs.
    init(
        _ results: [(name: String, result: ResultDocument)], apart seconds: Double,
        times: (String) throws(ResultMerge.Failure) -> LatencyHistogram
    ) throws(ResultMerge.Failure) {
        var names: [String] = []
        var isShared = false
        for send in results.flatMap({ $0.result.sends ?? [] }) where !names.contains(send.name) {
            names.append(send.name)
        }
        for name in names {
            let owners = results.compactMap { part -> Owner? in
                part.result.sends?.first { $0.name == name }.map { (part.name, $0) }
            }
            isShared = isShared || owners.count > 1
            var whole = owners[0].send
            for send in owners.dropFirst().map(\.send) {
                whole.pushes &+= send.pushes
                whole.accepted &+= send.accepted
                whole.rejected &+= send.rejected
                whole.failed &+= send.failed
                whole.notSent &+= send.notSent
            }
            let apart = Self.audiences(owners)
            whole.devices = apart.reduce(0) { $0 &+ $1.send.devices }
            if apart.count > 1 { whole.fingerprint = nil }
            whole.fanOut = .init(try times(name), of: whole.pushes)
            sends.append(whole)
            let missing = results.map(\.name).filter { name in !owners.contains { $0.name == name } }
            if !missing.isEmpty { notes.append("send \(name): not in \(missing.joined(separator: ", "))") }
            if let audiences = Self.differing(owners, by: \.audience) {
                notes.append("send \(name): its audience is \(audiences)")
            }
            if let starts = Self.differing(owners, by: { Units.duration(nanoseconds: $0.start * 1e9) }) {
                notes.append("send \(name): it starts after \(starts)")
            }
            if apart.count > 1 {
                notes.append("send \(name): devices are added up; one that several parts pushed to is counted in each")
            }
        }
        if isShared, seconds > 0 {
            notes.append(
                "the parts began up to \(Units.fixed(seconds, places: 0)) s apart; fan-out times count from each part's own start"
            )
        }
    }

    /// The results, those of one send alone with its figures under its name, as results of several sends have them; as they are
    /// where all are of one send, whose figures are the merged run's too.
    static func kept(
        _ results: [(name: String, result: ResultDocument)]
    ) -> [(name: String, result: ResultDocument)] {
        let only = results.map(\.result.onlySend?.name)
        guard only.contains(where: { $0 == nil || $0 != only[0] }) else { return results }
        return results.map { name, result in
            guard let send = result.onlySend, result.breakdown["send"] == nil else { return (name, result) }
            var result = result
            result.breakdown["send"] = [
                send.name: .init(
                    accepted: send.accepted, rejected: send.rejected, failed: send.failed, notSent: send.notSent,
                    total: result.latency[.total])
            ]
            let key = ResultDocument.histogramKey("send", send.name)
            result.histograms[key] = result.histograms["total"]
            if let unanswered = ResultDocument.unansweredKey(key) {
                result.histograms[unanswered] = result.histograms["total_unanswered"]
            }
            return (name, result)
        }
    }

    /// One of those that pushed to the same registrations.
    private static func audiences(_ owners: [Owner]) -> [Owner] {
        var apart: [Owner] = []
        for owner in owners {
            let fingerprint = owner.send.fingerprint
            if fingerprint == nil || !apart.contains(where: { $0.send.fingerprint == fingerprint }) {
                apart.append(owner)
            }
        }
        return apart
    }

    /// `x in a, y in b`, each with the first part that has it; nil where all have the same.
    private static func differing(_ owners: [Owner], by text: (ResultDocument.Send) -> String) -> String? {
        var firsts: [(text: String, name: String)] = []
        for owner in owners where !firsts.contains(where: { $0.text == text(owner.send) }) {
            firsts.append((text(owner.send), owner.name))
        }
        return firsts.count > 1 ? firsts.map { "\($0.text) in \($0.name)" }.joined(separator: ", ") : nil
    }
}
