import Glibc
import Testing

@testable import Audience

/// The index beside the file: when it is used, and when it is made anew.
@Suite("An index is kept, found, and made anew when it has to be") struct IndexFileTests {
    private func isSound(_ path: String, _ note: Comment, isNew: Bool = true) throws {
        let all = try Registrations.open(path, now: 0)
        #expect(all.isNewlyIndexed == isNew, note)
        #expect(all.rows(tagged: "red")?.all == [0, 3] && all.rows(tagged: "username:ann")?.all == [0, 3], note)
        #expect(all.templates.count == 2 && all.token(3) == "AaBb01", note)
    }

    @Test("An index cut anywhere is made anew")
    func anIndexCutAnywhereIsMadeAnew() throws {
        let folder = ScratchFolder()
        let path = folder.write("r", RegistrationsTests.csv)
        try isSound(path, "first")
        let index = folder.read("r.index")
        let file = try MappedFile(path, "file")
        for length in (0..<index.count).reversed() {
            #expect(truncate("\(path).index", length) == 0)
            let isNone = RegistrationIndex.open("\(path).index", of: file.fingerprint) == nil
            #expect(isNone, "\(length) of \(index.count) bytes")
            guard length % 400 == 7 else { continue }
            try isSound(path, "\(length) of \(index.count) bytes")
            // It is whole again.
            folder.write("r.index", index)
        }
        folder.write("r.index", index + [0])
        try isSound(path, "a byte more")
        folder.write("r.index", index)
        try isSound(path, "whole", isNew: false)
    }

    @Test("A file written to in place is another one, though its time of modification was put back")
    func aFileWrittenToInPlaceIsAnotherOne() throws {
        let folder = ScratchFolder()
        let path = folder.write("r", "token,tags\naa01,red\naa02,blue\n")
        #expect(try Registrations.open(path, now: 0).rows(tagged: "red")?.count == 1)
        let file = try MappedFile(path, "file")
        var status = stat()
        #expect(stat(path, &status) == 0)
        file.settle()
        folder.write("r", "token,tags\naa01,blu\naa02,blue\n")
        #expect(utimensat(AT_FDCWD, path, [status.st_atim, status.st_mtim], 0) == 0)
        #expect(!file.isUnwritten)
        let all = try Registrations.open(path, now: 0)
        #expect(all.isNewlyIndexed && all.rows(tagged: "red") == nil && all.rows(tagged: "blu")?.count == 1)
    }

    @Test("A file that loses its name to another, or gets one more, is still what it was")
    func aFileThatLosesItsNameIsStillWhatItWas() throws {
        let folder = ScratchFolder()
        let path = folder.write("r", "token,tags\naa01,red\n")
        let file = try MappedFile(path, "file")
        file.settle()
        #expect(link(path, path + "2") == 0 && file.isUnwritten && file.isUnchanged)
        // And what was before again, where the change was seen.
        file.settle()
        #expect(unlink(path + "2") == 0 && file.isUnwritten && file.isUnchanged)
        file.settle()
        #expect(rename(path, path + "3") == 0 && file.isUnwritten && !file.isUnchanged)
        file.settle()
        #expect(rename(path + "3", path) == 0 && file.isUnwritten && file.isUnchanged)
        let other = try MappedFile(folder.write("s", "token,tags\naa01,red\n"), "file")
        other.settle()
        #expect(rename(path, folder.path + "/s") == 0 && other.isUnwritten && !other.isUnchanged)
    }

    @Test("An index with a changed header is made anew")
    func anIndexWithAChangedHeaderIsMadeAnew() throws {
        let folder = ScratchFolder()
        let path = folder.write("r", RegistrationsTests.csv)
        try isSound(path, "first")
        let index = folder.read("r.index")
        let file = try MappedFile(path, "file")
        for place in 0..<IndexLayout.headerSize {
            var damaged = index
            damaged[place] ^= 1 << (place % 8)
            folder.write("r.index", damaged)
            let isNone = RegistrationIndex.open("\(path).index", of: file.fingerprint) == nil
            #expect(isNone, "byte \(place)")
            if place % 100 == 0 { try isSound(path, "byte \(place)") }
        }
    }

