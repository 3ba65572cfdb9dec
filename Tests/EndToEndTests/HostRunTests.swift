import Foundation
import Results
import Testing

/// Workers and mocks on hosts of their own, which only a network joins: network namespaces of this machine.
@Suite(.serialized, .waitsForPrograms, .enabled(if: HostNetwork.obstacle == nil, "\(HostNetwork.obstacle ?? "")"))
struct HostRunTests {
    @Test(
        "Workers on three hosts and two mocks on a fourth are one run, in which each push is where one process would have sent it"
    )
    func fourHosts() throws {
        let network = try HostNetwork(hosts: 4)
        let address = network.address(4)
        let mocks = try MockPair(host: address, launcher: network.launcher(4))
        let load = ["--pushes", "12345", "--connections", "8", "--streams", "50"] + mocks.targets
        let pushload = [Programs.path("pushload"), "run"]

        func start(_ host: Int, _ arguments: [String]) throws -> Running {
            let command = network.launcher(host) + pushload + arguments
            return try Running(command[0], Array(command[1...]))
        }

        // Another host is not sent to before somebody has said that it may be.
        let refused = try start(1, load).wait()
        #expect(refused.status == 64 && refused.error.contains("\(address) is not this machine"), "\(refused)")

        let allowed = load + ["--allow-target", address]
        let run = WholeRun(folder: mocks.folder.path + "/run")
        let workers = try (0..<6).map { index in
            try start(
                1 + index % 3,
                allowed + [
                    "--worker", "\(index)/6", "--rendezvous", run.folder, "--start-timeout", "5m", "--lost-after", "2m",
                ])
        }
        for worker in workers {
            let finished = try worker.wait()
            #expect(finished.status == 0, "\(finished)")
        }
        // After it: mocks keep the times of their first run.
        let output = mocks.folder.path + "/alone"
        let alone = try start(1, allowed + ["--json", "--output", output]).wait()
        #expect(alone.status == 0, "\(alone)")
        try mocks.stop()
        let merged = try mocks.merge(run.folder)
        #expect(merged.status == 0 && merged.output.contains("0 lost, 0 doubled"), "\(merged)")
        let one = try ResultFile.decode(Array(alone.output.utf8), origin: "stdout \(alone.error)")
        try run.expectSame(as: one, mocks.ledgers, workers: 6)
        #expect(try run.result.workers?.map(\.host) == (0..<6).map { "host\(1 + $0 % 3)" })
    }

    @Test("A network of hosts is gone when its test is")
    func removed() throws {
        func names() throws -> String { try Programs.run("/usr/bin/env", ["ip", "netns", "list"]).output }
        do {
            let network = try HostNetwork(hosts: 2)
            let reached = try Running(
                network.launcher(1)[0],
                Array(network.launcher(1)[1...]) + ["sh", "-c", "hostname; ip -4 -o addr show eth0"]
            ).wait()
            #expect(reached.output.hasPrefix("host1\n") && reached.output.contains("10.99.0.1/24"), "\(reached)")
            #expect(try names().contains("pushload-test-\(getpid())-"))
        }
        #expect(try !names().contains("pushload-test-\(getpid())-"))
    }
}
