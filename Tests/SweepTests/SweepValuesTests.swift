import Foundation
import Scenarios
import Settings
import TestSupport
import Testing

@testable import Sweep

@Suite struct SweepValuesTests {
    private func labels(_ text: String) throws -> [String] { try SweepAxis(parsing: text).values.map(\.label) }

    private func refusal(_ text: String) -> String {
        do throws(SettingsError) {
            return "taken: \(try SweepAxis(parsing: text))"
        } catch { return error.description }
    }

    @Test("Lists, ranges and lists of ranges are read, with the setting's own units")
    func reading() throws {
        #expect(try labels("streams=100,500,1000") == ["100", "500", "1000"])
        #expect(try labels("connections=1..16x2") == ["1", "2", "4", "8", "16"])
        #expect(try labels("connections=1..10x2") == ["1", "2", "4", "8"])
        #expect(try labels("--streams=10..50+20,7") == ["10", "30", "50", "7"])
        #expect(try labels("rtt=0ms,20ms,80ms") == ["0ms", "20ms", "80ms"])
        #expect(try labels("rtt=0ms..60ms+20ms") == ["0ms", "20ms", "40ms", "60ms"])
        #expect(try labels("timeout=500ms..2sx2") == ["500ms", "1s", "2s"])
        #expect(try labels("send-batch=16KiB..64KiBx2") == ["16KiB", "32KiB", "64KiB"])
        #expect(try labels("rate=1k..2k+500") == ["1000", "1500", "2000"])
        #expect(try labels("rate=1..2+0.5") == ["1", "1.5", "2"])
        #expect(try labels("engine=nghttp2,wire") == ["nghttp2", "wire"])
        #expect(try labels("push_type=alert, voip") == ["alert", "voip"])
        #expect(try labels("profile=alert:80,silent:20;silent") == ["alert:80,silent:20", "silent"])
        // Rounded to the same.
        #expect(try labels("streams=1..3x1.2") == ["1", "2", "3"])
    }

    @Test("Numbers of an axis are counts, bytes and nanoseconds; texts have none")
    func numbers() throws {
        #expect(try SweepAxis(parsing: "streams=1k,20").numbers == [1000, 20])
        let times = try SweepAxis(parsing: "rtt=0ms,20ms")
        #expect(times.numbers == [0, 20_000_000] && times.isTime)
        let sizes = try SweepAxis(parsing: "send_batch=1KiB")
        #expect(sizes.numbers == [1024] && !sizes.isTime)
        #expect(try SweepAxis(parsing: "engine=wire").numbers == nil)
        #expect(try SweepAxis(parsing: "engine=wire").isTime == false)
    }

