import Glibc
import Payloads
import Testing

@testable import Audience

@Suite("Made-up registrations are written whole or not at all") struct SyntheticWriterTests {
    private func standard(_ rows: UInt64, seed: UInt64 = 1) -> SyntheticDescription {
        var description = SyntheticDescription.standard
        description.amount = .rows(rows)
        description.seed = seed
        description.templates = .byLanguage([("en", "{\"a\":\"b, \\\"c\\\"\"}"), ("de", "news")])
        return description
    }

    @Test("The same seed gives the same bytes, however many threads write them", arguments: SyntheticFormat.allCases)
    func threads(_ format: SyntheticFormat) throws {
        let made = try SyntheticRegistrations(standard(30_000), format: format)
        let one = try made.file(threads: 1)
        #expect(try made.file(threads: 2) == one)
        #expect(try made.file(threads: 5) == one)
        #expect(try SyntheticRegistrations(standard(30_000), format: format).file(threads: 3) == one)
        #expect(try SyntheticRegistrations(standard(30_000, seed: 2), format: format).file(threads: 2) != one)
    }

    @Test("A row made alone is the row in the file", arguments: SyntheticFormat.allCases)
    func alone(_ format: SyntheticFormat) throws {
        let made = try SyntheticRegistrations(standard(20_000), format: format)
        let lines = try made.file(threads: 2).split(separator: "\n").dropFirst(format == .csv ? 1 : 0)
        #expect(lines.count == 20_000)
        for row in [0, 1, 8191, 8192, 12_345, 19_999] {
            #expect(made.line(UInt64(row)) == lines[lines.startIndex + row] + "\n")
        }
        for row in UInt64(0)..<2000 { #expect(made.line(row).utf8.count <= made.longestRow) }
    }

    @Test("Tokens are those of the mock's synthetic devices")
    func tokens() throws {
        let made = try SyntheticRegistrations(standard(1000, seed: 9), format: .csv)
        let devices = SyntheticDevices(seed: 9, count: 1000)
        for row in UInt64(0)..<1000 { #expect(made.line(row).prefix(64) == devices.token(row)) }
    }

    @Test("A row has the columns asked for and no others, in CSV and in NDJSON")
    func columns() throws {
        var description = SyntheticDescription()
        description.amount = .rows(2)
        var made = try SyntheticRegistrations(description, format: .csv)
        #expect(String(decoding: made.header, as: UTF8.self) == "token,user,tags\n")
        #expect(made.line(1).hasSuffix(",user1,\n"))
        made = try SyntheticRegistrations(description, format: .ndjson)
        #expect(made.header.isEmpty)
        #expect(made.line(1).hasSuffix("\",\"user\":\"user1\",\"tags\":[]}\n"))
        description.topics = [.init("com.example.app", 1)]
        description.environments = [.init("production", 1)]
        description.languages = [.init("en", 1)]
        description.templates = .shares([.init("{\"a\":\"b, c\"}", 1)])
        description.expiry = .init(share: 1, from: 1_600_000_000, to: 1_600_000_000)
        description.choices = [[.init("x", 1)]]
        description.tags = [.init("y", 1)]
        made = try SyntheticRegistrations(description, format: .csv)
        #expect(
            String(decoding: made.header, as: UTF8.self)
                == "token,topic,environment,user,language,template,expires,tags\n")
        #expect(
            made.line(0).dropFirst(64)
                == ",com.example.app,production,user0,en,\"{\"\"a\"\":\"\"b, c\"\"}\",1600000000,x;y\n")
        made = try SyntheticRegistrations(description, format: .ndjson)
        #expect(
            made.line(0).dropFirst("{\"token\":\"".count + 64)
                == "\",\"topic\":\"com.example.app\",\"environment\":\"production\",\"user\":\"user0\",\"language\":\"en\","
                + "\"template\":\"{\\\"a\\\":\\\"b, c\\\"}\",\"expires\":1600000000,\"tags\":[\"x\",\"y\"]}\n")
        description.expiry?.share = 0
        #expect(try SyntheticRegistrations(description, format: .csv).line(0).hasSuffix(",,x;y\n"))
        #expect(!(try SyntheticRegistrations(description, format: .ndjson).line(0).contains("expires")))
    }

    @Test("A full disk and a closed pipe end it with their reason, on every thread")
    func failures() throws {
        signal(SIGPIPE, SIG_IGN)
        let made = try SyntheticRegistrations(standard(50_000), format: .csv)
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        #expect(SyntheticWriter.write(made, descriptor: full, threads: 3) == ENOSPC)
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        #expect(SyntheticWriter.write(made, descriptor: ends[1], threads: 3) == EPIPE)
    }

    @Test("A file that cannot be made or replaced is said in one line, and nothing is left of it")
    func obstacles() throws {
        let made = try SyntheticRegistrations(standard(10), format: .csv)
        func message(_ path: String) -> String {
            do {
                try SyntheticWriter.write(made, to: path)
                return "no error"
            } catch { return error.description }
        }
        #expect(message("/nowhere/x.csv") == "cannot write /nowhere/x.csv: No such file or directory")
        #expect(message("/tmp") == "cannot write /tmp: it is there and no regular file")
        let path = try TestFolder.path("again.csv")
        defer { unlink(path) }
        #expect(message(path) == "no error")
        #expect(message(path) == "no error")
        #expect(try TestFolder.text(path).split(separator: "\n").count == 11)
    }

    @Test("A file's ending says its format")
    func endings() throws {
        #expect(try SyntheticFormat(path: "a.CSV") == .csv && SyntheticFormat(path: "-") == .csv)
        #expect(try SyntheticFormat(path: "a.ndjson") == .ndjson && SyntheticFormat(path: "a.jsonl") == .ndjson)
        #expect(throws: AudienceError("a.txt: expected a name that ends with .csv, .ndjson or .jsonl")) {
            try SyntheticFormat(path: "a.txt")
        }
    }
}
