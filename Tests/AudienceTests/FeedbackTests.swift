import Glibc
import Testing

@testable import Audience

@Suite("Feedback is journaled, read and applied") struct FeedbackTests {
    static let entries = [
        FeedbackEntry(token: "aa01", topic: "com.a", reason: "Unregistered", timestamp: 1_700_000_005_000, seen: 10),
        FeedbackEntry(token: "aa02", reason: "BadDeviceToken", seen: 11),
        FeedbackEntry(
            token: "aa03", topic: "odd \"\\\n topic ü", reason: "ExpiredToken", timestamp: 1_700_000_000_000, seen: 12),
    ]

    @Test("What is appended is read")
    func whatIsAppendedIsRead() throws {
        let folder = ScratchFolder()
        let journal = FeedbackJournal(of: "\(folder.path)/r")
        #expect(try journal.read().entries == [] && journal.read().note == nil)
        try journal.append(Self.entries)
        #expect(try journal.read().entries == Self.entries && journal.read().note == nil)
        #expect(
            folder.text("r.feedback").hasPrefix(
                #"{"token":"aa01","topic":"com.a","reason":"Unregistered","timestamp":1700000005000,"seen":10}"# + "\n")
        )
    }

    @Test("A torn last line is left out with a note, and cut before the next")
    func aTornLastLineIsLeftOutWithANoteAndCutBeforeTheNext() throws {
        let folder = ScratchFolder()
        let journal = FeedbackJournal(of: "\(folder.path)/r")
        try journal.append(Self.entries)
        let whole = folder.read("r.feedback")
        for length in 0..<whole.count {
            folder.write("r.feedback", Array(whole[..<length]))
            // Only its line feed may be missing.
            let isWhole = whole[length] == 0x0A
            let kept = Array(Self.entries.prefix(whole[..<length].count { $0 == 0x0A } + (isWhole ? 1 : 0)))
            let read = try journal.read()
            #expect(read.entries == kept, "\(length) bytes")
            let torn = isWhole ? 0 : length - (whole[..<length].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0)
            let note =
                "\(journal.path):\(kept.count + 1): this last line is not whole and left out, "
                + "\(torn) byte\(torn == 1 ? "" : "s"): who wrote it was killed, or is at it still"
            #expect(read.note == (torn == 0 ? nil : note), "\(length) bytes")
            try journal.append(Self.entries.suffix(1))
            let added = kept.count == Self.entries.count ? [] : Self.entries.suffix(1)
            #expect(try journal.read().entries == kept + added, "\(length) bytes")
        }
        // Longer than what is looked at in one go.
        folder.write("r.feedback", whole + Array("{\"token\":".utf8) + [UInt8](repeating: 0x78, count: 10_000))
        let new = FeedbackEntry(token: "aa04", reason: "BadDeviceToken", seen: 13)
        try journal.append([new])
        #expect(folder.read("r.feedback") == whole + Array(new.line.utf8))
        let path = folder.write("r", Self.csv)
        folder.write("r.feedback", Array(whole.dropLast(2)))
        let notes = try Registrations.open(path, now: 0).notes
        #expect(notes.count == 1 && notes[0].hasPrefix("\(journal.path):3: this last line is not whole"), "\(notes)")
    }

    /// A line that is right up to here.
    static func said(_ rest: String) -> String { "{\"token\":\"aa\",\"reason\":\"BadDeviceToken\",\(rest)}\n" }

