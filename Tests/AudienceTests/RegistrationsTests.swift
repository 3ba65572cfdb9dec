import Glibc
import TestSupport
import Testing

@testable import Audience

@Suite("Registrations files are read, or refused with line and column") struct RegistrationsTests {
    static let csv = """
        token,tags,topic,environment,user,language,template,expires,registered
        aabb01,red;blue,com.example.app,production,ann,en,greeting,100,50
        AABB02,blue,com.example.app,development,bob,pt-BR,"{""aps"":{""alert"":""a,b""}}",,60
        aabb03,,com.example.other,production,,,,2000-01-01T00:00:00Z,
        AaBb01,red;username:eve,,,ann,,greeting,,
        """
    static let ndjson = #"""
        {"token":"aabb01","tags":["red","blue"],"topic":"com.example.app","environment":"production","user":"ann","language":"en","template":"greeting","expires":100,"registered":50}

        { "tags" : [ "blue" ], "token" : "AABB02" , "topic":"com.example.app","environment":"development","user":"bob","language":"pt-BR","template":{"aps":{"alert":"a,b"}},"registered":"1970-01-01T00:01:00Z","expires":null}
        {"token":"aabb03","tags":[],"topic":"com.example.other","environment":"production","expires":"2000-01-01T00:00:00Z"}
        {"token":"AaBb01","tags":["red","username:eve"],"user":"ann","template":"gr\u0065eting"}
        """#

    private func check(_ text: String, now: Int64 = 99) throws {
        let folder = ScratchFolder()
        let path = folder.write("r", text)
        for isNew in [true, false] {
            let all = try Registrations.open(path, now: now)
            #expect(all.isNewlyIndexed == isNew && all.notes.isEmpty)
            #expect(all.count == 4 && all.rows == 4 && all.longestToken == 6)
            #expect(all.alive.all == (now < 100 ? [0, 1, 2, 3] : now < 946_684_800 ? [1, 2, 3] : [1, 3]))
            #expect((0..<4).map(all.token) == ["aabb01", "AABB02", "aabb03", "AaBb01"])
            #expect(all.rows(tagged: "red")?.all == [0, 3])
            #expect(all.rows(tagged: "blue")?.all == [0, 1])
            #expect(all.rows(tagged: "username:ann")?.all == [0, 3])
            #expect(all.rows(tagged: "username:eve")?.all == [3])
            #expect(all.rows(tagged: "username:nobody") == nil && all.rows(tagged: "") == nil)
            #expect(all.tags(0) == ["red", "blue", "username:ann"] && all.tags(2) == [])
            #expect(all.tags(3) == ["red", "username:eve", "username:ann"])
            #expect(all.user(1) == "bob" && all.user(2) == nil)
            #expect(all.topics == ["com.example.app", "com.example.other"])
            #expect(all.rows(topic: "com.example.app")?.all == [0, 1] && all.rows(topic: "com") == nil)
            #expect(all.environments == ["development", "production"])
            #expect(all.rows(environment: "production")?.all == [0, 2])
            #expect(all.rows(language: "pt-BR")?.all == [1])
            #expect(all.templates == ["greeting", #"{"aps":{"alert":"a,b"}}"#])
            #expect((0..<5).map { all.templateNumber($0) } == [0, 1, nil, 0, nil])
            #expect((0..<4).map { all.topicNumber($0) } == [0, 0, 1, nil])
            #expect((0..<4).map { all.registered($0) } == [50, 60, nil, nil])
            #expect(all.rows(token: "AABB01") == [0, 3] && all.rows(token: "aabb") == [] && all.rows(token: "") == [])
            #expect(all.devices(in: RowSet(rows: [0, 1, 2, 3])) == 3 && all.devices(in: RowSet(rows: [3])) == 1)
            #expect(all.tagCounts.map { "\($0.tag) \($0.rows)" } == ["blue 2", "red 2"])
            #expect(all.nearestTag(to: "blu") == "blue" && all.nearestTag(to: "something") == nil)
            var buffer = [UInt8](repeating: 0, count: 400)
            #expect(all.writeToken(1, into: &buffer) == 6 && buffer.starts(with: "AABB02".utf8))
            #expect(all.writeToken(4, into: &buffer) == 0)
            #expect(all.writeTag(0, 1, into: &buffer) == 4 && buffer.starts(with: "blue".utf8))
            #expect(all.writeTag(0, 3, into: &buffer) == 0)
        }
    }

    @Test("A fingerprint is that of the rows and of what the file says, not of where it lies or when it was written")
    func fingerprint() throws {
        let (folder, other) = (ScratchFolder(), ScratchFolder())
        func open(_ folder: ScratchFolder, _ name: String, _ text: String) throws -> Registrations {
            try Registrations.open(folder.write(name, text), now: 0)
        }
        let all = try open(folder, "r", Self.csv)
        let rows = RowSet(rows: [0, 1, 3])
        let known = all.fingerprint(of: rows)
        #expect(known.count == 16 && known.allSatisfy(\.isHexDigit))
        #expect(try Registrations.open(all.path, now: 0).fingerprint(of: RowSet(rows: [3, 0, 1])) == known)
        #expect(try open(other, "copy", Self.csv).fingerprint(of: rows) == known)
        var seen: Set = [known]
        for rows in [[], [0], [1], [0, 1], [1, 3], [0, 1, 2, 3]] as [[UInt32]] {
            #expect(seen.insert(all.fingerprint(of: RowSet(rows: rows))).inserted, "\(rows)")
        }
        // A token, a tag, a topic, an expiry; a row more.
        for (place, (old, new)) in [
            ("aabb03", "aabb04"), ("red;blue", "red;blur"), ("com.example.other", "com.example.othex"),
            ("100,50", "101,50"), ("AaBb01,", "aabb09,,,,,,,,\nAaBb01,"),
        ].enumerated() {
            let changed = Self.csv.replacing(old, with: new)
            #expect(changed != Self.csv)
            #expect(try seen.insert(open(other, "r\(place)", changed).fingerprint(of: rows)).inserted, "\(new)")
        }
        let written = folder.write("r", Self.csv.replacing("ann", with: "eve"))
        #expect(try seen.insert(Registrations.open(written, now: 0).fingerprint(of: rows)).inserted)
    }

    @Test("CSV is read")
    func csvIsRead() throws { try check(Self.csv) }
    @Test("NDJSON is read")
    func ndjsonIsRead() throws { try check(Self.ndjson) }
    @Test("Escapes of JSON are taken, and tags may be missing in NDJSON")
    func escapesOfJSONAreTakenAndTagsMayBeMissingInNDJSON() throws {
        let folder = ScratchFolder()
        let path = folder.write(
            "r",
            """
            {"t\\u006Fken":"aa01","t\\u0061gs":["r\\u0065d","blue"],"user":"ann\\u0040x","topic":"com\\u002ea","language":"e\\u006e"}
            {"token":"aa02","environment":"pr\\u006Fduction","expires":"2000-01-01T00:00:00\\u005a"}
            {"token":"aa03","tags":[]}
            {"token":"aa04","tags":null,"user":"ann@x"}

