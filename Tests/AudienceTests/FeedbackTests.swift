import Glibc
import Testing

@testable import Audience

@Suite("Feedback is journaled, read and applied") struct FeedbackTests {
    static let entries = [
        FeedbackEntry(token: "aa01", topic: "com.a", reason: "Unregistered", timestamp: 5000, seen: 10),
        FeedbackEntry(token: "aa02", reason: "BadDeviceToken", seen: 11),
        FeedbackEntry(token: "aa03", reason: "odd \"\\\n reason ü", timestamp: 0, seen: 12),
    ]

    @Test("What is appended is read")
    func whatIsAppendedIsRead() throws {
        let folder = ScratchFolder()
        let journal = FeedbackJournal(of: "\(folder.path)/r")
        #expect(try journal.read() == [])
        try journal.append(Self.entries)
        try journal.append(Self.entries.prefix(1))
        #expect(try journal.read() == Self.entries + Self.entries.prefix(1))
        #expect(
            folder.text("r.feedback").hasPrefix(
                #"{"token":"aa01","topic":"com.a","reason":"Unregistered","timestamp":5000,"seen":10}"# + "\n"))
    }

    @Test("A torn last line is not read and cut before the next")
    func aTornLastLineIsNotReadAndCutBeforeTheNext() throws {
        let folder = ScratchFolder()
        let journal = FeedbackJournal(of: "\(folder.path)/r")
        try journal.append(Self.entries)
        let whole = folder.read("r.feedback")
        for length in 0..<whole.count {
            folder.write("r.feedback", Array(whole[..<length]))
            let kept = Array(Self.entries.prefix(whole[..<length].count { $0 == 0x0A }))
            #expect(try journal.read() == kept, "\(length) bytes")
            try journal.append(Self.entries.suffix(1))
            #expect(try journal.read() == kept + Self.entries.suffix(1), "\(length) bytes")
        }
        // Longer than what is looked at in one go.
        folder.write("r.feedback", whole + [UInt8](repeating: 0x78, count: 10_000))
        try journal.append(Self.entries)
        #expect(folder.read("r.feedback") == whole + whole)
    }

    @Test(
        "A wrong line is said with its place",
        arguments: [
            ("x\n", "1:1: expected an object in braces, found 'x'"),
            ("\n", "1:1: an empty line; expected an object"),
            ("{\"token\":\"aa\"}\n", "1:1: no \"reason\" in this object"),
            ("{\"token\":\"aa\",\"reason\":\"R\",\"seen\":-1}\n", "1:35: expected a whole number, 0 or more"),
            ("{\"token\":\"aa\",\"reason\":\"R\",\"seen\":1}\n{\"tok\":1}\n", "2:2: unknown key \"tok\""),
        ])
    func aWrongLineIsSaidWithItsPlace(text: String, expected: String) {
        let folder = ScratchFolder()
        folder.write("r.feedback", text)
        #expect(throws: AudienceError("\(folder.path)/r.feedback:\(expected)")) {
            try FeedbackJournal(of: "\(folder.path)/r").read()
        }
    }

