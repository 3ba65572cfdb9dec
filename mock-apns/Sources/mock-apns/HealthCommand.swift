import ArgumentParser
import Glibc
import Networking

/// Asks a mock that runs whether it answers, for health checks of containers, which have no curl.
struct HealthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Ask a mock that runs, at its admin port, whether it answers. Exit status: 0 yes, 1 no, 64 misuse.")

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Its --admin-port. Default: 2199.", valueName: "port"),
        transform: portNumber)
    var adminPort: UInt16 = 2199

    @Option(help: ArgumentHelp("Its --admin-host.", valueName: "address"))
    var adminHost = "127.0.0.1"

    /// Seconds that connecting, sending and the answer may each take.
    private static let limit = 2

    func run() throws {
        let address: SocketAddress
        do throws(NetworkError) { address = try SocketAddress(host: adminHost, port: adminPort) } catch {
            Output.error("mock-apns: \(error)")
            throw ExitCode(1)
        }
        if let problem = problem(address) {
            Output.error("mock-apns: \(address): \(problem)")
            throw ExitCode(1)
        }
        Output.line("ok")
    }

    /// Why it is not well; nil when it is.
    private func problem(_ address: SocketAddress) -> String? {
        let family = address.withSockAddr { pointer, _ in Int32(pointer.pointee.sa_family) }
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return String(cString: strerror(errno)) }
        defer { close(descriptor) }
        // Connecting waits as long as sending may.
        var limit = timeval(tv_sec: Self.limit, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        guard address.withSockAddr({ connect(descriptor, $0, $1) }) == 0 else { return Self.reason(errno) }
        let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        guard send(descriptor, request, request.utf8.count, Int32(MSG_NOSIGNAL)) == request.utf8.count else {
            return Self.reason(errno)
        }
        let expected = Array("HTTP/1.1 200 ".utf8)
        var answer: [UInt8] = []
        while answer.count < expected.count {
            var part = [UInt8](repeating: 0, count: expected.count - answer.count)
            let count = recv(descriptor, &part, part.count, 0)
            guard count > 0 else { return count == 0 ? "closed the connection without an answer" : Self.reason(errno) }
            answer += part[..<count]
        }
        return answer == expected ? nil : "not 200 OK to GET /healthz: is this the admin port of a mock-apns?"
    }

    private static func reason(_ code: Int32) -> String {
        code == EAGAIN || code == EINPROGRESS ? "no answer within \(limit) s" : String(cString: strerror(code))
    }
}
