/// How often a client may reset streams: 1,000 at once, 33 a second after that.
struct ResetBudget {
    private var left = 1000.0
    private var last = 0.0

    mutating func take(now: Double) -> Bool {
        if last > 0 { left = min(1000, left + (now - last) * 33) }
        last = now
        left -= 1
        return left >= 0
    }
}
