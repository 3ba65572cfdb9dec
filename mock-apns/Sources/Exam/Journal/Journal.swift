/// What the server saw of a client in one situation: a plain value, from which everything is judged. Times are nanoseconds since the
/// situation began.
package struct Journal: Sendable, Equatable {
    /// Device tokens the client was given, one push each.
    package var devices: [String]
    /// Of them those that the situation treats in its own way.
    package var special: [String] = []
    /// In the order in which they were opened.
    package var connections: [ConnectionRecord] = []
    /// Connections closed at once because there were too many.
    package var connectionsBeyond = 0
    /// One a stream, in the order in which their header blocks came.
    package var pushes: [PushRecord] = []
    /// What is wrong with each provider token that was shown, in the order of their first use; nil: nothing.
    package var providerTokens: [String?] = []
    /// When the server did what the situation is about; nil: the client never brought it there.
    package var turningPoint: UInt64?
    package var clientEnd = ClientEnd.unknown
    /// How long the situation lasted.
    package var duration: UInt64 = 0
    /// What the exam's waits for the client were multiplied by.
    package var patience = 1.0

    package init(devices: [String]) { self.devices = devices }
}

/// How the client's command came to its end.
package enum ClientEnd: Sendable, Equatable {
    /// No command was given: the client was somebody else's.
    case unknown
    case exited(Int32)
    case signaled(Int32)
    /// It was still running at the time limit and was killed.
    case killed
}

/// One connection as the server saw it.
package struct ConnectionRecord: Sendable, Equatable {
    package var openedAt: UInt64
    /// When HTTP/2's preface and the client's SETTINGS had come.
    package var begunAt: UInt64?
    package var closedAt: UInt64?
    /// The client closed it, or broke it, before the server did.
    package var isClosedByClient = false
    /// The server closed it as soon as it was made.
    package var isTurnedAway = false
    /// Most streams that were open at once.
    package var mostOpen = 0
    /// Frames of SETTINGS sent, and those acknowledged.
    package var settingsSent = 0
    package var settingsAcknowledged = 0
    /// Streams begun beyond a limit that the client had acknowledged.
    package var beyondLimit = 0
    /// Bytes of DATA beyond a window that the client knew.
    package var beyondWindow = 0
    /// When GOAWAY was sent.
    package var goAwayAt: UInt64?
    /// When the client had acknowledged the PING sent behind GOAWAY: from then on it knew.
    package var goAwayKnownAt: UInt64?
    /// Nothing was written any more from then on.
    package var silentFrom: UInt64?
    /// The server ended it from its side.
    package var cutAt: UInt64?
    package var pings: [PingRecord] = []
    /// What the client broke HTTP/2's rules by, which ended the connection.
    package var violation: String?

    package init(openedAt: UInt64) { self.openedAt = openedAt }
}

/// A PING of the server's.
package struct PingRecord: Sendable, Equatable {
    package var sentAt: UInt64
    /// nil: not acknowledged with the same eight bytes.
    package var acknowledgedAt: UInt64?

    package init(sentAt: UInt64, acknowledgedAt: UInt64? = nil) {
        self.sentAt = sentAt
        self.acknowledgedAt = acknowledgedAt
    }
}

/// One request as the server saw it.
package struct PushRecord: Sendable, Equatable {
    /// Place of its connection in the journal.
    package var connection: Int
    package var stream: Int32
    package var device: String
    /// Place of its provider token in the journal; nil: it had none.
    package var providerToken: Int?
    /// When its header block was there.
    package var begunAt: UInt64
    /// When the request was whole.
    package var completeAt: UInt64?
    /// When its fate was decided.
    package var endedAt: UInt64?
    package var fate = PushFate.waiting

    package init(connection: Int, stream: Int32, device: String, begunAt: UInt64) {
        self.connection = connection
        self.stream = stream
        self.device = device
        self.begunAt = begunAt
    }
}

/// What the server did with a request.
package enum PushFate: Sendable, Equatable {
    /// Nothing yet.
    case waiting
    /// Answered 200.
    case accepted
    /// Accepted, but the connection was cut before the client can have read the whole answer.
    case acceptedUnheard
    case rejected(status: Int, reason: String)
    /// Not processed, and the client was told so: REFUSED_STREAM, or a stream above GOAWAY's last one.
    case refused
    /// The connection ended first, or nothing was written on it any more.
    case unanswered
    /// The client reset the stream.
    case cancelled
}
