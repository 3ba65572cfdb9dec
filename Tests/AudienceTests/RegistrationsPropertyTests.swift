import TestSupport
import Testing

@testable import Audience

/// Random registrations, written both ways and read by the index, against what they are.
@Suite("Random registrations against their index") struct RegistrationsPropertyTests {
    struct Row {
        var token = ""
        var tags: [String] = []
        var topic: String?
        var environment: String?
        var user: String?
        var language: String?
        var template: String?
        var expires: UInt32?
        var registered: UInt32?

        init(_ numbers: inout SeededRandom) {
            func maybe<T>(_ value: T) -> T? { Bool.random(using: &numbers) ? value : nil }
            token = String(
                Int.random(in: 0x1000...0x10FF, using: &numbers), radix: 16, uppercase: .random(using: &numbers))
            tags = (0..<Int.random(in: 0...6, using: &numbers)).map { _ in
                "tag-\(Int.random(in: 0..<20, using: &numbers))"
            }
            if Int.random(in: 0..<9, using: &numbers) == 0 {
                tags.append("username:u\(Int.random(in: 0..<30, using: &numbers))")
            }
            topic = maybe("com.app\(Int.random(in: 0..<3, using: &numbers))")
            environment = maybe(Bool.random(using: &numbers) ? "production" : "development")
            user = maybe("u\(Int.random(in: 0..<30, using: &numbers))")
            language = maybe(["en", "de", "pt-BR"].randomElement(using: &numbers)!)
            template = maybe(
                ["a", "{\"x\":\"y, z\"}", "two\nlines", "quote\"s", "ünï"].randomElement(using: &numbers)!)
            expires = maybe(UInt32.random(in: 0..<1000, using: &numbers))
            registered = maybe(UInt32.random(in: 1..<1000, using: &numbers))
        }

        func csv(_ numbers: inout SeededRandom) -> String {
            [
                token, tags.joined(separator: ";"), topic ?? "", environment ?? "", user ?? "", language ?? "",
                template ?? "", expires.map { "\($0)" } ?? "", registered.map { "\($0)" } ?? "",
            ].map { field in
                let isNeeded = field.contains { "\",\n".contains($0) }
                guard isNeeded || Int.random(in: 0..<4, using: &numbers) == 0 else { return field }
                return "\"" + field.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
                    + "\""
            }.joined(separator: ",")
        }

        func json(_ numbers: inout SeededRandom) -> String {
            func quoted(_ text: String) -> String {
                var result = "\""
                for scalar in text.unicodeScalars {
                    switch scalar {
                    case "\"": result += "\\u0022"
                    case "\n": result += "\\u000a"
                    default: result.unicodeScalars.append(scalar)
                    }
                }
                return result + "\""
            }
            var members = ["\"token\":\(quoted(token))", "\"tags\": [\(tags.map(quoted).joined(separator: " ,"))]"]
            for (key, value) in [
                ("topic", topic), ("environment", environment), ("user", user), ("language", language),
                ("template", template),
            ] {
                if let value { members.append("\"\(key)\":\(quoted(value))") }
            }
            if let expires { members.append("\"expires\":\(expires)") }
            if let registered { members.append("\"registered\" : \(registered)") }
            return "{" + members.shuffled(using: &numbers).joined(separator: ", ") + "}"
        }

        var allTags: Set<String> { Set(tags).union(user.map { ["username:\($0)"] } ?? []) }
    }

    @Test("The index says what the rows say", arguments: 0..<UInt64(30))
    func theIndexSaysWhatTheRowsSay(seed: UInt64) throws {
        var numbers = SeededRandom(seed)
        let rows = (0..<Int.random(in: 1...400, using: &numbers)).map { _ in Row(&numbers) }
        let folder = ScratchFolder()
        let header = "token,tags,topic,environment,user,language,template,expires,registered\n"
        let end = Bool.random(using: &numbers) ? "\n" : "\r\n"
        let csv = folder.write("c", header + rows.map { $0.csv(&numbers) + end }.joined())
        let json = folder.write("j", rows.map { $0.json(&numbers) + end }.joined())
        let now = Int64.random(in: 0..<1000, using: &numbers)
        for path in [csv, json] {
            let file = try MappedFile(path, "file")
            let limit = seed % 2 == 0 ? 7 : IndexLayout.mostTags
            let all = Registrations(file, try IndexStore.index(of: file, tagLimit: limit, progress: nil), [], now: now)
            func numbers(_ isIn: (Row) -> Bool) -> [UInt32] { rows.indices.filter { isIn(rows[$0]) }.map(UInt32.init) }
            let note: Comment = "seed \(seed), \(path)"
            #expect(all.count == UInt64(rows.count), note)
            for tag in (0..<21).map({ "tag-\($0)" }) + (0..<31).map({ "username:u\($0)" }) {
                #expect(
                    (all.rows(tagged: tag)?.all ?? []) == numbers { $0.allTags.contains(tag) }, "\(tag), seed \(seed)")
            }
            for topic in all.topics { #expect(all.rows(topic: topic)?.all == numbers { $0.topic == topic }, note) }
            for name in all.environments {
                #expect(all.rows(environment: name)?.all == numbers { $0.environment == name }, note)
            }
            for name in all.languages {
                #expect(all.rows(language: name)?.all == numbers { $0.language == name }, note)
            }
            #expect(Set(all.templates) == Set(rows.compactMap { $0.template }), note)
            #expect(all.alive.all == numbers { $0.expires.map { Int64($0) > now } ?? true }, note)
            for (number, row) in rows.enumerated() {
                let number = UInt32(number)
                #expect(all.token(number) == row.token, note)
                #expect(Set(all.tags(number)) == row.allTags, note)
                #expect(all.templateNumber(number).map { all.templates[$0] } == row.template, note)
                #expect(all.topicNumber(number).map { all.topics[$0] } == row.topic, note)
                #expect(all.registered(number) == row.registered, note)
                #expect(all.rows(token: row.token) == numbers { $0.token.lowercased() == row.token.lowercased() }, note)
            }
            let some = RowSet(rows: numbers { $0.tags.count > 2 })
            let devices = Set(rows.filter { $0.tags.count > 2 }.map { $0.token.lowercased() })
            #expect(all.devices(in: some) == UInt64(devices.count), note)
        }
    }
}
