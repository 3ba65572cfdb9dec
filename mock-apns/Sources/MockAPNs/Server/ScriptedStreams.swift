import HTTP2

/// What fault rules still have to do on one connection: answers written by hand, bodies that come slowly, pushes that are held.
/// There is one once a rule needs it.
final class ScriptedStreams {
    /// An answer that is not given yet.
    struct Answer {
        let raw: RawAnswer
        /// Of RST_STREAM, where there is one.
        var code = ErrorCode.internalError
        /// To a channel request, which is not counted among pushes, and whose headers are complete.
        var isOfChannel = false
    }

    /// A body on its way.
    struct Body {
        let answer: RawAnswer
        let code: ErrorCode
        let startedAt: UInt64
        var sent = 0
        /// Since when the client's windows let nothing out, ns; nil: they do.
        var stuckSince: UInt64?
        /// How long to wait when the client's windows let nothing out, ns.
        private var patience = Self.shortest

        private static let shortest: UInt64 = 10_000_000
        private static let longest: UInt64 = 1_000_000_000

        init(_ answer: RawAnswer, code: ErrorCode, startedAt: UInt64) {
            self.answer = answer
            self.code = code
            self.startedAt = startedAt
        }

        /// Bytes that are to have been sent by now.
        func owed(_ now: UInt64) -> Int {
            guard let rate = answer.bodyRate else { return answer.body.count }
            let seconds = Double(now > startedAt ? now - startedAt : 0) * 1e-9
            // The first byte comes at once.
            return Int(min(Double(answer.body.count), 1 + rate * seconds))
        }

        /// How long to wait for the next piece, ns: 10 ms to 1 s; longer and longer while nothing can be sent.
        ///
        /// - Parameter isStuck: bytes were owed, and none could be sent.
        mutating func pause(isStuck: Bool) -> UInt64 {
            patience = isStuck ? min(2 * patience, Self.longest) : Self.shortest
            guard let rate = answer.bodyRate, !isStuck else { return patience }
            return UInt64(min(max(1e9 / rate, Double(Self.shortest)), Double(Self.longest)))
        }
    }

    struct Held {
        let stream: Int32
        let choice: FaultChoice
    }

    /// Rules of each namespace have batches of their own.
    struct BatchKey: Hashable, Sendable {
        /// What the worker knows it by.
        let namespace: Int
        /// Which rules they are: how often they have been changed or begun anew.
        let ruling: Int
        /// The rule's number.
        let rule: Int
    }

    struct Batch {
        let serial: UInt64
        var held: [Held] = []
    }

    /// By stream.
    var answers: [Int32: Answer] = [:]
    var bodies: [Int32: Body] = [:]
    var batches: [BatchKey: Batch] = [:]
    private var batchCount: UInt64 = 0
    /// The second of two GOAWAYs that is to come, and the last stream it names; nil: the last begun by then.
    var secondGoAway: (order: FaultRule.GoAway, last: Int32?)?

    /// Holds a push.
    ///
    /// - Returns: the batch as it is now.
    func hold(_ stream: Int32, _ choice: FaultChoice, in key: BatchKey) -> Batch {
        if batches[key] == nil {
            batchCount += 1
            batches[key] = Batch(serial: batchCount)
        }
        batches[key]!.held.append(Held(stream: stream, choice: choice))
        return batches[key]!
    }

    /// Something is still to come, for which streams are open.
    var isBusy: Bool { !bodies.isEmpty || !batches.isEmpty }

    func forget(_ stream: Int32) {
        answers[stream] = nil
        bodies[stream] = nil
    }
}

/// What a fault rule has to do on a connection later.
enum ScriptedWork: Sendable {
    /// The next piece of a body.
    case body(stream: Int32)
    /// Nothing more is waited for, unless this batch is over and there is another.
    case batch(ScriptedStreams.BatchKey, serial: UInt64)
    case secondGoAway
}
