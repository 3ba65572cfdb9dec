import Foundation
import Testing

/// A new user's first hour, as `Tests/newcomer` plays it.
@Suite(.waitsForPrograms) struct NewcomerTests {
    @Test("What a new user types, mistypes, fills up, unplugs and kills comes out as it has to")
    func firstHour() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let finished = try Programs.run(
            root.appendingPathComponent("newcomer").path, [Programs.folder.path, "--verbose"])
        #expect(finished.status == 0 && finished.output.contains(" rows as expected, 0 differed"), "\(finished)")
    }
}
