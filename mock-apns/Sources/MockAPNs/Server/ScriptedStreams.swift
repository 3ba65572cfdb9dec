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

        /// Bytes that are to have been sent by now.
        func owed(_ now: UInt64) -> Int {
            guard let rate = answer.bodyRate else { return answer.body.count }
            let seconds = Double(now > startedAt ? now - startedAt : 0) * 1e-9
            // The first byte comes at once.
            return Int(min(Double(answer.body.count), 1 + rate * seconds))
        }

        /// How long to wait for the next piece, ns: 10 ms to 1 s.
        var pause: UInt64 {
            guard let rate = answer.bodyRate else { return 10_000_000 }
            return UInt64(min(max(1e9 / rate, 10e6), 1e9))
        }
    }

    struct Held {
        let stream: Int32
        let choice: FaultChoice
    }

    struct Batch {
        let serial: UInt64
        var held: [Held] = []
    }

    /// By stream.
    var answers: [Int32: Answer] = [:]
    var bodies: [Int32: Body] = [:]
    /// By the number of their rule.
    var batches: [Int: Batch] = [:]
    private var batchCount: UInt64 = 0
    /// The second of two GOAWAYs that is to come, and the last stream it names; nil: the last begun by then.
    var secondGoAway: (order: FaultRule.GoAway, last: Int32?)?

    /// Holds a push.
    ///
    /// - Returns: the batch as it is now.
    func hold(_ stream: Int32, _ choice: FaultChoice) -> Batch {
        if batches[choice.number] == nil {
            batchCount += 1
            batches[choice.number] = Batch(serial: batchCount)
        }
        batches[choice.number]!.held.append(Held(stream: stream, choice: choice))
        return batches[choice.number]!
    }

    func forget(_ stream: Int32) {
        answers[stream] = nil
        bodies[stream] = nil
    }
}

/// What a fault rule has to do on a connection later.
enum ScriptedWork: Sendable {
    /// The next piece of a body.
    case body(stream: Int32)
    /// Nothing more is waited for, unless the batch of this rule is over and this is another.
    case batch(rule: Int, serial: UInt64)
    case secondGoAway
}
