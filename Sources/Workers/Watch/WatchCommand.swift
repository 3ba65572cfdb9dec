import ArgumentParser
import Dispatch
import Flags
import Foundation
import Glibc
import Harness
import Results
import Synchronization

package struct WatchCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Watch a run of several workers while it goes on.",
        discussion: """
            Reads the folder that the workers share (run --rendezvous), and writes nothing there: a line for each worker, those \
            first that want a look where there is no room for all, and their sum. p50 and p99 of several are those of the slowest. \
            Elsewhere than on a terminal, a block of lines every 2 s. Once the run has ended, \
            what it came to is shown. Exit status: the run's; 1 where it was given up before it began; 0 after Ctrl-C; with \
            --once 0 while it goes on, and 1 where there is no run.
            """)

    @Argument(help: ArgumentHelp("The folder that the workers share; it is waited for.", valueName: "folder"))
    var folder: String

    @Option(help: ArgumentHelp("Write a page too, anew every 2 s, for a browser.", valueName: "file"))
    var page: String?

    @Flag(help: "Print what there is, and end.")
    var once = false

    package init() {}

    package func run() throws {
        if let page {
            try FileName.check(page, "--page", [".html", ".htm"])
            do throws(ResultError) { try ResultFile.checkWritable(page) } catch {
                throw HarnessError(error.description)
            }
        }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), !isFolder.boolValue {
            throw HarnessError("\(folder): it is no folder; expected the one that the workers share")
        }
        let display = WatchDisplay()
        defer { display.close() }
        let isStopped = Mutex(false)
        let wake = DispatchSemaphore(value: 0)
        let signals = StopSignals {
            isStopped.withLock { $0 = true }
            wake.signal()
        }
        defer { signals.cancel() }
        // Ctrl-Z gives the terminal back before the program sleeps.
        let pauses = StopSignals(display.isRedrawn ? [SIGTSTP] : []) {
            display.close()
            kill(getpid(), SIGSTOP)
        }
        defer { pauses.cancel() }
        let last = watch(display, wake) { isStopped.withLock { $0 } }
        if let status = last.status, status != 0 { throw ExitCode(status) }
        if once, case .absent = last.phase { throw ExitCode(HarnessError.Kind.failed.rawValue) }
    }

    /// - Returns: the run as it was seen last.
    private func watch(
        _ display: WatchDisplay, _ wake: DispatchSemaphore, until isStopped: () -> Bool
    ) -> WatchedRun {
        var watch = FolderWatch(folder)
        var nextPage = 0.0
        var problem = ""
        while true {
            let now = MonotonicSeconds.now()
            let run = watch.look(now: now)
            let isLast = once || run.status != nil || isStopped()
            if let page, isLast || now >= nextPage {
                do throws(ResultError) {
                    try ResultFile.write(Array(WatchPage.page(run, isLast: isLast).utf8), to: page, isSynced: isLast)
                } catch {
                    if problem != error.description { Console.error(error.description) }
                    problem = error.description
                }
                nextPage = now + Double(WatchPage.pause)
            }
            if isLast {
                display.close()
                display.write(run)
                return run
            }
            display.show(run)
            _ = wake.wait(timeout: .now() + (display.isRedrawn ? 1 : 2))
        }
    }
}
