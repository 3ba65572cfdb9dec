import Networking

/// Where connections to a target are made. Asked on a worker's thread whenever one is begun, which is not on the way of a push.
package protocol TargetAddresses: Sendable {
    /// Addresses that are tried in turn; 0: none may be connected to.
    var count: Int { get }

    /// What was wrong last with the addresses that were found, one line; nil: nothing.
    var problem: String? { get }

    /// - Parameters:
    ///   - connection: its number among those to this target.
    ///   - attempt: how often a connection was begun in its place before.
    /// - Throws: when there is no address that may be connected to.
    func address(connection: Int, attempt: Int) throws(NetworkError) -> SocketAddress

    /// A connection was lost or could not be made: there may be other addresses now. Does not wait for them.
    ///
    /// - Parameter now: ns of the event loop.
    func lookAgain(now: UInt64)
}

/// A target that has one address for good.
package struct FixedAddress: TargetAddresses {
    private let address: SocketAddress

    package init(_ address: SocketAddress) { self.address = address }

    package var count: Int { 1 }
    package var problem: String? { nil }
    package func address(connection: Int, attempt: Int) -> SocketAddress { address }
    package func lookAgain(now: UInt64) {}
}
