import Glibc
import Testing

@testable import Networking

@Suite struct ListenerTests {
    @Test("Listeners of a group have one port of the kernel's choice, and each connection comes to one of them")
    func group() throws {
        let listeners = try Listener.group(host: "127.0.0.1", port: 0, count: 4)
        let address = listeners[0].address
        #expect(listeners.count == 4 && listeners.allSatisfy { $0.address.port == address.port } && address.port != 0)
        let clients = try (0..<64).map { _ in
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            try #require(address.withSockAddr { connect(client, $0, $1) } == 0)
            return client
        }
        var accepted: [Int] = []
        for listener in listeners {
            var count = 0
            while case .descriptor(let descriptor) = listener.accept() {
                count += 1
                close(descriptor)
            }
            accepted.append(count)
        }
        #expect(accepted.reduce(0, +) == 64)
        // By a hash of the addresses: that one of four gets them all has a chance of 4^-63.
        #expect(accepted.count { $0 > 0 } > 1, "\(accepted)")
        for client in clients { close(client) }
    }

    @Test("A port that anybody listens on is refused, a group's too", arguments: [1, 3], [1, 3])
    func taken(_ first: Int, _ second: Int) throws {
        let listeners = try Listener.group(host: "127.0.0.1", port: 0, count: first)
        let address = listeners[0].address
        #expect {
            _ = try Listener.group(host: "127.0.0.1", port: address.port, count: second)
        } throws: {
            "\($0)" == "cannot listen on \(address): Address already in use"
        }
    }

    @Test(
        "Loopback addresses are those that only this machine reaches",
        arguments: [
            ("127.0.0.1", true), ("127.8.9.1", true), ("::1", true), ("::ffff:127.0.0.1", true), ("0.0.0.0", false),
            ("::", false), ("10.0.0.1", false), ("2001:db8::1", false),
        ])
    func loopback(_ host: String, _ isLoopback: Bool) throws {
        #expect(try SocketAddress(host: host, port: 1).isLoopback == isLoopback)
    }
}
