import Foundation
import TestSupport
import Testing

@testable import Payloads

@Suite struct DeviceTests {
    private func index(_ devices: SyntheticDevices, _ token: String) -> UInt64? {
        Array(token.utf8).withUnsafeBytes { devices.index(ofToken: $0) }
    }

    @Test("A synthetic token leads back to its device, and to none for another seed or a smaller population")
    func roundTrip() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed)
        for _ in 0..<2000 {
            let devices = SyntheticDevices(
                seed: random.next(), count: UInt64.random(in: 1...100_000_000, using: &random))
            let device = UInt64.random(in: 0..<devices.count, using: &random)
            let token = devices.token(device)
            #expect(token.count == 64 && token.allSatisfy(\.isHexDigit), "seed \(seed)")
            #expect(index(devices, token) == device, "seed \(seed)")
            #expect(index(devices, token.uppercased()) == device, "seed \(seed)")
            #expect(index(SyntheticDevices(seed: devices.seed &+ 1, count: .max), token) == nil, "seed \(seed)")
            #expect(index(SyntheticDevices(seed: devices.seed, count: device), token) == nil, "seed \(seed)")
        }
    }

    @Test("A token with one digit changed is not registered")
    func forgery() {
        let devices = SyntheticDevices(seed: 9, count: .max)
        let token = Array(devices.token(123).utf8)
        for place in token.indices {
            var changed = token
            changed[place] = changed[place] == 0x30 ? 0x31 : 0x30
            #expect(changed.withUnsafeBytes { devices.index(ofToken: $0) } == nil)
        }
        #expect(index(devices, String(repeating: "g", count: 64)) == nil)
        #expect(index(devices, "abcd") == nil)
    }

    @Test("Synthetic tags keep Azure's rules")
    func tags() {
        let devices = SyntheticDevices(seed: 3, count: 1000)
        for device in [UInt64(0), 1, 999] {
            let tags = devices.tags(device)
            #expect(tags.count == 4 && tags[0] == "username:user\(device)")
            #expect(tags.allSatisfy { $0.utf8.count <= 120 && $0.utf8.allSatisfy(DeviceFile.isTagByte) })
        }
    }

    private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("devices-\(UUID()).txt").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test("Tokens and tags come from a file, one a line or as CSV, with LF or CRLF, with or without a last newline")
    func files() throws {
        let first = String(repeating: "ab", count: 32)
        let second = String(repeating: "0F", count: 32)
        for text in [
            "\(first)\n\(second)\n", "\(first)\n\(second)", "\(first)\r\n\(second)\r\n", "token\n\(first)\n\(second)\n",
        ] {
            try withFile(text) { path in
                let population = DevicePopulation.listed(try DeviceFile(path: path))
                #expect(population.count == 2)
                #expect(population.token(0) == first && population.token(1) == second)
            }
        }
        try withFile("token,tags\n\(first),a:1;b_2\n\(second),\n") { path in
            let population = DevicePopulation.listed(try DeviceFile(path: path))
            var buffer = [UInt8](repeating: 0, count: 120)
            #expect(population.count == 2)
            #expect(population.writeTag(0, 0, into: &buffer) == 3 && buffer[..<3].elementsEqual("a:1".utf8))
            #expect(population.writeTag(0, 1, into: &buffer) == 3 && buffer[..<3].elementsEqual("b_2".utf8))
            #expect(population.writeTag(0, 2, into: &buffer) == 0)
            #expect(population.writeTag(1, 1, into: &buffer) == 0)
        }
    }

    @Test("A header line may name the mock's columns too, in any order; empty lines at the end are none")
    func columns() throws {
        let (first, second) = (String(repeating: "ab", count: 32), String(repeating: "0F", count: 32))
        let text = "state,tags,since,token,topic\nexpired,a;b,1,\(first),com.example\n,,,\(second)\n\r\n\n"
        try withFile(text) { path in
            let population = DevicePopulation.listed(try DeviceFile(path: path))
            #expect(population.count == 2 && population.token(0) == first && population.token(1) == second)
            var buffer = [UInt8](repeating: 0, count: 120)
            #expect(population.writeTag(0, 1, into: &buffer) == 1 && buffer[0] == 0x62)
            #expect(population.writeTag(0, 2, into: &buffer) == 0 && population.writeTag(1, 0, into: &buffer) == 0)
        }
        // As spreadsheets write it.
        for text in ["\u{FEFF}token,tags\r\n\(first),a\r\n", "\u{FEFF}\(first)\r\n"] {
            try withFile(text) { path in
                let population = DevicePopulation.listed(try DeviceFile(path: path))
                #expect(population.count == 1 && population.token(0) == first)
            }
        }
        // A tag may be called what a column is called.
        try withFile("\(first),state\n\(second),token;tags") { path in
            let population = DevicePopulation.listed(try DeviceFile(path: path))
            var buffer = [UInt8](repeating: 0, count: 120)
            #expect(
                population.count == 2 && population.token(0) == first && population.writeTag(1, 1, into: &buffer) == 4)
        }
        try withFile("token,state\n\(first),expired\n\(second)") { path in
            let population = DevicePopulation.listed(try DeviceFile(path: path))
            var buffer = [UInt8](repeating: 0, count: 120)
            #expect(population.count == 2 && population.token(1) == second)
            #expect(population.writeTag(0, 0, into: &buffer) == 0)
        }
    }

    @Test("Every line of a long file is found")
    func longFile() throws {
        let devices = SyntheticDevices(seed: 5, count: .max)
        let lines = (0..<1000).map { devices.token($0) + ($0 % 3 == 0 ? ",tag\($0)" : "") }
        try withFile(lines.joined(separator: "\n")) { path in
            let population = DevicePopulation.listed(try DeviceFile(path: path))
            #expect(population.count == 1000)
            for device in 0..<1000 { #expect(population.token(UInt64(device)) == devices.token(UInt64(device))) }
        }
    }

    @Test("Tokens and tags are those of the line, whatever its length and the order of columns", arguments: 0..<40)
    func drawnFile(_ seed: UInt64) throws {
        var draws: UInt64 = 0
        func draw(_ bound: UInt64) -> Int {
            draws += 1
            return Int(Mix.bounded(Mix.number(seed, draws, 0xF11E), bound))
        }
        // A quarter of the files has tokens of several lengths, a quarter lines of which sixteen are longer than 65,535 bytes.
        let (isUneven, isFar, hasHeader, isCRLF) = (seed % 4 == 1, seed % 4 == 2, seed % 3 == 0, seed % 5 == 0)
        let devices = SyntheticDevices(seed: seed, count: .max)
        var expected: [(token: String, tags: [String])] = []
        var lines: [String] = []
        for device in 0..<UInt64(20 + draw(40)) {
            let token = String(devices.token(device).prefix(isUneven ? 2 * (1 + draw(32)) : 64))
            let tags = (0..<(isFar ? 110 + draw(40) : draw(4))).map {
                "t\($0):" + String(repeating: "x", count: draw(110))
            }
            expected.append((token, tags))
            let joined = tags.joined(separator: ";")
            lines.append(
                hasHeader ? "\(joined),,\(token)" : tags.isEmpty && draw(2) == 0 ? token : "\(token),\(joined)")
        }
        if isFar { #expect(lines.prefix(15).reduce(0) { $0 + $1.utf8.count } > 65_535) }
        let text = (hasHeader ? ["tags,state,token"] : []) + lines
        try withFile(text.joined(separator: isCRLF ? "\r\n" : "\n") + (draw(2) == 0 ? "\n" : "")) { path in
            let file = try DeviceFile(path: path)
            #expect(file.count == UInt64(expected.count))
            let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 200)
            defer { memory.deallocate() }
            func text(_ length: Int) -> String {
                String(decoding: UnsafeBufferPointer(start: memory, count: length), as: UTF8.self)
            }
            for (device, line) in expected.enumerated() {
                #expect(text(file.writeToken(UInt64(device), into: memory)) == line.token, "seed \(seed)")
                for number in 0..<(line.tags.count + 2) {
                    let tag = number < line.tags.count ? line.tags[number] : ""
                    #expect(text(file.writeTag(UInt64(device), number, into: memory)) == tag, "seed \(seed)")
                }
            }
            let beyond = UInt64(expected.count)
            #expect(file.writeToken(beyond, into: memory) == 0 && file.writeTag(beyond, 0, into: memory) == 0)
            #expect(file.writeToken(.max, into: memory) == 0)
        }
    }

    @Test("Of a file that is written to meanwhile only what is a token still is one")
    func rewritten() throws {
        let token = String(repeating: "ab", count: 32)
        for (first, second) in [(token, token), (token, "abcd")] {
            try withFile("\(first),t\n\(second),t\n") { path in
                let file = try DeviceFile(path: path)
                let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 200)
                defer { memory.deallocate() }
                #expect(file.writeToken(0, into: memory) == first.utf8.count)
                let handle = try #require(FileHandle(forWritingAtPath: path))
                try handle.write(contentsOf: Data("/../\n\0".utf8))
                try handle.close()
                #expect(file.writeToken(0, into: memory) == 0 && file.writeToken(1, into: memory) == second.utf8.count)
            }
        }
    }

    @Test(
        "A wrong device file gets one line with the place",
        arguments: [
            ("", ": the file is empty; expected device tokens, one a line"),
            ("abcd\nxyz\n", ":2:1: character 'x' in a device token; expected hexadecimal digits"),
            ("abc\n", ":1: a device token of 3 digits; expected an even number of at most 400 (64 today)"),
            ("abcd\n\nabcd\n", ":2: no device token on this line; expected hexadecimal digits"),
            ("abcd,a b\n", ":1:7: character 0x20 in a tag; expected letters, digits and _ @ # . : -"),
            ("abcd,\(String(repeating: "a", count: 121))\n", ":1:6: a tag of 121 characters; at most 120"),
            ("token\n", ": no device token in it; expected one a line"),
            ("\r\n\n", ": no device token in it; expected one a line"),
            ("tokn,state\nabcd,\n", ":1: unknown column \"tokn\"; did you mean \"token\"?"),
            ("state,tags\n", ":1: no column \"token\"; this line names state, tags"),
            ("token,token\n", ":1: column \"token\" is named twice"),
            ("token,state\nabcd,expired,1\n", ":2: 3 fields; the header line names token,state"),
            ("abcd,sports,expired\n", ":1: 3 fields; without a header line there are token,tags"),
            ("state,token\nexpired\n", ":2: no device token on this line; expected hexadecimal digits"),
            (
                "state,tags,token\n,a b,abcd\n",
                ":2:3: character 0x20 in a tag; expected letters, digits and _ @ # . : -"
            ),
        ])
    func fileErrors(_ text: String, _ message: String) throws {
        try withFile(text) { path in
            #expect { try DeviceFile(path: path) } throws: { "\($0)" == path + message }
        }
    }

    @Test("A missing device file is named")
    func missing() {
        #expect { try DeviceFile(path: "/nonexistent/tokens") } throws: {
            "\($0)" == "cannot read the device file /nonexistent/tokens: No such file or directory"
        }
    }
}

@Suite struct HexDigitsTests {
    @Test("Every byte in every place of sixteen digits is judged as a digit or not, and read as its value")
    func every() {
        for place in 0..<16 {
            for byte in UInt8.min ... .max {
                var text = Array("0123456789abcdef".utf8)
                text[place] = byte
                let character = Character(UnicodeScalar(byte))
                let isDigit = byte < 128 && character.isHexDigit
                #expect(HexDigits.areDigits(text, 16) == isDigit, "byte \(byte) at \(place)")
                let expected = isDigit ? UInt64(String(decoding: text, as: UTF8.self), radix: 16) : nil
                #expect(HexDigits.read(text) == expected, "byte \(byte) at \(place)")
            }
        }
        #expect(HexDigits.areDigits(Array("0123456789abcdefAB".utf8), 18))
        #expect(!HexDigits.areDigits(Array("0123456789abcdefAg".utf8), 18))
    }
}
