import HTTP2

/// One try to send a push, on one stream of one connection, as the network saw it.
final class Attempt {
    /// How the network ended it: what the client read first that says so.
    enum Ending {
        case answered(status: Int)
        case malformed
        case reset(code: UInt32)
        /// GOAWAY named a lower stream.
        case passedOver
    }

    let sequence: UInt64
    unowned let link: LinkBooks
    let stream: Int32
    let composedAt: UInt64
    /// When the write that took its last byte began; 0 before.
    var writtenAt: UInt64 = 0
    /// The engine has told of it.
    var isWrittenTold = false
    /// Bytes of DATA handed over, and the last of them.
    var dataCount = 0
    var tail: [UInt8] = []
    /// DATA the server has allowed on the stream besides the initial window.
    var granted = 0
    var status: Int?
    private(set) var ending: Ending?
    /// When the bytes that ended it had been read.
    private(set) var endingReadAt: UInt64 = 0
    /// The engine has told of its end.
    var isEnded = false

    init(sequence: UInt64, link: LinkBooks, stream: Int32, composedAt: UInt64) {
        self.sequence = sequence
        self.link = link
        self.stream = stream
        self.composedAt = composedAt
    }

    func end(_ ending: Ending, at time: UInt64) {
        guard self.ending == nil, !isEnded else { return }
        self.ending = ending
        endingReadAt = time
        link.untold.append(self)
    }

    /// The server says that it was not processed, and has not said a status.
    var isRefused: Bool {
        switch ending {
        case .passedOver?: true
        case .reset(let code)?: status == nil && code == ErrorCode.refusedStream.rawValue
        default: false
        }
    }
}
