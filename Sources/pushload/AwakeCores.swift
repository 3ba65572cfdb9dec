import Foundation

/// Cores that are kept awake, by a process for each, as long as this lives.
final class AwakeCores {
    private var keepers: [Process] = []

    init(_ cores: [Int]) {
        for core in cores {
            let keeper = Process()
            keeper.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            keeper.arguments = ["keep-awake", "--core", String(core)]
            keeper.standardInput = FileHandle.nullDevice
            keeper.standardOutput = FileHandle.nullDevice
            keeper.standardError = FileHandle.nullDevice
            if (try? keeper.run()) != nil { keepers.append(keeper) }
        }
    }

    deinit {
        for keeper in keepers { keeper.terminate() }
    }
}
