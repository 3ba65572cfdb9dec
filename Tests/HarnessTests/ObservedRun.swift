import Networking
import Scenarios
import Transport

@testable import Harness

/// A run that nobody answers and whose workers a test drives itself.
struct ObservedRun {
    let run: HandDrivenRun
    /// Of each worker.
    let drivers: [PushDriver]

    init(_ scenario: Scenario, judge: LiveJudge? = nil) throws {
        var drivers: [PushDriver] = []
        run = try HandDrivenRun(
            scenario, address: try SocketAddress(host: "127.0.0.1", port: 1), identity: nil, judge: judge,
            observe: { _, driver in
                drivers.append(driver)
                return driver
            })
        self.drivers = drivers
    }
}
