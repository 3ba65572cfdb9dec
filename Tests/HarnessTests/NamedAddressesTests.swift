import Networking
import Synchronization
import Testing

@testable import Harness

/// Answers what a test says.
private final class ScriptedResolver: NameResolver {
    private let hosts: Mutex<[String]>
    private let looks = Mutex(0)

    init(_ hosts: [String]) { self.hosts = Mutex(hosts) }

    var lookCount: Int { looks.withLock { $0 } }
    func lead(to hosts: [String]) { self.hosts.withLock { $0 = hosts } }

    func addresses(of host: String, port: UInt16) throws(NetworkError) -> [SocketAddress] {
        looks.withLock { $0 += 1 }
        let hosts = hosts.withLock { $0 }
        guard !hosts.isEmpty else { throw NetworkError(.address, "no address for host \"\(host)\"") }
        var addresses: [SocketAddress] = []
        for host in hosts { addresses.append(try SocketAddress(host: host, port: port)) }
        return addresses
    }
}

@Suite struct NamedAddressesTests {
    private static let second: UInt64 = 1_000_000_000

    private func make(_ resolver: ScriptedResolver, isAllowed: Bool = false) throws -> NamedAddresses {
        try NamedAddresses(
            host: "push.test", port: 9, rule: AddressRule(host: "push.test", isAllowed: isAllowed), resolver: resolver,
            background: { $0() })
    }

    private func all(_ addresses: NamedAddresses) -> [String] {
        (0..<max(1, addresses.count)).map { number in
            do throws(NetworkError) {
                return try addresses.address(connection: number, attempt: 0).description
            } catch { return "\(error.kind): \(error)" }
        }
    }

    @Test("A name that changes to another address of this machine is followed, looked for at most once a second")
    func followed() throws {
        let resolver = ScriptedResolver(["127.0.0.1"])
        let addresses = try make(resolver)
        #expect(all(addresses) == ["127.0.0.1:9"])
        resolver.lead(to: ["127.0.0.2"])
        addresses.lookAgain(now: 5 * Self.second)
        #expect(all(addresses) == ["127.0.0.2:9"] && addresses.problem == nil)
        resolver.lead(to: ["127.0.0.3"])
        addresses.lookAgain(now: 5 * Self.second + 999_999_999)
        #expect(all(addresses) == ["127.0.0.2:9"] && resolver.lookCount == 2)
        addresses.lookAgain(now: 6 * Self.second)
        #expect(all(addresses) == ["127.0.0.3:9"])
        // Without an answer the last one holds.
        resolver.lead(to: [])
        addresses.lookAgain(now: 7 * Self.second)
        #expect(all(addresses) == ["127.0.0.3:9"] && addresses.problem == "no address for host \"push.test\"")
    }

    @Test("A name that changes to an address of Apple's is not connected to, whoever says it is theirs")
    func apple() throws {
        for isAllowed in [false, true] {
            let resolver = ScriptedResolver(["127.0.0.1"])
            let addresses = try make(resolver, isAllowed: isAllowed)
            resolver.lead(to: ["17.188.1.2"])
            addresses.lookAgain(now: Self.second)
            let refusal =
                "push.test leads to 17.188.1.2:9, which is Apple's: not connected to; Apple's servers are not for load tests"
            #expect(all(addresses) == ["forbidden: \(refusal)"] && addresses.problem == refusal)
            #expect(throws: NetworkError(.forbidden, refusal)) { try make(resolver, isAllowed: isAllowed) }
        }
    }

    @Test("A name that nobody allowed leads to this machine or nowhere; one that is allowed anywhere but to Apple's")
    func elsewhere() throws {
        let resolver = ScriptedResolver(["127.0.0.1"])
        let (own, allowed) = (try make(resolver), try make(resolver, isAllowed: true))
        resolver.lead(to: ["192.0.2.7"])
        for addresses in [own, allowed] { addresses.lookAgain(now: Self.second) }
        #expect(
            all(own) == [
                "forbidden: push.test leads to 192.0.2.7:9, which is not this machine: not connected to; if it is yours to "
                    + "load, say so: --allow-target push.test"
            ])
        #expect(all(allowed) == ["192.0.2.7:9"])
        // Of several those that may be are, and the others are said.
        resolver.lead(to: ["17.1.1.1", "192.0.2.9", "2001:db8::1", "192.0.2.8", "192.0.2.9"])
        allowed.lookAgain(now: 2 * Self.second)
        #expect(all(allowed) == ["192.0.2.8:9", "192.0.2.9:9", "[2001:db8::1]:9"])
        #expect(allowed.problem?.hasPrefix("push.test leads to 17.1.1.1:9, which is Apple's") == true)
    }

    @Test("Connections are spread over a name's addresses by number, in whatever order it has them")
    func spread() throws {
        for order in [["127.0.0.1", "127.0.0.2", "127.0.0.3"], ["127.0.0.3", "127.0.0.1", "127.0.0.2"]] {
            let addresses = try make(ScriptedResolver(order))
            let asked = try (0..<6).map { try addresses.address(connection: $0, attempt: $0 / 3).bytes[3] }
            #expect(asked == [1, 2, 3, 2, 3, 1])
        }
    }
}
