import Devices
import Harness
import MockAPNs
import Networking
import Scenarios
import Signing

/// A push's whole way, client and mock in turn on one thread: composed, signed, sent, judged, answered and recorded as in a
/// run, over plaintext TCP on the loopback. Each turn moves a full set of streams, so that batches are always the same and so
/// are instructions. For benchmarks only.
public final class PushLoop {
    private let client: HandDrivenRun
    private let mock: HandDrivenMock
    private static let streams = 64

    /// Connects, and sends the first pushes.
    ///
    /// - Parameter devices: so many devices do with the pushes what the device model says; nil: without a model, a million.
    /// - Throws: when the system has no socket.
    public init(devices: UInt64? = nil) throws {
        let identity = try ProviderIdentity(
            key: try ProviderKey.ephemeral(), keyID: "ABCDE12345", teamID: "FGHIJ67890")
        var configuration = MockConfiguration()
        configuration.accounts = [ProviderAccount(identity)]
        configuration.allStreamsAtOnce = true
        configuration.ledgerCapacity = Self.most
        if devices != nil { configuration.deviceModel = Self.model }
        mock = try HandDrivenMock(configuration)
        let listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        var scenario = Scenario()
        scenario.pushes = Self.most
        scenario.streams = Self.streams
        if let devices { scenario.devices = devices }
        client = try HandDrivenRun(scenario, address: listener.address, identity: identity)
        client.begin()
        while true {
            if case .descriptor(let descriptor) = listener.accept() {
                mock.adopt(descriptor)
                break
            }
        }
        precondition(run(10_000) >= 10_000, "pushes are accepted")
    }

    /// The bundled one, at any hour, with users who take so long that what they do is planned and not done: the same work whenever it
    /// is run, and however long it takes.
    private static var model: DeviceModel {
        var model = DeviceModel()
        model.hours = [Double](repeating: 1, count: 24)
        model.reaction.delay.median = 1_000_000_000_000_000
        return model
    }

    /// Pushes one loop is good for.
    public static let most: UInt64 = 1 << 31

    /// Sends at least `count` more pushes, a set of streams at a time; returns how many have been accepted by now.
    public func run(_ count: UInt64) -> UInt64 {
        let goal = client.counts.ended + count
        while client.counts.ended < goal {
            _ = client.turn()
            mock.turn()
        }
        let counts = client.counts
        precondition(counts.ended == counts.accepted, "the mock accepts every push")
        return counts.accepted
    }
}
