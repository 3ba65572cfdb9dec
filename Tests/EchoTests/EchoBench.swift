import Foundation
import Networking
import Synchronization
import Testing

@testable import Devices
@testable import Echo

/// An echo without fleets: what it is asked, and what it tells.
final class EchoBench: Sendable {
    struct Told: Sendable {
        let request: UInt64
        let ending: EchoEnding
        let epoch: UInt32
    }

    let echo: Echo
    private let told = Mutex<[Told]>([])
    /// Of the fleet at `startedAt`.
    private static let startTime: UInt64 = 1_700_000_000_000_000_000
    private let startedAt = MonotonicClock.now()

    init(_ url: String, _ change: (inout EchoConfiguration) -> Void = { _ in }) throws {
        var configuration = EchoConfiguration(try EchoTarget(url))
        configuration.pauses = [1_000_000, 2_000_000, 4_000_000]
        change(&configuration)
        echo = try Echo(configuration)
        let startedAt = startedAt
        let deadlines = deadlines
        echo.start(.init(startTime: Self.startTime, startedAt: startedAt)) { [self] request, _, epoch, ending, time in
            told.withLock { $0.append(Told(request: request, ending: ending, epoch: epoch)) }
            return time < deadlines.value.withLock { $0[request] ?? .max }
        }
    }

    private final class Deadlines: Sendable { let value = Mutex<[UInt64: UInt64]>([:]) }
    private let deadlines = Deadlines()

    var all: [Told] { told.withLock { $0 } }
    var books: EchoBooks { echo.figures.books }

    func ask(
        _ id: UInt64, _ kind: EchoRequest.Kind = .fetch, _ path: String = "/api/content", within time: Double = 30,
        notification: String = "", action: String = "", text: String = "", epoch: UInt32 = 0
    ) {
        let deadline = MonotonicClock.now() + UInt64(time * 1e9)
        deadlines.value.withLock { $0[id] = deadline }
        let request = EchoRequest(
            id: id, kind: kind, device: DeviceKey("\(id)"), number: id, ticket: id, path: path,
            notification: notification, action: action, text: text,
            deadline: Self.startTime + (deadline - startedAt))
        echo.ask([request], fleet: 0, epoch: epoch)
    }

    /// Waits, for minutes if need be, until something is so.
    func wait(_ isSo: (EchoBench) -> Bool) throws {
        for _ in 0..<60_000 {
            if isSo(self) { return }
            usleep(2000)
        }
        Issue.record("waited in vain: \(books.total) \(books.failures)")
    }

    /// Waits until so many requests have ended.
    func wait(ended count: Int) throws { try wait { $0.books.total.ended >= UInt64(count) } }
}

extension EchoBooks.Endings {
    var ended: UInt64 { answered + failed + givenUp + notBegun }
}
