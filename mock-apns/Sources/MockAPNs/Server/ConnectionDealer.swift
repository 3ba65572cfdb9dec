import Glibc
import Networking
import Settings

/// Accepts connections at a server's listeners, on the loop of one worker, and deals them out to all workers in turn.
///
/// Where the process has no descriptor left accepting rests until `resume`: a listener that nobody accepts from would else wake the
/// loop without end.
final class ConnectionDealer {
    /// Most listeners; tokens of the loop below are theirs.
    static let mostListeners = 16

    private let listeners: [(listener: Listener, role: ListenerRole)]
    private let peers: [(inbox: MockInbox, wakeUp: WakeUp)]
    private let loop: EventLoop
    private let log: MockLog
    private var turn = 0
    private var isResting = false
    /// How often there was no descriptor for a connection since all that waited were accepted.
    private var refusals: UInt64 = 0

    /// - Parameters:
    ///   - peers: all workers' inboxes and wake-ups; first that of the worker whose loop it is.
    init(
        _ listeners: [(listener: Listener, role: ListenerRole)], peers: [(inbox: MockInbox, wakeUp: WakeUp)],
        loop: EventLoop, log: MockLog
    ) {
        self.listeners = listeners
        self.peers = peers
        self.loop = loop
        self.log = log
        for (index, entry) in listeners.enumerated() {
            loop.add(entry.listener.descriptor, token: UInt64(index), interest: .readable)
        }
    }

    /// Deals out who waits at the listener of this token.
    ///
    /// - Returns: what is the worker's own to serve.
    func accept(at token: UInt64) -> [(descriptor: Int32, role: ListenerRole)] {
        guard token < UInt64(listeners.count) else { return [] }
        let (listener, role) = listeners[Int(token)]
        var own: [(descriptor: Int32, role: ListenerRole)] = []
        while true {
            switch listener.accept() {
            case .none:
                // Nobody waits any more.
                if refusals > 0 {
                    log.warning(
                        "all connections are accepted again, after \(Units.counted(refusals, "try")) without a descriptor"
                    )
                    refusals = 0
                }
                return own
            case .exhausted:
                if refusals == 0 { log.warning("no file descriptor left for another connection") }
                refusals += 1
                rest()
                return own
            case .descriptor(let descriptor):
                let place = turn % peers.count
                turn += 1
                if place == 0 {
                    own.append((descriptor, role))
                } else if peers[place].inbox.put(.adopt(descriptor, role)) {
                    peers[place].wakeUp.signal()
                } else {
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

    /// Accepts again, where it rested.
    func resume() {
        guard isResting else { return }
        isResting = false
        listen(.readable)
    }

    private func listen(_ interest: Readiness) {
        for (index, entry) in listeners.enumerated() {
            loop.modify(entry.listener.descriptor, token: UInt64(index), interest: interest)
        }
    }
}
