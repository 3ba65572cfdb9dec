import Measurement
import Results

/// Devices of several runs, and what they asked, as one.
extension ResultMerge {
    /// nil where no part has them; where some have none, what became of their pushes is unknown.
    static func devices(_ parts: [ResultDocument], _ whole: ResultDocument) throws(Failure) -> ResultDocument.Devices? {
        guard parts.contains(where: { $0.devices != nil }) else { return nil }
        var outcomes: [String: UInt64] = [:]
        var events: [String: UInt64] = [:]
        var (touched, beyond) = (UInt64(0), UInt64(0))
        for part in parts {
            outcomes.merge(part.devices?.outcomes ?? ["unknown": part.pushes.accepted], uniquingKeysWith: &+)
            events.merge(part.devices?.events ?? [:], uniquingKeysWith: &+)
            touched &+= part.devices?.touched ?? 0
            beyond &+= part.devices?.beyondAccepted ?? 0
        }
        return ResultDocument.Devices(
            outcomes: outcomes.filter { $0.value > 0 }, events: events, touched: touched, beyondAccepted: beyond,
            content: try histogram(Stage.timeToContent.key, whole), known: known(parts))
    }

    /// How far all parts have looked, ns; nil: to the end.
    private static func known(_ parts: [ResultDocument]) -> UInt64? {
        parts.filter { $0.latency[.timeToContent].count > 0 }
            .map { ($0.devices?.contentWithin.last?.seconds ?? 0) * 1_000_000_000 }.min()
    }

    /// Counts are added; of the parts' peaks there is none together.
    static func echo(_ parts: [ResultDocument], _ whole: ResultDocument) throws(Failure) -> ResultDocument.Echo? {
        let echoes = parts.compactMap(\.echo)
        guard let first = echoes.first else { return nil }
        let backends = Set(echoes.map(\.backend)).sorted()
        var merged = ResultDocument.Echo(
            backend: backends.count == 1 ? first.backend : backends.joined(separator: ", "))
        for echo in echoes {
            merged.requests &+= echo.requests
            merged.answered &+= echo.answered
            merged.failed &+= echo.failed
            merged.givenUp &+= echo.givenUp
            merged.notBegun &+= echo.notBegun
            merged.underWay &+= echo.underWay
            merged.retries &+= echo.retries
            merged.bytes &+= echo.bytes
            merged.connectionsOpened &+= echo.connectionsOpened
            merged.statuses.merge(echo.statuses, uniquingKeysWith: &+)
            merged.failures.merge(echo.failures, uniquingKeysWith: &+)
            merged.byKind.merge(echo.byKind) { $0.adding($1) }
        }
        let counts = echoes.compactMap(\.backendCounts)
        if counts.count == echoes.count {
            merged.backendCounts = counts.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: &+) }
        }
        merged.latency = .init(try histogram(ResultDocument.echoKey, whole))
        merged.wait = .init(try histogram(ResultDocument.echoWaitKey, whole))
        return merged
    }
}
