import Glibc
import Networking
import Signing

/// One situation while it is played: the connections, what is to happen later, and the journal of all of it. One thread turns it.
final class Stage {
    let loop: EventLoop
    let pace: Pace
    private(set) var play: Play!
    var journal: Journal
    private let begunAt: UInt64
    private let tls: TLSContext?
    private let tokens: ProviderTokens
    private let devices: Set<String>
    private var connections: [Int: ExamConnection] = [:]
    private var agenda: [(due: UInt64, work: () -> Void)] = []
    /// Requests that one situation takes.
    static let mostPushes = 200_000
    /// Connections that one situation takes, and how many of them at once: those beyond are closed, and only counted.
    static let mostConnections = 10_000
    static let mostConnectionsOpen = 2000
    /// When anything last happened.
    private(set) var lastSign: UInt64 = 0

    init(
        _ situation: Situation, loop: EventLoop, tls: TLSContext?, identity: ProviderIdentity, devices: [String],
        pace: Pace
    ) {
        self.loop = loop
        self.pace = pace
        self.tls = tls
        self.devices = Set(devices)
        tokens = ProviderTokens(identity)
        journal = Journal(devices: devices)
        journal.patience = pace.patience
        begunAt = loop.now
        play = situation.play(self)
    }

    /// ns since the situation began.
    var now: UInt64 { loop.now &- begunAt }
    var unixMilliseconds: Int64 { loop.unixMilliseconds }

    /// Does something `delay` ns later, unless the situation is over by then.
    func after(_ delay: UInt64, _ work: @escaping () -> Void) { agenda.append((now + delay, work)) }

    /// The server has done what the situation is about.
    func mark() { journal.turningPoint = journal.turningPoint ?? now }

    // MARK: Its turns

    /// Takes over a descriptor that was accepted; the stream owns it, and closes it where it is not kept.
    func adopt(_ descriptor: Int32) {
        guard journal.connections.count < Self.mostConnections, connections.count < Self.mostConnectionsOpen else {
            journal.connectionsBeyond += 1
            close(descriptor)
            return
        }
        adopt(try? SocketStream(accepted: descriptor, tls: tls, options: SocketOptions()))
    }

    /// Takes over a connection of the event loop's kind; nil: one that there is no memory for.
    func adopt(_ stream: ByteStream?) {
        let number = journal.connections.count
        journal.connections.append(ConnectionRecord(openedAt: now))
        lastSign = now
        guard let stream, play.takes(connection: number) else {
            journal.connections[number].closedAt = now
            journal.connections[number].isTurnedAway = true
            return
        }
        connections[number] = ExamConnection(number, stream, self)
        connections[number]?.handle()
    }

    func handle(_ token: UInt64) {
        lastSign = now
        connections[Int(truncatingIfNeeded: token)]?.handle()
    }

    func turn() {
        let now = now
        let due = agenda.filter { $0.due <= now }.sorted { $0.due < $1.due }
        agenda.removeAll { $0.due <= now }
        for entry in due { entry.work() }
        for connection in connections.values { connection.turn() }
        connections = connections.filter { !$0.value.isClosed }
    }

    /// The situation is over: every connection is closed.
    func end() -> Journal {
        agenda = []
        journal.duration = now
        for connection in connections.values { connection.close(byClient: false) }
        connections = [:]
        return journal
    }

    // MARK: What sessions tell

    func begin(_ header: RequestHeader, connection: Int, stream: Int32) -> Int {
        var push = PushRecord(connection: connection, stream: stream, device: header.device ?? "", begunAt: now)
        if let authorization = header.authorization {
            push.providerToken = tokens.place(authorization, in: &journal, unixSeconds: loop.unixSeconds)
        }
        journal.pushes.append(push)
        return journal.pushes.count - 1
    }

    /// A push is whole: what is wrong with it by itself is answered, the rest is the play's.
    func didComplete(_ place: Int, _ connection: ExamConnection) {
        journal.pushes[place].completeAt = now
        if let fault = fault(journal.pushes[place]) {
            connection.session.answer(place, fault)
        } else {
            play.didComplete(place, connection)
        }
    }

    private func fault(_ push: PushRecord) -> PushFate? {
        if push.device.isEmpty { return .rejected(status: 404, reason: "BadPath") }
        guard let token = push.providerToken else { return .rejected(status: 403, reason: "MissingProviderToken") }
        if journal.providerTokens[token] != nil { return .rejected(status: 403, reason: "InvalidProviderToken") }
        return devices.contains(push.device) ? nil : .rejected(status: 400, reason: "BadDeviceToken")
    }

    func end(_ push: Int, _ fate: PushFate) {
        journal.pushes[push].fate = fate
        journal.pushes[push].endedAt = now
    }
}