    @Test("An index with any byte changed is made anew")
    func anIndexWithAnyByteChangedIsMadeAnew() throws {
        let folder = ScratchFolder()
        let path = folder.write("r", RegistrationsTests.csv)
        try isSound(path, "first")
        let index = folder.read("r.index")
        let file = try MappedFile(path, "file")
        let opened = try #require(RegistrationIndex.open("\(path).index", of: file.fingerprint))
        for section in IndexLayout.Section.allCases {
            let bytes = opened.bytes(section)
            let start = bytes.baseAddress! - opened.memory.bytes.baseAddress!
            for place in start..<start + bytes.count {
                var damaged = index
                damaged[place] ^= [0x01, 0x80, 0xFF][place % 3]
                folder.write("r.index.new", damaged)
                let isNone = RegistrationIndex.open("\(path).index.new", of: file.fingerprint) == nil
                #expect(isNone, "\(section), byte \(place)")
            }
        }
    }

    @Test("Numbers that are damaged after an index was opened trap nothing")
    func numbersThatAreDamagedAfterAnIndexWasOpenedTrapNothing() throws {
        let folder = ScratchFolder()
        let path = folder.write("r", RegistrationsTests.csv)
        try isSound(path, "first")
        let file = try MappedFile(path, "file")
        let index = try #require(RegistrationIndex.open("\(path).index", of: file.fingerprint))
        let descriptor = Glibc.open("\(path).index", O_RDWR)
        defer { close(descriptor) }
        // Names and bitmaps are believed once they were found right.
        for section in IndexLayout.Section.allCases where section.rawValue < IndexLayout.Section.entries.rawValue {
            let bytes = index.bytes(section)
            let start = bytes.baseAddress! - index.memory.bytes.baseAddress!
            for place in 0..<bytes.count {
                // Seen through the mapping.
                var damaged = bytes[place] ^ [0x01, 0x80, 0xFF][place % 3]
                var whole = bytes[place]
                #expect(pwrite(descriptor, &damaged, 1, start + place) == 1)
                let all = Registrations(file, (index, false, nil), FeedbackTests.journaled, now: 0)
                for row in 0..<all.rows {
                    _ = (all.token(row), all.tags(row), all.templateNumber(row), all.topicNumber(row))
                    _ = (all.rows(token: "aabb01"), all.registered(row), all.user(row))
                    var buffer = [UInt8](repeating: 0, count: all.longestToken)
                    #expect(all.writeToken(row, into: &buffer) <= all.longestToken)
                }
                _ = (all.rows(tagged: "username:ann"), all.devices(in: all.alive), all.tagCounts)
                #expect(pwrite(descriptor, &whole, 1, start + place) == 1)
            }
        }
    }

    @Test("A token that a damaged index says is longer than the longest one is not copied beyond it")
    func aTokenThatADamagedIndexSaysIsLongerThanTheLongestOneIsNotCopiedBeyondIt() throws {
        let folder = ScratchFolder()
        let path = folder.write("r", "token,tags\naa01,\n" + String(repeating: "aa02,b\n", count: 30))
        let all = try Registrations.open(path, now: 0)
        #expect(all.longestToken == 4)
        let devices = AudienceDevices(all, all.everyone)
        let start = all.index.bytes(.tokens).baseAddress! - all.index.memory.bytes.baseAddress!
        let descriptor = Glibc.open("\(path).index", O_RDWR)
        defer { close(descriptor) }
        var place = IndexPlace.of(11, 11 + 64)
        #expect(pwrite(descriptor, &place, 8, start) == 8)
        var buffer = [UInt8](repeating: 0x2E, count: 64)
        #expect(devices.writeToken(0, into: &buffer) == 4)
        #expect(buffer == Array("aa01".utf8) + [UInt8](repeating: 0x2E, count: 60))
    }