    @Test("A setting that is varied twice is refused, by whichever of its names")
    func twice() throws {
        #expect(
            try SweepAxis.list(parsing: ["streams=1,10", "connections=1,2"]).map(\.name) == ["streams", "connections"])
        let problem = SettingsError("--vary push_type: given twice; give all its values at once, separated by commas")
        #expect(throws: problem) { try SweepAxis.list(parsing: ["push-type=alert", "push_type=background"]) }
    }

    @Test("What is wrong is said in one line, with the nearest known name")
    func refusals() {
        let cases = [
            ("streams", "--vary streams: expected KEY=VALUES, such as streams=100,500,1000"),
            ("rtt=20..80ms+20ms", "--vary rtt: \"20..80ms+20ms\": \"20\" has no unit; write 20us, 20ms, 20s or 20m"),
            ("stream=1", "--vary stream: unknown key \"stream\"; did you mean \"streams\"?"),
            ("xyzzyxyzzy=1", "--vary xyzzyxyzzy: unknown key \"xyzzyxyzzy\"; pushload scenario init lists all keys"),
            ("name=a", "--vary name: \"name\" cannot be varied"),
            (
                "streams=many",
                "--vary streams: \"many\" is not a count; expected a whole number such as 5000, 10k or 1.5M"
            ),
            ("streams=1,,2", "--vary streams: \"1,,2\" has an empty value"),
            ("streams=", "--vary streams: \"\" has an empty value"),
            ("streams=1k,1000", "--vary streams: \"1000\" is given twice, as \"1k\""),
            ("engine=wire,wire", "--vary engine: \"wire\" is given twice"),
            ("engine=wyre", "--vary engine: \"wyre\"; did you mean \"wire\"?"),
            ("streams=1..16", "--vary streams: \"1..16\" is not a range; expected \(SweepValues.forms)"),
            ("streams=1..16y2", "--vary streams: \"1..16y2\" is not a range; expected \(SweepValues.forms)"),
            ("streams=1..ax2", "--vary streams: \"1..ax2\" is not a range; expected \(SweepValues.forms)"),
            ("streams=16..1x2", "--vary streams: \"16..1x2\": a range goes upwards"),
            ("streams=0..8x2", "--vary streams: \"0..8x2\": a range with a factor begins above 0"),
            ("streams=1..8x1", "--vary streams: \"1..8x1\": expected a factor above 1"),
            ("streams=1..8+0", "--vary streams: \"1..8+0\": expected a step above 0"),
            ("streams=1..9000+1", "--vary streams: \"1..9000+1\": more than 1000 values"),
            ("streams=1..9x1.0000001", "--vary streams: \"1..9x1.0000001\": more than 1000 values"),
        ]
        for (text, expected) in cases { #expect(refusal(text) == expected, "\(text)") }
    }

    @Test("Arithmetic ranges have the values of counting, geometric ones of multiplying, whatever the numbers")
    func ranges() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededRandom(seed)
        for _ in 0..<300 {
            let start = Int.random(in: 1...5000, using: &random)
            let step = Int.random(in: 1...400, using: &random)
            let end = start + Int.random(in: 0...(step * 200), using: &random)
            let counted = stride(from: start, through: end, by: step).map(String.init)
            #expect(try labels("streams=\(start)..\(end)+\(step)") == counted, "seed \(seed): \(start)..\(end)+\(step)")
            let factor = Int.random(in: 2...9, using: &random)
            var (multiplied, value) = ([String](), start)
            while value <= end {
                multiplied.append("\(value)ms")
                value *= factor
            }
            let times = try SweepAxis(parsing: "rtt=\(start)ms..\(end)msx\(factor)")
            #expect(times.numbers?.count == multiplied.count, "seed \(seed): \(start)..\(end)x\(factor)")
            // Texts are the shortest (2000ms is 2s), so that their meaning is compared.
            let meant = multiplied.compactMap { try? Units.duration($0) }.map { Double($0) }
            #expect(times.numbers == meant, "seed \(seed): \(start)..\(end)x\(factor)")
        }
    }

    @Test("Any text is taken or refused in one line, and what is taken has values the setting understands")
    func anything() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededRandom(seed)
        let keys = ["streams", "rtt", "rate", "send_batch", "engine", "priority", "nodelay", "profile", "sterams"]
        let pieces = [
            "1", "0", "16", "..", "x", "+", "2", ",", ";", "ms", "s", "k", "KiB", ".", "wire", "true", "-", " ",
        ]
        for _ in 0..<3000 {
            let count = Int.random(in: 0...8, using: &random)
            let values = (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
            let text = "\(keys[Int.random(in: 0..<keys.count, using: &random)])=\(values)"
            do throws(SettingsError) {
                let axis = try SweepAxis(parsing: text)
                #expect((1...SweepAxis.most).contains(axis.values.count), "seed \(seed): \(text)")
                for value in axis.values {
                    var scenario = Scenario()
                    do throws(SettingsError) { try value.apply(to: &scenario) } catch {
                        Issue.record("seed \(seed): \(text): \(error)")
                    }
                }
            } catch {
                #expect(!error.description.contains("\n"), "seed \(seed): \(text)")
            }
        }
    }
}
