/// One place in the pool, and when it may have another connection. A connection that was told to go away drains outside its
/// lane while the lane reconnects.
struct Lane {
    /// Which of the worker's targets its connections go to.
    let target: Int
    /// Connections begun.
    private(set) var attempts = 0
    private(set) var connection: PushConnection?
    /// When the next connection may be made, ns.
    private(set) var retryAt: UInt64 = 0
    /// What it waits for that since the last one was lost or not made, ns.
    var wait: UInt64 { retryAt - min(retryAt, failedAt) }
    private var failedAt: UInt64 = 0
    private var backoff: Backoff
    private var wasOpen = false
    /// The connection was given pushes, or would have been had the peer let it.
    private var wasAsked = false
    /// The last connection that was asked answered nothing: that the next one opens is no sign of a target yet.
    private(set) var isDoubtful = false
    /// What its first connection that was lost or could not be made ran into.
    private(set) var firstFailure: FailureCause?

    init(target: Int, backoff: Backoff) {
        self.target = target
        self.backoff = backoff
    }

    var isConnected: Bool { connection != nil }
    /// Its connection cannot be used yet.
    var isConnecting: Bool { connection != nil && !wasOpen }
    /// Its connection is open, and has not been told to go away.
    var isOpen: Bool { connection != nil && wasOpen }

    mutating func noteAttempt() { attempts += 1 }
    mutating func take(_ connection: PushConnection) { self.connection = connection }
    mutating func noteAsked() { wasAsked = true }

    /// The connection can be used.
    ///
    /// - Returns: false when it has been told before.
    mutating func didOpen() -> Bool {
        if wasOpen { return false }
        wasOpen = true
        return true
    }

    /// A connection of the lane works, or has worked before it went away: the target is there, and the next one need not wait.
    ///
    /// - Returns: true when the next one may be made sooner than was planned.
    mutating func didAnswer(now: UInt64) -> Bool {
        isDoubtful = false
        guard backoff.failures > 0 else { return false }
        backoff.reset()
        guard connection == nil, retryAt > now else { return false }
        retryAt = now
        return true
    }

    /// A connection could not even be begun.
    mutating func didFail(_ cause: FailureCause, now: UInt64) {
        firstFailure = firstFailure ?? cause
        failedAt = now
        retryAt = now + backoff.next(isRefused: cause == .connectionRefused)
    }

    /// The connection is gone or drains; the lane reconnects: at once where it had worked, else after the backoff.
    mutating func release(_ cause: FailureCause, hadAnswers: Bool, now: UInt64) {
        connection = nil
        if !hadAnswers, wasAsked { isDoubtful = true }
        (wasOpen, wasAsked) = (false, false)
        guard hadAnswers else { return didFail(cause, now: now) }
        isDoubtful = false
        backoff.reset()
        firstFailure = firstFailure ?? cause
        (failedAt, retryAt) = (now, now)
    }

    /// The run is over.
    mutating func clear() { connection = nil }
}
