import Glibc
import Networking
import Settings

/// Accepts connections at one worker's own listeners, on its loop. Where another worker has fewer connections, it gets them.
///
/// Where the process has no descriptor left accepting rests until `resume`: a listener that nobody accepts from would else wake the
/// loop without end.
final class ConnectionDealer {
    /// Tokens of the loop from here on are listeners'; those below are the numbers of connections.
    static let firstToken: UInt64 = 1 << 63

    private let listeners: [(listener: Listener, role: ListenerRole)]
    private let peers: [(inbox: MockInbox, wakeUp: WakeUp)]
    private let loop: EventLoop
    private let log: MockLog
    private let spread: ConnectionSpread
    /// Of the worker whose loop it is.
    private let number: Int
    private var isResting = false
    /// There was no descriptor for a connection since all that waited were accepted.
    private var isShort = false

    /// - Parameters:
    ///   - peers: all workers' inboxes and wake-ups.
    ///   - number: of the worker whose loop it is.
    init(
        _ listeners: [(listener: Listener, role: ListenerRole)], peers: [(inbox: MockInbox, wakeUp: WakeUp)],
        spread: ConnectionSpread, number: Int, loop: EventLoop, log: MockLog
    ) {
        self.listeners = listeners
        self.peers = peers
        self.spread = spread
        self.number = number
        self.loop = loop
        self.log = log
        for (index, entry) in listeners.enumerated() {
            loop.add(entry.listener.descriptor, token: Self.firstToken + UInt64(index), interest: .readable)
        }
    }

    /// Accepts who waits at the listener of this token.
    ///
    /// - Returns: what is the worker's own to serve.
    func accept(at token: UInt64) -> [(descriptor: Int32, role: ListenerRole)] {
        guard token >= Self.firstToken, token - Self.firstToken < UInt64(listeners.count) else { return [] }
        let (listener, role) = listeners[Int(token - Self.firstToken)]
        var own: [(descriptor: Int32, role: ListenerRole)] = []
        while true {
            switch listener.accept() {
            case .none:
                // Nobody waits any more.
                if isShort, let tries = spread.endShortage(number) {
                    log.warning(
                        "all connections are accepted again, after \(Units.counted(tries, "try")) without a descriptor")
                }
                isShort = false
                return own
            case .exhausted:
                isShort = true
                if spread.noteShortage(number) { log.warning("no file descriptor left for another connection") }
                rest()
                return own
            case .descriptor(let descriptor):
                let place = spread.place(acceptedBy: number)
                if place == number {
                    own.append((descriptor, role))
                } else if peers[place].inbox.put(.adopt(descriptor, role)) {
                    peers[place].wakeUp.signal()
                } else {
                    spread.ended(place)
                    close(descriptor)
                }
            }
        }
    }

    /// Nobody is accepted until `resume`.
    func rest() {
        isResting = true
        listen([])
    }

    /// Accepts again, where it rested: at once who waits, for without a descriptor the kernel does not say whether anybody does.
    ///
    /// - Returns: what is the worker's own to serve.
    func resume() -> [(descriptor: Int32, role: ListenerRole)] {
        guard isResting else { return [] }
        isResting = false
        listen(.readable)
        return isShort ? listeners.indices.flatMap { accept(at: Self.firstToken + UInt64($0)) } : []
    }

    private func listen(_ interest: Readiness) {
        for (index, entry) in listeners.enumerated() {
            loop.modify(entry.listener.descriptor, token: Self.firstToken + UInt64(index), interest: interest)
        }
    }
}
