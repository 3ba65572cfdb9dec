import Results
import Settings

extension CostSample {
    /// Fewer accepted pushes, or less CPU time of the client (ns), are mostly handshakes and cold caches.
    static let fewestPushes: UInt64 = 10_000
    static let leastCPU = 50e6
    /// Of the pushes that were begun, the share that must have been accepted: others cost something else.
    static let leastAccepted = 0.99

    /// Why a run cannot say what a push costs, one sentence; nil when it can.
    static func problem(_ result: ResultDocument) -> String? {
        let pushes = result.pushes
        let begun = Double(pushes.accepted) + Double(pushes.rejected) + Double(pushes.failed)
        func refusal(_ what: String, _ least: String) -> String { "\(what); a cost takes at least \(least)" }
        guard Double(pushes.accepted) >= leastAccepted * begun else {
            return refusal(
                "\(Units.grouped(pushes.accepted)) of \(Units.grouped(UInt64(exactly: begun) ?? .max)) pushes were accepted",
                "\(Units.fixed(leastAccepted * 100, places: 0)) %")
        }
        guard pushes.accepted >= fewestPushes else {
            return refusal("\(Units.grouped(pushes.accepted)) pushes were accepted", Units.grouped(fewestPushes))
        }
        let cpu = result.cost.clientCPU * (Double(pushes.accepted) + Double(pushes.rejected))
        guard cpu >= leastCPU else {
            return refusal(
                "the client's CPU time was \(Units.duration(nanoseconds: cpu))", Units.duration(nanoseconds: leastCPU))
        }
        return nil
    }
}