    @Test("Several writers do not mix their lines")
    func severalWritersDoNotMixTheirLines() async throws {
        let folder = ScratchFolder()
        let journal = FeedbackJournal(of: "\(folder.path)/r")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<6 {
                group.addTask {
                    for number in 0..<20 {
                        try journal.append(
                            [
                                FeedbackEntry(
                                    token: "aa", reason: String(repeating: "x", count: writer * 500),
                                    seen: Int64(number))
                            ].filter { !$0.reason.isEmpty })
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try journal.read().count == 100)
    }

    // MARK: What leaves

    static let csv = """
        token,tags,topic,registered
        aa01,one,com.a,4
        AA01,two,com.b,4
        aa01,three,,4
        aa01,four,com.a,6
        aa02,five,com.a,1
        aa03,six,com.a,

        """

    @Test(
        "A registration leaves unless it was made later",
        arguments: [
            (
                FeedbackEntry(token: "AA01", topic: "com.a", reason: "Unregistered", timestamp: 5000, seen: 10),
                [0, 2] as [UInt32]
            ),
            (FeedbackEntry(token: "aa01", topic: "com.c", reason: "Unregistered", timestamp: 5000, seen: 10), [2]),
            (FeedbackEntry(token: "aa01", reason: "ExpiredToken", timestamp: 5000, seen: 10), [0, 1, 2]),
            (FeedbackEntry(token: "aa01", reason: "ExpiredToken", timestamp: 3999, seen: 10), []),
            (FeedbackEntry(token: "aa01", reason: "ExpiredToken", timestamp: 4000, seen: 10), [0, 1, 2]),
            (FeedbackEntry(token: "aa01", reason: "Unregistered", seen: 10), [0, 1, 2, 3]),
            (FeedbackEntry(token: "aa03", reason: "Unregistered", timestamp: 0, seen: 10), [5]),
            (FeedbackEntry(token: "aa01", reason: "BadDeviceToken", seen: 10), []),
            (FeedbackEntry(token: "bb", reason: "Unregistered", seen: 10), []),
        ])
    func aRegistrationLeavesUnlessItWasMadeLater(entry: FeedbackEntry, leave: [UInt32]) throws {
        let folder = ScratchFolder()
        let path = folder.write("r", Self.csv)
        try FeedbackJournal(of: path).append([entry])
        let all = try Registrations.open(path, now: 0)
        #expect(all.removed.all == leave)
        #expect(all.alive.all == (0..<6).filter { !leave.contains($0) })
    }

    static let journaled = [
        FeedbackEntry(token: "aa01", reason: "Unregistered", timestamp: 5000, seen: 10),
        FeedbackEntry(token: "aa03", reason: "ExpiredToken", timestamp: 5000, seen: 10),
        FeedbackEntry(token: "aa02", reason: "BadDeviceToken", seen: 10),
    ]

    @Test("Applying writes the file without them and moves the journal")
    func applyingWritesTheFileWithoutThemAndMovesTheJournal() throws {
        let folder = ScratchFolder()
        let path = folder.write("r", Self.csv)
        chmod(path, 0o640)
        let journal = FeedbackJournal(of: path)
        #expect(try journal.apply(now: 7) == FeedbackOutcome())
        try journal.append(Self.journaled)
        let outcome = try journal.apply(now: 7)
        #expect(outcome.entries == 3 && outcome.left == 4 && outcome.stay == 2)
        #expect(outcome.reported == ["BadDeviceToken": 1] && outcome.archive == "\(path).feedback.applied-7")
        #expect(folder.text("r") == "token,tags,topic,registered\naa01,four,com.a,6\naa02,five,com.a,1\n")
        #expect(folder.names == ["r", "r.feedback.applied-7", "r.index"])
        var status = stat()
        stat(path, &status)
        #expect(status.st_mode & 0o777 == 0o640)
        #expect(try Registrations.open(path, now: 0).alive.count == 2)
        try journal.append(Self.journaled)
        #expect(try journal.apply(now: 7).archive == "\(path).feedback.applied-7-2")
    }

    @Test("Rows keep their bytes in either format")
    func rowsKeepTheirBytesInEitherFormat() throws {
        let folder = ScratchFolder()
        let quoted = "\u{FEFF}token,tags,template\r\naa01,,\"a\r\nb\"\r\naa02,,\"c\r\n\"\"d\"\r\naa04,\"x\",e"
        let json =
            "{\"token\":\"aa02\"}\n\n {\"token\" : \"aa01\"} \n{\"token\":\"aa05\",\"template\":{\"a\":\"}\"}}\n\n"
        for (text, expected) in [
            (quoted, "\u{FEFF}token,tags,template\r\naa02,,\"c\r\n\"\"d\"\r\naa04,\"x\",e"),
            (json, "{\"token\":\"aa02\"}\n{\"token\":\"aa05\",\"template\":{\"a\":\"}\"}}\n\n"),
        ] {
            let path = folder.write("r", text)
            try FeedbackJournal(of: path).append(Self.journaled)
            _ = try FeedbackJournal(of: path).apply(now: 1)
            #expect(folder.text("r") == expected)
        }
    }

    @Test("Stopped anywhere nothing is lost and it can be done again", arguments: FeedbackJournal.Step.allCases)
    func stoppedAnywhereNothingIsLostAndItCanBeDoneAgain(
        step: FeedbackJournal.Step
    ) throws {
        let folder = ScratchFolder()
        let path = folder.write("r", Self.csv)
        let journal = FeedbackJournal(of: path)
        try journal.append(Self.journaled)
        #expect(throws: AudienceError("stopped")) {
            try journal.apply(now: 7) { (reached) throws(AudienceError) in
                if reached == step { throw AudienceError("stopped") }
            }
        }
        let isReplaced = step == .replaced || step == .archived
        #expect((folder.text("r").utf8.count < Self.csv.utf8.count) == isReplaced)
        #expect(folder.names.contains("r.feedback") == (step != .archived))
        #expect(try Registrations.open(path, now: 0).alive.count == 2)
        _ = try journal.apply(now: 8)
        #expect(folder.text("r") == "token,tags,topic,registered\naa01,four,com.a,6\naa02,five,com.a,1\n")
        #expect(folder.names == ["r", "r.feedback.applied-\(step == .archived ? 7 : 8)", "r.index"])
    }

    @Test("A file that somebody changes meanwhile is left as it is")
    func aFileThatSomebodyChangesMeanwhileIsLeftAsItIs() throws {
        let folder = ScratchFolder()
        let path = folder.write("r", Self.csv)
        let journal = FeedbackJournal(of: path)
        try journal.append(Self.journaled)
        #expect(throws: AudienceError("\(path): changed while feedback was applied to it; nothing was done")) {
            try journal.apply(now: 7) { (reached) throws(AudienceError) in
                if reached == .written { folder.write("r", "token,tags\naa01,new\n") }
            }
        }
        #expect(folder.text("r") == "token,tags\naa01,new\n")
        #expect(folder.names == ["r", "r.feedback", "r.index"])
    }
}