            """)
        let all = try Registrations.open(path, now: 1_000_000_000)
        #expect(all.tags(0) == ["red", "blue", "username:ann@x"] && (1..<3).map(all.tags) == [[], []])
        #expect(all.rows(tagged: "red")?.all == [0] && all.rows(tagged: "username:ann@x")?.all == [0, 3])
        #expect(all.topics == ["com.a"] && all.languages == ["en"] && all.rows(environment: "production")?.all == [1])
        #expect(all.user(0) == "ann@x" && all.expired.all == [1])
        var buffer = [UInt8](repeating: 0, count: 120)
        #expect(all.writeTag(0, 0, into: &buffer) == 3 && buffer.starts(with: "red".utf8))
        // Tags without a bitmap are held against the row itself.
        let few = Registrations(
            all.file, try IndexStore.index(of: all.file, tagLimit: 0, isNew: true, progress: nil), [], now: 0)
        #expect(few.tagCount == 0 && few.rows(tagged: "red")?.all == [0])
    }

    @Test("A template of its own that is none is found, with its place")
    func aTemplateOfItsOwnThatIsNoneIsFoundWithItsPlace() throws {
        let folder = ScratchFolder()
        let right = folder.write("r", "token,tags,template\naa01,,news\naa02,,\"{\"\"a\"\":\"\"$(b)\"\"}\"\n")
        #expect(try Registrations.open(right, now: 0).templateProblem == nil)
        for (text, place) in [
            ("token,tags,template\naa01,,\"x\ny\"\naa02,b,{a\naa03,,{a\n", ":4:8: template:1:2: "),
            ("{\"token\":\"aa01\"}\n{\"token\":\"aa02\",\"template\":{\"a\":\"$(\"}}\n", ":2:28: template:1:"),
        ] {
            let path = folder.write("r", text)
            let problem = try #require(try Registrations.open(path, now: 0).templateProblem)
            #expect(problem.description.hasPrefix(path + place), "\(problem)")
        }
    }

    @Test("A mark and carriage returns are taken")
    func aMarkAndCarriageReturnsAreTaken() throws {
        for text in [Self.csv, Self.ndjson] {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
            try check("\u{FEFF}" + lines + "\r\n\r\n")
        }
    }
    @Test("What expires at a moment is not alive from then on")
    func whatExpiresAtAMomentIsNotAliveFromThenOn() throws {
        try check(Self.csv, now: 100)
        try check(Self.ndjson, now: 946_684_800)
        try check(Self.csv, now: .max)
    }

    @Test("Quoted fields may hold commas quotes and line ends")
    func quotedFieldsMayHoldCommasQuotesAndLineEnds() throws {
        let folder = ScratchFolder()
        let path = folder.write(
            "r",
            "template,token,\"tags\"\r\n\"a\r\nb,\"\"c\"\"\",\"aa01\",\"x;y\"\r\nplain,aa02,\"\"\r\n\"\",aa03,z\r\n")
        let all = try Registrations.open(path, now: 0)
        #expect(all.templates == ["a\r\nb,\"c\"", "plain"])
        #expect((0..<3).map(all.tags) == [["x", "y"], [], ["z"]])
        #expect((0..<3).map { all.templateNumber($0) } == [0, 1, nil])
        #expect((0..<3).map(all.token) == ["aa01", "aa02", "aa03"])
    }

    @Test("Tags beyond the limit are found through their hashes")
    func tagsBeyondTheLimitAreFoundThroughTheirHashes() throws {
        let folder = ScratchFolder()
        var text = "token,tags\n"
        for row in 0..<2000 { text += "aa\(String(1000 + row, radix: 10)),own-\(row);common;third-\(row % 3)\n" }
        let file = try MappedFile(folder.write("r", text), "file")
        let found = try IndexStore.index(of: file, tagLimit: 10, progress: nil)
        let all = Registrations(file, found, [], now: 0)
        #expect(all.tagCount == 10)
        #expect(all.otherTagUses == 2000 * 2 - 10 + 1334 - 0 || all.otherTagUses > 1990)
        for row in [0, 5, 6, 7, 1999] { #expect(all.rows(tagged: "own-\(row)")?.all == [UInt32(row)]) }
        #expect(all.rows(tagged: "common")?.count == 2000)
        #expect(all.rows(tagged: "third-1")?.count == 667)
        #expect(all.rows(tagged: "own-2000") == nil)
    }

    @Test("Many rows of one token are one device")
    func manyRowsOfOneTokenAreOneDevice() throws {
        let folder = ScratchFolder()
        var text = "token,tags\n"
        for row in 0..<3000 { text += row % 3 == 0 ? "abcdef,x\n" : "\(100_000 + row / 2),\n" }
        let all = try Registrations.open(folder.write("r", text), now: 0)
        var tokens: Set<String> = []
        for row in 0..<UInt32(3000) { tokens.insert(all.token(row)) }
        #expect(all.devices(in: all.alive) == UInt64(tokens.count))
        #expect(all.rows(token: "ABCDEF").count == 1000)
    }

    @Test(
        "What is wrong is said with its place",
        arguments: [
            ("", "r: the file is empty; expected a registrations file"),
            ("token,tags\n", "r: no registration in it; expected one a line"),
            ("token,tags", "r: no registration in it; expected one a line"),
            ("token,tgas\naa,\n", "r:1:7: unknown column \"tgas\"; did you mean \"tags\"?"),
            ("token,tags,token\naa,\n", "r:1:12: column \"token\" is named twice"),
            ("token\naa\n", "r:1: no column \"tags\"; this line names token"),
            ("aabbccdd,x\n", "r:1:1: no header line; expected column names such as token,tags,topic,environment"),
            ("token,tags\naax,\n", "r:2:3: character 'x' in a device token; expected hexadecimal digits"),
            (
                "token,tags\naab,\n",
                "r:2:1: a device token of 3 digits; expected an even number of at most 400 (64 today)"
            ),
            ("token,tags\naa,\n,x\n", "r:3:1: no device token; expected hexadecimal digits"),
            ("token,tags\naa,\n\nbb,\n", "r:3:1: an empty line; expected a registration"),
            ("token,tags\naa\n", "r:2:1: 1 field; the header line names 2: token,tags"),
            ("token,tags\naa,b,c\n", "r:2:6: more than 2 fields; the header line names 2: token,tags"),
            ("token,tags\naa,b c\n", "r:2:5: character 0x20 in a tag; expected letters, digits and _ @ # . : -"),
            ("token,tags\naa,b;\n", "r:2:6: an empty tag; expected 1 to 120 characters"),
            ("token,tags\naa,\"b\n\n", "r:2:4: a quote that is not closed"),
            ("token,tags\naa,\"b\"c\n", "r:2:7: 'c' behind a closing quote; expected a comma or the line's end"),
            (
                "token,tags,template\naa,,a\"b\n",
                "r:2:6: a quote in a field without quotes; put the field in quotes and double those in it"
            ),
            (
                "token,tags,environment\naa,,prod\n",
                "r:2:5: unknown environment \"prod\"; expected one of production, development"
            ),
            (
                "token,tags,environment\naa,,producton\n",
                "r:2:5: unknown environment \"producton\"; did you mean \"production\"?"
            ),
            (
                "token,tags,expires\naa,,soon\n",
                "r:2:5: \"soon\" is no moment; expected seconds since 1970 or 2026-01-31T12:00:00Z"
            ),
            (
                "template,token,tags\n\"a\nb\",zz,\n",
                "r:3:4: character 'z' in a device token; expected hexadecimal digits"
            ),
            ("token,tags,user\naa,,a b\n", "r:2:6: character 0x20 in a user; expected letters, digits and _ @ # . : -"),
            ("token,tags,topic\naa,,a/b\n", "r:2:6: character '/' in a topic; expected letters, digits and . - _"),
            ("{\"token\":\"aa\"}\n[]\n", "r:2:1: expected an object in braces on each line"),
            ("{\"tags\":[\"a\"]}\n", "r:1:1: no \"token\" in this object"),
            ("{\"token\":\"aa\",\"tag\":[]}\n", "r:1:15: unknown key \"tag\"; did you mean \"tags\"?"),
            ("{\"token\":\"aa\",\"token\":\"bb\"}\n", "r:1:15: \"token\" stands twice"),
            ("{\"token\":\"aa\",\"tags\":\"a\"}\n", "r:1:22: \"tags\" is no array; expected an array of strings"),
            ("{\"token\":\"aa\",\"tags\":[\"a\" \"b\"]}\n", "r:1:27: expected a comma or ], found '\"'"),
            ("{\"token\":\"aa\",\"tags\":[\"a\",]}\n", "r:1:27: expected a string in quotes, found ']'"),
            (
                "{\"token\":\"aa\",\"tags\":[\"a]\"]}\n",
                "r:1:25: character ']' in a tag; expected letters, digits and _ @ # . : -"
            ),
            ("{\"token\":\"aa\",\"tags\":[\"\"]}\n", "r:1:24: an empty tag; expected 1 to 120 characters"),
            (
                "{\"token\":\"a\\u0061\"}\n",
                "r:1:10: an escape in a device token; expected hexadecimal digits as they are"
            ),
            (
                "{\"token\":\"aa\",\"user\":\"\\u0020\"}\n",
                "r:1:23: character 0x20 in a user; expected letters, digits and _ @ # . : -"
            ),
            ("{\"token\":\"aa\",\"topic\":\"\\x\"}\n", "r:1:24: an escape in \"topic\" that JSON does not have"),
            (
                "{\"token\":\"aa\",\"tags\":[\"a\",\"b\\\"\"]}\n",
                "r:1:28: character '\"' in a tag; expected letters, digits and _ @ # . : -"
            ),
            ("{\"token\":\"aa\",\"t\\u0061g\":[]}\n", "r:1:15: unknown key \"tag\"; did you mean \"tags\"?"),
            (
                "[{\"token\":\"aa\"}]\n",
                "r: this looks like an array of JSON; expected NDJSON, an object on each line with nothing between, as jq -c '.[]' writes it"
            ),
            (
                "{\n\"token\":\"aa\"}\n",
                "r:1:1: an object that goes on behind its line; expected each on one line, as jq -c . writes them"
            ),
            (
                "token;tags\naa;b\n",
                "r:1:6: semicolons between the columns; expected commas, and between tags semicolons"
            ),
            (
                "\"token\"\t\"tags\"\naa\tb\n",
                "r:1:8: tabs between the columns; expected commas, and between tags semicolons"
            ),
            (
                "t\0o\0k\0e\0n\0",
                "r: this looks like UTF-16; expected UTF-8, as iconv -f UTF-16 -t UTF-8 writes it"
            ),
            ("{\"token\":\"aa\"} x\n", "r:1:16: something behind the object; expected the line's end"),
            ("{\"token\":\"aa\"\n", "r:1:14: expected a comma or }, found the line's end"),
            ("{\"token\":12}\n", "r:1:10: expected a string for \"token\""),
            ("{\"token\":\"aa\",\"template\":\"\\x\"}\n", "r:1:27: an escape in a template that JSON does not have"),
            ("{\"token\":\"aa\",\"template\":{\"a\":[1}\n", "r:1:26: a brace that is not closed"),
            (
                "{\"token\":\"aa\",\"expires\":1767225600000}\n",
                "r:1:25: the moment 1767225600000 is after 2106; expected seconds since 1970, these look like milliseconds"
            ),
        ])
    func whatIsWrongIsSaidWithItsPlace(text: String, expected: String) {
        #expect(problem(text) == expected)
    }

    @Test("Bounds are kept")
    func boundsAreKept() {
        let longest = String(repeating: "a", count: 120)
        #expect(problem("token,tags\naa,\(longest)\n") == nil)
        #expect(problem("token,tags\naa,\(longest)a\n") == "r:2:4: a tag of 121 characters; at most 120")
        let many = [String](repeating: "a", count: 1000).joined(separator: ";")
        #expect(problem("token,tags\naa,\(many)\n") == nil)
        #expect(problem("token,tags\naa,\(many);a\n") == "r:2:2004: more than 1000 tags")
        #expect(problem("token,tags\n\(String(repeating: "a", count: 400)),\n") == nil)
        #expect(
            problem("token,tags\n\(String(repeating: "a", count: 402)),\n")
                == "r:2:1: a device token of 402 digits; expected an even number of at most 400 (64 today)")
        #expect(problem("token,tags,user\naa,,\(longest.dropLast(9))\n") == nil)
        #expect(problem("token,tags,user\naa,,\(longest)\n") == "r:2:5: a user of 120 characters; at most 111")
        let template = String(repeating: "t", count: 16_384)
        #expect(problem("token,tags,template\naa,,\(template)\n") == nil)
        #expect(problem("token,tags,template\naa,,\(template)t\n") == "r:2:5: a template of 16385 bytes; at most 16384")
        #expect(
            problem(Array("token,tags,template\naa,,".utf8) + [0xC3, 0x28, 0x0A])
                == "r:2:5: a template that is not text in UTF-8")
    }

    @Test("A file that is none is said")
    func aFileThatIsNoneIsSaid() {
        #expect(throws: AudienceError("cannot read the registrations file /nowhere/r: No such file or directory")) {
            try Registrations.open("/nowhere/r", now: 0)
        }
        #expect(throws: AudienceError("/tmp: not a regular file; expected a registrations file")) {
            try Registrations.open("/tmp", now: 0)
        }
    }

    @Test("Any bytes are read or refused but trap nothing")
    func anyBytesAreReadOrRefusedButTrapNothing() {
        for seed in 0..<UInt64(300) {
            var numbers = SeededRandom(seed)
            var bytes = Array((seed % 2 == 0 ? Self.csv : Self.ndjson).utf8)
            for _ in 0..<Int.random(in: 1...6, using: &numbers) {
                let place = Int.random(in: 0..<bytes.count, using: &numbers)
                switch Int.random(in: 0..<4, using: &numbers) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
                case 1:
                    bytes.insert(
                        [0x22, 0x2C, 0x0A, 0x5C, 0x7B, 0x5D, 0x3B, 0x0D].randomElement(using: &numbers)!, at: place)
                case 2: bytes.remove(at: place)
                default: bytes.removeLast(min(bytes.count - 1, Int.random(in: 0..<40, using: &numbers)))
                }
            }
            let text = problem(bytes)
            #expect(text?.contains("\n") != true, "seed \(seed): \(text ?? "")")
        }
    }
}
