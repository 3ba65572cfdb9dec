import Networking

/// Why there can be no echo: one line.
package struct EchoError: Error, CustomStringConvertible, Equatable {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// How devices ask their backend. Times are nanoseconds.
package struct EchoConfiguration: Sendable {
    package enum Version: String, Sendable, CaseIterable {
        case one = "1.1"
        /// Without TLS by prior knowledge (RFC 9113 section 3.3).
        case two = "2"
        /// 2 where TLS agrees on it (ALPN), else 1.1.
        case automatic = "auto"
    }

    package var target: EchoTarget
    /// Requests that are under way at once, 1 to 50,000.
    package var places = 1000
    package var version = Version.automatic
    /// Certificates to trust, a PEM file; nil: the system's.
    package var certificates: String?
    /// Each request has a connection of its own.
    package var hasFreshConnections = false
    /// Of the times of retries, and of the synthetic devices whose tokens actions tell.
    package var seed: UInt64 = 1
    /// Bytes of an answer's body; a longer one fails.
    package var longestBody = 64 << 20
    /// Bytes of an answer's heads together; a longer one fails.
    package var longestHead = 64 << 10
    /// From an attempt's failure to the next attempt, without what is drawn: as many retries as there are times.
    package var pauses: [UInt64] = [1_000_000_000, 2_000_000_000, 4_000_000_000]

    package init(_ target: EchoTarget) { self.target = target }

    /// HTTP/2 by prior knowledge.
    private var isPrior: Bool { version == .two && !target.isSecure }
    /// Each request has a connection of its own, because it was asked for or because libcurl cannot else.
    var closesConnections: Bool { hasFreshConnections || isPrior && !CurlMulti.sharesPriorConnections }
    /// Requests may share a connection at the same time.
    var multiplexes: Bool {
        !closesConnections && (version == .two || version == .automatic && target.isSecure)
    }
}
