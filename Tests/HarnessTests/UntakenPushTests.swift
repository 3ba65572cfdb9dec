import Harness
import Networking
import Scenarios
import Testing
import Transport

@Suite struct UntakenPushTests {
    @Test("What workers did not take ends for the cause that each of them gave up for")
    func causes() throws {
        var scenario = Scenario()
        scenario.pushes = 101
        scenario.threads = 2
        scenario.connections = 2
        scenario.plaintext = true
        var drivers: [PushDriver] = []
        let run = try HandDrivenRun(
            scenario, address: try SocketAddress(host: "127.0.0.1", port: 1), identity: nil,
            observe: { _, driver in
                drivers.append(driver)
                return driver
            })
        drivers[0].abandon(.connectTimeout, now: 1)
        drivers[1].abandon(.certificateUntrusted, now: 1)
        let result = run.result()
        #expect(result.notSent == ["connect_timeout": 51, "certificate_untrusted": 50])
        #expect(result.pushes.planned == 101 && result.pushes.notSent == 101 && !result.run.complete)
    }
}
