import Foundation
import Glibc
import Testing

@testable import Harness

@Suite struct ScratchFolderTests {
    private static let parent = FileManager.default.temporaryDirectory.path

    @Test("Folders that are made at the same time are not taken for leftovers of one another")
    func together() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<100 {
                        let folder = try ScratchFolder()
                        #expect(FileManager.default.fileExists(atPath: folder.path + "/lock"))
                        #expect(FileManager.default.createFile(atPath: folder.path + "/key", contents: nil))
                        withExtendedLifetime(folder) {}
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A folder that is not held yet has a hidden name, which nobody clears; one that nobody holds any more goes")
    func leftovers() throws {
        let abandoned = "\(Self.parent)/pushload-\(UUID().uuidString)"
        let unheld = "\(Self.parent)/.pushload-\(UUID().uuidString)"
        defer { for folder in [abandoned, unheld] { try? FileManager.default.removeItem(atPath: folder) } }
        for folder in [abandoned, unheld] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            #expect(FileManager.default.createFile(atPath: folder + "/lock", contents: nil))
        }
        let folder = try ScratchFolder()
        #expect(!FileManager.default.fileExists(atPath: abandoned))
        #expect(FileManager.default.fileExists(atPath: unheld + "/lock"))
        // Held from the moment it can be seen.
        let lock = open(folder.path + "/lock", O_RDWR)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX | LOCK_NB) != 0)
        #expect(URL(fileURLWithPath: folder.path).lastPathComponent.hasPrefix("pushload-"))
    }
}
