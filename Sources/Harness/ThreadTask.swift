import Foundation

/// Blocking work on a thread of its own.
enum ThreadTask {
    /// Runs `body` on a new thread and returns when it has ended.
    static func run(name: String, _ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                body()
                continuation.resume()
            }
            thread.name = name
            thread.stackSize = 1 << 20
            thread.start()
        }
    }
}
