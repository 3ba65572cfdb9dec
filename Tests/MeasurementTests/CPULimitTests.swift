import Foundation
import Testing

@testable import Measurement

@Suite struct CPULimitTests {
    private static let one = "nr_periods 61\nnr_throttled 60\nthrottled_time 2310000000\n"
    private static let two = """
        usage_usec 1900000
        user_usec 1500000
        system_usec 400000
        nr_periods 61
        nr_throttled 61
        throttled_usec 2310000
        nr_bursts 0
        burst_usec 0

        """

    @Test("The counts of both versions' cpu.stat are read, times as nanoseconds; a text without them is no limit")
    func stat() {
        #expect(CPULimit(stat: Self.one) == CPULimit(periods: 61, throttled: 60, time: 2_310_000_000))
        #expect(CPULimit(stat: Self.two) == CPULimit(periods: 61, throttled: 61, time: 2_310_000_000))
        for text in ["", "usage_usec 1\nuser_usec 1\n", "nr_periods 1\n", "nr_periods x\nnr_throttled 1\n"] {
            #expect(CPULimit(stat: text) == nil, "\(text)")
        }
    }

    /// Files below a folder that is made for it.
    private func sample(_ membership: String, _ files: [String: String]) throws -> [String: CPULimit] {
        let root = FileManager.default.temporaryDirectory.path + "/cgroup-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: root) }
        for (path, text) in files {
            let folder = root + "/" + path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try text.write(toFile: folder + "/cpu.stat", atomically: true, encoding: .utf8)
        }
        let found = CPULimit.sample(membership: membership, root: root)
        return Dictionary(uniqueKeysWithValues: found.map { (String($0.key.dropFirst(root.count)), $0.value) })
    }

    @Test("The limit is found in the group itself, above it, and at the root, where a container sees its own")
    func groups() throws {
        let limit = try #require(CPULimit(stat: Self.two))
        #expect(try sample("0::/pod/box\n", ["pod/box": Self.two]) == ["/pod/box/cpu.stat": limit])
        #expect(try sample("0::/pod/box\n", ["pod": Self.two]) == ["/pod/cpu.stat": limit])
        #expect(try sample("0::/docker/1234\n", [".": Self.two]) == ["/cpu.stat": limit])
        let first = try #require(CPULimit(stat: Self.one))
        let membership = "12:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n1:name=systemd:/\n0::/\n"
        #expect(
            try sample(membership, ["cpu,cpuacct/docker/1": Self.one, "memory/docker/1": Self.two])
                == ["/cpu,cpuacct/docker/1/cpu.stat": first])
        #expect(try sample(membership, ["cpu": Self.one]) == ["/cpu/cpu.stat": first])
        for membership in ["", "nonsense\n", "3:cpuset:/x\n"] {
            #expect(try sample(membership, ["x": Self.two, "cpu": Self.one]) == [:], "\(membership)")
        }
    }

    @Test("Of several groups the one that was stopped most counts, by what it was since the first look")
    func most() {
        let before = [
            "a": CPULimit(periods: 10, throttled: 5, time: 50), "b": CPULimit(periods: 3, throttled: 0, time: 0),
        ]
        var now = before
        #expect(CPULimit.most(now, since: before) == nil)
        now["a"] = CPULimit(periods: 20, throttled: 6, time: 60)
        now["b"] = CPULimit(periods: 64, throttled: 61, time: 7)
        now["new"] = CPULimit(periods: 999, throttled: 999, time: 9)
        #expect(CPULimit.most(now, since: before) == CPULimit(periods: 61, throttled: 61, time: 7))
    }
}
