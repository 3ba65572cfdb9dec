import Glibc
import Networking
import Signing

/// Holds an exam: plays one situation after the other to a client, on one thread.
package final class Examiner {
    private let settings: ExamSettings
    private let files: ExamFiles
    private let loop: Reactor
    private let listener: Listener
    private let tls: TLSContext?
    private let devices: [String]
    private static let listenerToken = UInt64.max - 1
    /// What a turn waits at most, ns.
    private static let turnTime: UInt64 = 5_000_000
    /// Connections that a turn accepts: those that have ended are let go between two turns.
    private static let acceptedAtOnce = 64

    /// - Throws: one line when it cannot listen.
    package init(_ settings: ExamSettings, _ files: ExamFiles) throws {
        self.settings = settings
        self.files = files
        devices = ExamDevices.tokens(settings.pushes)
        loop = try Reactor()
        listener = try Listener(host: settings.host, port: settings.port, shared: false)
        if settings.isPlaintext {
            tls = nil
        } else {
            guard let server = files.credentials.server else {
                throw ExamError("\(files.credentialsFolder): server.pem and server.key are missing")
            }
            var options = TLSOptions()
            options.identity = TLSIdentity(
                certificate: server.certificate, key: server.key,
                certificateOrigin: files.credentialsFolder + "/server.pem",
                keyOrigin: files.credentialsFolder + "/server.key")
            tls = try TLSContext(.server, options)
        }
        loop.add(listener.descriptor, token: Self.listenerToken, interest: .readable)
    }

    /// What the client is told where, by names of environment variables.
    package func environment(_ situation: Situation) -> [String: String] {
        let host = settings.isCalledLocalhost ? "localhost" : settings.host
        let port = listener.address.port
        let written = host.contains(":") ? "[\(host)]" : host
        return [
            "EXAM_URL": "\(settings.isPlaintext ? "http" : "https")://\(written):\(port)", "EXAM_HOST": host,
            "EXAM_PORT": "\(port)", "EXAM_CA": files.credentialsFolder + "/ca.pem",
            "EXAM_KEY": files.credentialsFolder + "/AuthKey.p8", "EXAM_KEY_ID": files.credentials.identity.keyID,
            "EXAM_TEAM_ID": files.credentials.identity.teamID, "EXAM_TOPIC": files.credentials.topic,
            "EXAM_TOKENS": files.tokens, "EXAM_SITUATION": situation.name,
            "EXAM_SECONDS": "\(Double(scaled(settings.timeLimit)) / 1e9)",
        ]
    }

    private func scaled(_ time: UInt64) -> UInt64 { UInt64(Double(time) * settings.patience) }

    /// Plays one situation.
    ///
    /// - Parameter isInterrupted: asked again and again; true ends the exam.
    /// - Returns: nil when it was interrupted.
    /// - Throws: one line when the client cannot be started.
    package func play(_ situation: Situation, isInterrupted: () -> Bool) throws(ExamError) -> Journal? {
        // Who came to the situation before, and was not taken.
        while case .descriptor(let descriptor) = listener.accept() { close(descriptor) }
        let stage = Stage(
            situation, loop: loop, tls: tls, identity: files.credentials.identity, devices: devices,
            pace: Pace(patience: settings.patience))
        let command =
            settings.command.isEmpty
            ? nil : try ClientCommand(settings.command, environment: environment(situation))
        var begunAt = command == nil ? nil : Optional(stage.now)
        while true {
            turn(stage)
            if isInterrupted() {
                command?.kill()
                _ = stage.end()
                return nil
            }
            let now = stage.now
            if begunAt == nil, !stage.journal.connections.isEmpty { begunAt = now }
            if let command, let end = command.poll() {
                stage.journal.clientEnd = end
                drain(stage)
                return stage.end()
            }
            guard let begunAt else { continue }
            if now - begunAt >= scaled(settings.timeLimit) {
                if let command {
                    command.kill()
                    stage.journal.clientEnd = .killed
                }
                return stage.end()
            }
            if command == nil, now - max(begunAt, stage.lastSign) >= scaled(settings.quiet) { return stage.end() }
        }
    }

    private func turn(_ stage: Stage) {
        _ = handle(stage, timeout: Self.turnTime)
        stage.turn()
    }

    /// - Returns: whether anything had come.
    private func handle(_ stage: Stage, timeout: UInt64) -> Bool {
        let count = loop.wait(timeout: timeout)
        for event in (0..<count).map(loop.event) {
            if event.token == Self.listenerToken { accept(stage) } else { stage.handle(event.token) }
        }
        return count > 0
    }

    private func accept(_ stage: Stage) {
        for _ in 0..<Self.acceptedAtOnce {
            switch listener.accept() {
            case .descriptor(let descriptor): stage.adopt(descriptor)
            case .none: return
            case .exhausted:
                // Until a connection has closed; the listener stays readable meanwhile.
                usleep(5_000)
                return
            }
        }
    }

    /// What the client had sent before it ended. In so many turns a whole queue of connections (4,096) is accepted, and read; what it
    /// left running could go on for ever.
    private func drain(_ stage: Stage) {
        for _ in 0..<200 where handle(stage, timeout: 2_000_000) { stage.turn() }
    }
}
