import Foundation
import Measurement
import Results
import Scenarios
import Settings
import Testing

@testable import Harness

@Suite struct FanOutTimesTests {
    @Test("An answer's time from its send's start is kept whole, from a microsecond to a month, and added up exactly")
    func times() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).csv").path
        defer { for file in [path, path + ".index"] { try? FileManager.default.removeItem(atPath: file) } }
        try "token,tags\naabb01,x\naabb02,x\naabb03,\n".write(toFile: path, atomically: true, encoding: .utf8)
        var scenario = Scenario()
        scenario.registrations = path
        scenario.sends = try ["{name: a, audience: x}", "{name: b, audience: '*', start: 1h}"].map {
            text throws(SettingsError) in try SendSetting(parsing: text)
        }
        let sends = try #require(try RunInputs(scenario).sends)
        let (one, other) = (FanOutTimes(sends), FanOutTimes(sends))
        let (hour, day): (UInt64, UInt64) = (3_600_000_000_000, 86_400_000_000_000)
        one.accepted(0, at: 300)
        other.accepted(1, at: 2 * hour)
        one.accepted(2, at: hour)
        other.accepted(3, at: hour + 30 * day)
        // A clock reading that crosses the start of its send's.
        one.accepted(4, at: hour - 5)
        var all = one.all
        for (place, times) in other.all.enumerated() { all[place].add(times) }
        func near(_ value: Double?, _ seconds: Double) -> Bool { value.map { abs($0 / seconds - 1) < 0.001 } ?? false }
        let (a, b) = (ResultDocument.FanOut(all[0], of: 2), ResultDocument.FanOut(all[1], of: 3))
        #expect(near(a.first, 1e-6) && near(a.max, 7200), "\(a)")
        #expect(near(b.first, 1e-6) && near(b.p50, 1e-6) && near(b.max, 2_592_000), "\(b)")
        #expect(all.map(\.count) == [2, 3] && all.allSatisfy { $0.clamped == 0 })
        // Beyond 1,000 hours a time is counted as that, and told.
        one.accepted(0, at: 42 * day)
        #expect(one.all[0].clamped == 1)
    }
}