    @Test("A changed file is indexed again")
    func aChangedFileIsIndexedAgain() throws {
        let folder = ScratchFolder()
        let path = folder.write("r", "token,tags\naa,one\n")
        #expect(try Registrations.open(path, now: 0).rows(tagged: "one")?.all == [0])
        // As long as before, and at once.
        folder.write("r", "token,tags\naa,two\n")
        #expect(try Registrations.open(path, now: 0).rows(tagged: "two")?.all == [0])
        // Another file with this name, of the same size and time.
        var status = stat()
        stat(path, &status)
        folder.write("other", "token,tags\naa,six\n")
        var times = [status.st_atim, status.st_mtim]
        utimensat(AT_FDCWD, "\(folder.path)/other", &times, 0)
        rename("\(folder.path)/other", path)
        #expect(try Registrations.open(path, now: 0).rows(tagged: "six")?.all == [0])
    }

    @Test("A file that changes while it is indexed is refused")
    func aFileThatChangesWhileItIsIndexedIsRefused() throws {
        let folder = ScratchFolder()
        let path = folder.write("r", "token,tags\naa,one\n")
        #expect(
            throws: AudienceError(
                "\(path): changed while it was indexed; expected a file that nobody writes to meanwhile")
        ) {
            try Registrations.open(path, now: 0) { _ in
                let descriptor = Glibc.open(path, O_WRONLY | O_APPEND)
                _ = Glibc.write(descriptor, "bb,two\n", 7)
                close(descriptor)
            }
        }
        #expect(folder.names == ["r"])
        #expect(
            throws: AudienceError(
                "\(path): changed while it was indexed; expected a file that nobody writes to meanwhile")
        ) {
            try Registrations.open(path, now: 0) { _ in
                folder.write("new", "token,tags\ncc,x\n")
                rename("\(folder.path)/new", path)
            }
        }
        #expect(try Registrations.open(path, now: 0).token(0) == "cc")
    }

    @Test("What a killed writer left is removed and what is others is not")
    func whatAKilledWriterLeftIsRemovedAndWhatIsOthersIsNot() throws {
        let folder = ScratchFolder()
        let path = folder.write("r", "token,tags\naa,one\n")
        let others = [
            "r.index.1.writing", "r.index.a-1.writing", "r.index.1-2-3.writing", "s.index.1-2.writing", "r.index.1-2",
        ]
        for name in others + ["r.index.99-7.writing"] { folder.write(name, "x") }
        let lives = Glibc.open(folder.write("r.index.5-5.writing", "x"), O_RDONLY)
        defer { close(lives) }
        #expect(flock(lives, LOCK_EX | LOCK_NB) == 0)
        _ = try Registrations.open(path, now: 0)
        #expect(folder.names == (others + ["r", "r.index", "r.index.5-5.writing"]).sorted())
    }

    @Test("Where the index cannot be written it is in memory")
    func whereTheIndexCannotBeWrittenItIsInMemory() throws {
        // What root may do as well as anybody: nothing can be renamed over a folder.
        let folder = ScratchFolder()
        let path = folder.write("r", RegistrationsTests.csv)
        mkdir("\(path).index", 0o755)
        defer { rmdir("\(path).index") }
        let all = try Registrations.open(path, now: 0)
        #expect(all.isNewlyIndexed)
        #expect(
            all.notes == [
                "cannot write the index \(path).index: Is a directory; it is kept in memory, and made again the next time"
            ])
        #expect(all.rows(tagged: "red")?.all == [0, 3] && all.rows(tagged: "username:eve")?.all == [3])
        #expect(folder.names == ["r", "r.index"])
    }

    @Test("Progress is told at least once")
    func progressIsToldAtLeastOnce() throws {
        let folder = ScratchFolder()
        nonisolated(unsafe) var told: [UInt64] = []
        _ = try Registrations.open(folder.write("r", RegistrationsTests.csv), now: 0) { told.append($0) }
        #expect(told == [4])
    }
}
