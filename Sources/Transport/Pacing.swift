/// How a worker waits for a push to be due.
public enum Pacing: String, Sendable, CaseIterable {
    /// Lets the core go, but for as long as a sleep mostly lasts too long. Where many pushes are due in a short time, they leave
    /// together (`Pace`).
    case sleep
    /// Keeps the core busy for the last 100 µs of each wait: punctual, at the price of the core.
    case spin
}
