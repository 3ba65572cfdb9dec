import ArgumentParser
import Networking

/// What `gate` starts for every core it measures on; see `CoreKeeper`.
struct KeepAwakeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "keep-awake", shouldDisplay: false)

    @Option var core: Int

    func run() throws {
        guard CoreKeeper.run(core: core) else { throw ExitCode(1) }
    }
}
