import Foundation
import Networking

/// Blocking work on a thread of its own.
enum ThreadTask {
    /// Runs `body` on a new thread and returns when it has ended.
    ///
    /// - Parameter core: that the thread is kept to while it runs `body`, which is told whether that could be done; nil: none.
    static func run(
        name: String, core: Int? = nil, _ body: @escaping @Sendable (_ isKept: Bool) -> Void
    ) async {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                let allowed = core.map { _ in CoreAffinity.allowed() }
                body(core.map { CoreAffinity.keepThread(to: [$0]) } ?? true)
                // Whoever goes on may do so on a thread that this one begets, and that has its cores.
                if let allowed { _ = CoreAffinity.keepThread(to: allowed) }
                continuation.resume()
            }
            thread.name = name
            thread.stackSize = 1 << 20
            thread.start()
        }
    }
}