    @Test(
        "A wrong line is said with its place",
        arguments: [
            ("x\n", "1:1: expected an object in braces, found 'x'"),
            ("\n", "1:1: an empty line; expected an object"),
            ("{\"token\":\"aa\"}\n", "1:1: no \"reason\" in this object"),
            (said("\"seen\":-1"), "1:48: expected a whole number, 0 or more"),
            (
                said("\"seen\":1") + "{\"tok\":1}\n",
                "2:2: unknown key \"tok\"; expected one of token, topic, reason, timestamp, seen"
            ),
            (said("\"seen\":1,\"seen\":2"), "1:50: \"seen\" stands twice"),
            (
                said("\"seen\":1700000000000"),
                "1:48: 1700000000000 for \"seen\" is after 2106; expected seconds since 1970, these look like milliseconds"
            ),
            (
                said("\"timestamp\":1700000000"),
                "1:53: the timestamp 1700000000 is not between 1973 and 2106; expected milliseconds since 1970, these look like seconds"
            ),
            (
                said("\"timestamp\":1700000000000000"),
                "1:53: the timestamp 1700000000000000 is not between 1973 and 2106; expected milliseconds since 1970"
            ),
            (
                "{\"token\":\"aa\",\"reason\":\"Unregisterd\",\"seen\":1}\n",
                "1:24: unknown reason \"Unregisterd\"; did you mean \"Unregistered\"?"
            ),
            (
                "{\"token\":\"aax\",\"reason\":\"Unregistered\",\"seen\":1}\n",
                "1:10: \"aax\" is no device token; expected an even number of hexadecimal digits, at most 400"
            ),
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
                        // Of several blocks, and none of them known already.
                        try journal.append(
                            (0..<writer * 4).map {
                                FeedbackEntry(
                                    token: String(1_000_000 + writer * 10_000 + number * 100 + $0, radix: 10) + "0",
                                    reason: "BadDeviceToken", seen: Int64(number))
                            })
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try journal.read().entries.count == 20 * 4 * (1 + 2 + 3 + 4 + 5))
    }

    @Test("What the journal says already is not written again")
    func whatTheJournalSaysAlreadyIsNotWrittenAgain() throws {
        let folder = ScratchFolder()
        let journal = FeedbackJournal(of: "\(folder.path)/r")
        func changed(_ entry: FeedbackEntry, _ change: (inout FeedbackEntry) -> Void) -> FeedbackEntry {
            var entry = entry
            change(&entry)
            return entry
        }
        try journal.append(Self.entries + Self.entries)
        #expect(try journal.read().entries == Self.entries)
        // Heard again later, of a token in other letters, or gone before what is known.
        try journal.append(Self.entries.map { entry in changed(entry) { $0.seen += 1000 } })
        try journal.append(Self.entries.map { entry in changed(entry) { $0.token = $0.token.uppercased() } })
        try journal.append([changed(Self.entries[0]) { $0.timestamp! -= 1 }])
        #expect(try journal.read().entries == Self.entries)
        // Gone again after it was registered anew; for another topic; for another reason.
        let new = [
            changed(Self.entries[0]) { $0.timestamp! += 1 }, changed(Self.entries[0]) { $0.topic = "com.b" },
            changed(Self.entries[0]) { $0.reason = "ExpiredToken" },
        ]
        try journal.append(new)
        #expect(try journal.read().entries == Self.entries + new)
        // A wrong line that somebody put there loses nothing of what is heard.
        let wrong = folder.read("r.feedback") + Array("x\n".utf8)
        folder.write("r.feedback", wrong)
        try journal.append(Self.entries.prefix(1))
        #expect(folder.read("r.feedback") == wrong + Array(Self.entries[0].line.utf8))
    }

