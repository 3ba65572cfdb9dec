import CEpoll

/// How much later than asked the kernel may end a thread's waits, to wake the processor less often: 50 µs unless set.
public enum TimerSlack {
    /// Makes it 1 ns for the calling thread, the least there is (0 would be the default again).
    ///
    /// - Returns: false when the system does not let it be set.
    @discardableResult
    public static func minimize() -> Bool { pushload_set_timer_slack(1) == 0 }
}
