import Foundation
import Payloads
import TestSupport
import Testing

@testable import Audience

/// Makes templates and bags, whole ones and broken ones.
private struct TemplateMaker {
    var random: SeededRandom
    private static let names = ["a", "B", "news.title", "x_1", "n", "missing"]
    private static let letters = [
        "a", "Z", "0", " ", "$", "(", ")", ".", "%", "#", "{", "{", "}", "'", "\"", "\\", "/", "+", ",", "é", "€", "😀",
        "\n", "\u{1}",
        "e\u{301}", "\u{2028}", "$(a)", "{{run_id}}", "\r\n",
    ]

    mutating func text() -> String { (0..<random.below(12)).map { _ in random.one(of: Self.letters) }.joined() }

    mutating func bag() -> [String: String] {
        var bag: [String: String] = [:]
        for name in ["A", "b", "News.Title", "x_1"] { bag[name] = text() }
        bag["N"] = random.one(of: ["0", "40", "1.5", "2e3", "7E-2", "-1", "x", ""])
        return bag
    }

    private mutating func reference() -> String {
        let name = random.below(60) == 0 ? "missing" : random.one(of: Self.names.dropLast())
        let count = random.one(of: [1, 2, 3, 4, 5, 7, 20])
        return switch random.below(6) {
        case 0: "$(\(name))"
        case 1: "$( \(name), \(count))"
        case 2: ".(\(name),\(max(3, count)))"
        case 3: "%(\(name) )"
        case 4: "#(n)"
        default: "$(\(name.uppercased()))"
        }
    }

    private mutating func literal() -> String {
        let quote = random.one(of: ["'", "\""])
        return quote + text().replacingOccurrences(of: quote, with: "") + quote
    }

    private mutating func string() -> String {
        switch random.below(8) {
        case 0, 1: return reference()
        case 2, 3, 4:
            let terms = (0...random.below(3)).map { _ in random.below(2) == 0 ? reference() : literal() }
            return "{" + terms.joined(separator: random.one(of: ["+", " + "])) + "}"
        case 5: return text()
        default: return random.one(of: ["plain", "", "a $ b", "50 %", "ü {x}"])
        }
    }

    private mutating func encoded(_ text: String) -> String {
        // JSONEncoder refuses nothing of a Swift text.
        let data = (try? JSONEncoder().encode([text])) ?? Data("[\"\"]".utf8)
        return String(String(decoding: data, as: UTF8.self).dropFirst().dropLast())
    }

    private mutating func value(_ depth: Int) -> String {
        switch random.below(depth > 3 ? 6 : 9) {
        case 0: return random.one(of: ["0", "-1.5e3", "true", "null", "12"])
        case 1...5: return encoded(string())
        case 6: return "[" + (0..<random.below(4)).map { _ in value(depth + 1) }.joined(separator: " , ") + "]"
        default: return object(depth + 1)
        }
    }

    private mutating func object(_ depth: Int) -> String {
        let entries = (0..<random.below(4)).map { number in "\(encoded("\(text())\(number)")) : \(value(depth))" }
        return "{" + entries.joined(separator: ", ") + " }"
    }

    mutating func template() -> String { "{ \"aps\":\(value(1)), \"more\" : \(object(1))}" }

    /// A template with some bytes changed, gone or doubled.
    mutating func broken() -> String {
        var scalars = Array(template().unicodeScalars)
        for _ in 0...random.below(3) where !scalars.isEmpty {
            let place = random.below(scalars.count)
            switch random.below(3) {
            case 0: scalars.remove(at: place)
            case 1: scalars.insert(scalars[place], at: place)
            default: scalars[place] = random.one(of: Array("{}[]\"'\\$.%#(),+:0 u\u{0}é".unicodeScalars))
            }
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }
}

/// Templates of all shapes, from a seed.
@Suite("Random templates") struct RandomTemplateTests {
    private static let seed = UInt64.random(in: 0...UInt64.max)

    @Test("Whatever is rendered is JSON that Payloads takes")
    func whateverIs() throws {
        var maker = TemplateMaker(random: SeededRandom(Self.seed))
        var rendered = 0
        for number in 0..<3000 {
            let body = number % 3 == 0 ? maker.broken() : maker.template()
            let properties = maker.bag()
            let bag = try PropertyBag(flags: properties.map { "\($0)=\($1)" })
            let place = Comment("seed \(Self.seed), template \(number): \(body)")
            do throws(AudienceError) {
                let template = try HubTemplate(parsing: body, name: "t")
                let json = try template.payload(bag)
                rendered += 1
                #expect((try? JSONSerialization.jsonObject(with: Data(json.utf8))) != nil, place)
                #expect(!json.contains("{{"), place)
                let profile = try template.profile(bag)
                #expect(
                    profile.template.maximumSize == json.utf8.count + PayloadTemplate.traceOverhead, place)
            } catch {
                #expect(error.description.hasPrefix("t:"), place)
                #expect(!error.description.contains("\n"), place)
            }
        }
        #expect(rendered > 500, "seed \(Self.seed)")
    }

    @Test("A rendering apart, in Python, has the same outcome")
    func aRendering() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Python/render_template.py").path
        var maker = TemplateMaker(random: SeededRandom(Self.seed &+ 1))
        var cases: [(body: String, properties: [String: String])] = []
        var input = Data()
        for number in 0..<2000 {
            let body = number % 4 == 0 ? maker.broken() : maker.template()
            let properties = maker.bag()
            cases.append((body, properties))
            input += try JSONSerialization.data(withJSONObject: ["template": body, "bag": properties])
            input.append(0x0A)
        }
        let file = NSTemporaryDirectory() + "templates-\(UUID().uuidString).ndjson"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try input.write(to: URL(fileURLWithPath: file))
        let python = Process()
        python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        python.arguments = ["python3", script, "--lines"]
        python.standardInput = FileHandle(forReadingAtPath: file)
        let pipe = Pipe()
        python.standardOutput = pipe
        try python.run()
        let lines = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: true)
        python.waitUntilExit()
        try #require(lines.count == cases.count, "seed \(Self.seed)")
        var (same, refused) = (0, 0)
        for (number, line) in lines.enumerated() {
            let (body, properties) = cases[number]
            let bag = try PropertyBag(flags: properties.map { "\($0)=\($1)" })
            let place = Comment("seed \(Self.seed), template \(number): \(body)\n\(properties)\nPython: \(line)")
            let other = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary
            do throws(AudienceError) {
                let json = try HubTemplate(parsing: body, name: "t").payload(bag)
                let ours = try? JSONSerialization.jsonObject(with: Data("{\"payload\":\(json)}".utf8)) as? NSDictionary
                #expect(ours == other, place)
                same += 1
            } catch {
                // Deeper rules of ours: Python's knows neither Apple's key nor Apple's size.
                if error.description.contains("\"aps\" is missing") { continue }
                #expect(other?["error"] != nil, "\(place)\nhere: \(error)")
                refused += 1
            }
        }
        #expect(same > 300 && refused > 100, "seed \(Self.seed): \(same) rendered, \(refused) refused")
    }
}
