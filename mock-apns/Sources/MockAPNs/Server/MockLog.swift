import HTTP2
import Logging
import Signing

/// What a worker says of connections, pushes and frames, each from its level on. The levels are read once, so that what is not
/// wanted costs a branch.
struct MockLog {
    private let logger: Logger
    /// Connections and pushes: from `debug` on.
    let isVerbose: Bool
    /// Frames: from `trace` on.
    let tracesFrames: Bool

    init(_ logger: Logger) {
        self.logger = logger
        isVerbose = logger.logLevel <= .debug
        tracesFrames = logger.logLevel <= .trace
    }

    func warning(_ message: String) { logger.warning("\(message)") }

    func debug(_ message: @autoclosure () -> String) {
        if isVerbose { logger.debug("\(message())") }
    }

    /// - Parameter cause: why it is refused, where that is known better than by the reason.
    func push(_ state: RequestState, _ answer: PushAnswer, cause: String?, connection: UInt64) {
        var metadata: Logger.Metadata = [
            "connection": "\(connection)", "stream": "\(state.stream)",
            "status": "\(answer.status)", "reason": "\(answer.reason?.name ?? "-")",
            "topic": "\(Self.topic(state))", "push_type": "\(state.pushType.rawValue)",
            "bytes": "\(state.bodyCount)",
        ]
        if let cause { metadata["cause"] = "\(cause)" }
        logger.debug("push", metadata: metadata)
    }

    /// In quotes when it is no topic.
    private static func topic(_ state: RequestState) -> String {
        let value = state.value(.topic)
        return value.isEmpty || RequestChecks.isTopic(value)
            ? state.text(.topic) : TokenVerifier.quoted(state.text(.topic), most: 255)
    }

    func frame(_ frame: FrameSummary, isSent: Bool, connection: UInt64) {
        logger.trace("\(isSent ? "sent" : "received") \(frame)", metadata: ["connection": "\(connection)"])
    }
}
