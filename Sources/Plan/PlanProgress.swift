import Flags

/// A line on standard error that is written anew: what a plan is being made of. Nothing where that is no terminal.
final class PlanProgress {
    private let isRedrawn = Console.isRedrawn
    private var isShown = false

    func show(_ step: String) {
        guard isRedrawn else { return }
        isShown = true
        Console.diagnostic("\r\u{1B}[K" + "planning: \(step)".prefix(max(20, Console.size.columns - 1)))
    }

    func end() {
        if isShown { Console.diagnostic("\r\u{1B}[K") }
        isShown = false
    }
}
