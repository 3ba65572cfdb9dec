import Results
import Scenarios
import Settings
import Testing

@testable import Harness

@Suite struct SettingWordsTests {
    @Test("Every setting of a result is known by the key that people give it with")
    func keys() {
        let names = Mirror(reflecting: Scenario()).children.compactMap(\.label).map(SettingWords.documentName)
        for name in names { #expect(ScenarioKey.named(SettingWords.key(name)) != nil, "\(name)") }
        #expect(SettingWords.key("push_timeout") == "timeout" && SettingWords.key("streams") == "streams")
    }

    @Test("Every time and every size that a scenario may have is written with its unit, and reads back as it was")
    func all() throws {
        var found = 0
        for key in ScenarioKey.all {
            let isTime: Bool
            switch key.kind {
            case .duration: isTime = true
            case .bytes: isTime = false
            default: continue
            }
            for text in isTime ? ["1s", "1500ms", "3us", "77ns", "90m"] : ["1B", "1000B", "64KiB", "3MiB"] {
                var scenario = Scenario()
                // What is out of a key's range is refused, and never in a result.
                do throws(SettingsError) { try key.apply([text], to: &scenario) } catch { continue }
                let before = ScenarioSettings.write(Scenario())
                for (name, value) in ScenarioSettings.write(scenario) where value != before[name] {
                    guard case .integer(let number) = value else { continue }
                    let words = try #require(SettingWords.text(name, number), "\(name) is a bare number in reports")
                    #expect(words.last?.isLetter == true)
                    if isTime {
                        #expect(try Units.duration(words) == UInt64(number), "\(name): \(words)")
                    } else {
                        #expect(try Units.bytes(words) == Int(number), "\(name): \(words)")
                    }
                    found += 1
                }
            }
        }
        #expect(found > 30)
        #expect(SettingWords.text("warmup", 1_000_000_000) == "1s" && SettingWords.text("push_timeout", 0) == "0s")
        #expect(SettingWords.text("streams", 1000) == nil && SettingWords.text("send_batch", 65_535) == "65535B")
    }
}
