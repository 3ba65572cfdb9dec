import Measurement
import Results
import Settings

/// The sends of several parts as one: those of the same name are one send.
struct SendMerge {
    private(set) var sends: [ResultDocument.Send] = []
    /// What the parts do not have in common, a sentence each.
    private(set) var notes: [String] = []

    private typealias Owner = (name: String, result: ResultDocument, send: ResultDocument.Send)

    /// - Parameter times: from a send's start to its accepted answers, by its name, over all parts.
    init(
        _ results: [(name: String, result: ResultDocument)],
        times: (String) throws(ResultMerge.Failure) -> LatencyHistogram
    ) throws(ResultMerge.Failure) {
        var names: [String] = []
        for send in results.flatMap({ $0.result.sends ?? [] }) where !names.contains(send.name) {
            names.append(send.name)
        }
        for name in names {
            let owners = results.compactMap { part -> Owner? in
                part.result.sends?.first { $0.name == name }.map { (part.name, part.result, $0) }
            }
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
    }

    /// One of those that pushed to the same audience for certain: on one host, of one file.
    private static func audiences(_ owners: [Owner]) -> [Owner] {
        var apart: [Owner] = []
        for owner in owners {
            let isKnown = apart.contains { other in
                !owner.result.environment.host.isEmpty
                    && other.result.environment.host == owner.result.environment.host
                    && ["registrations", "topic"].allSatisfy { other.result.scenario[$0] == owner.result.scenario[$0] }
                    && other.send.audience == owner.send.audience && other.send.devices == owner.send.devices
            }
            if !isKnown { apart.append(owner) }
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
