import Foundation
import Testing

@testable import Settings

@Suite struct FileObstacleTests {
    @Test("What stands in the way of a file or folder is named; a file system without blocks is not full")
    func text() {
        #expect(FileObstacle.text("/nowhere/x/y") == "there is no folder /nowhere/x")
        #expect(FileObstacle.text("/etc/hostname/x", isFolder: true) == "/etc/hostname is a file")
        #expect(FileObstacle.text("/proc/x", isFolder: true) == "nothing can be made in /proc")
    }
}