    @Test("A journal that another program holds is waited for, but not for ever")
    func aJournalThatAnotherProgramHoldsIsWaitedForButNotForEver() throws {
        let folder = ScratchFolder()
        var journal = FeedbackJournal(of: "\(folder.path)/r")
        #expect(journal.patience == 50)
        try journal.append(Self.entries)
        let holder = open(journal.path, O_RDWR | O_CLOEXEC)
        #expect(flock(holder, LOCK_EX) == 0)
        journal.patience = 10
        #expect(
            throws: AudienceError(
                "cannot lock the feedback journal \(journal.path): another program has held it for 1 s; try again later",
                isUnwritable: true)
        ) { try journal.append([FeedbackEntry(token: "aa09", reason: "BadDeviceToken", seen: 1)]) }
        close(holder)
        #expect(try journal.read().entries == Self.entries)
        try journal.append([FeedbackEntry(token: "aa09", reason: "BadDeviceToken", seen: 1)])
        #expect(try journal.read().entries.count == 4)
    }

    // MARK: What leaves

    static let csv = """
        token,tags,topic,registered
        aa01,one,com.a,1700000004
        AA01,two,com.b,1700000004
        aa01,three,,1700000004
        aa01,four,com.a,1700000006
        aa02,five,com.a,1700000001
        aa03,six,com.a,

        """

    @Test(
        "A registration leaves unless it was made later",
        arguments: [
            (
                FeedbackEntry(
                    token: "AA01", topic: "com.a", reason: "Unregistered", timestamp: 1_700_000_005_000, seen: 10),
                [0, 2] as [UInt32]
            ),
            (
                FeedbackEntry(
                    token: "aa01", topic: "com.c", reason: "Unregistered", timestamp: 1_700_000_005_000, seen: 10), [2]
            ),
            (FeedbackEntry(token: "aa01", reason: "ExpiredToken", timestamp: 1_700_000_005_000, seen: 10), [0, 1, 2]),
            (FeedbackEntry(token: "aa01", reason: "ExpiredToken", timestamp: 1_700_000_003_999, seen: 10), []),
            (FeedbackEntry(token: "aa01", reason: "ExpiredToken", timestamp: 1_700_000_004_000, seen: 10), [0, 1, 2]),
            (FeedbackEntry(token: "aa01", reason: "Unregistered", seen: 1_700_000_010), [0, 1, 2, 3]),
            (FeedbackEntry(token: "aa03", reason: "Unregistered", timestamp: 1_600_000_000_000, seen: 10), [5]),
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

    @Test("What stands at a journal's end and is nothing of ours is not cut off")
    func whatStandsAtTheEndAndIsNothingOfOursIsNotCutOff() throws {
        let folder = ScratchFolder()
        let journal = FeedbackJournal(of: "\(folder.path)/r")
        for notes in ["my notes with no line feed", "{\"tok", "{\"token\":\"aa\", and what I think of it"] {
            folder.write("r.feedback", notes)
            // Whatever begins as our lines do may be one.
            let isOurs = notes.hasPrefix("{")
            #expect(((try? journal.append(Self.entries)) != nil) == isOurs, "\(notes)")
            if !isOurs { #expect(folder.text("r.feedback") == notes) }
        }
    }

    @Test("Applied through a link the file it leads to is written anew, and the link stays")
    func appliedThroughALinkTheFileItLeadsToIsWrittenAnew() throws {
        let folder = ScratchFolder()
        let path = folder.write("r", Self.csv)
        chmod(path, 0o666)
        #expect(symlink(path, "\(folder.path)/link") == 0)
        let journal = FeedbackJournal(of: "\(folder.path)/link")
        try journal.append(Self.journaled)
        #expect(try journal.apply(now: 7).left == 4)
        var status = stat()
        #expect(lstat("\(folder.path)/link", &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o666)
        #expect(folder.text("r").split(separator: "\n").count == 3)
    }

    static let journaled = [
        FeedbackEntry(token: "aa01", reason: "Unregistered", timestamp: 1_700_000_005_000, seen: 10),
        FeedbackEntry(token: "aa03", reason: "ExpiredToken", timestamp: 1_700_000_005_000, seen: 10),
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
        #expect(
            folder.text("r") == "token,tags,topic,registered\naa01,four,com.a,1700000006\naa02,five,com.a,1700000001\n")
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
        #expect(
            folder.text("r") == "token,tags,topic,registered\naa01,four,com.a,1700000006\naa02,five,com.a,1700000001\n")
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
