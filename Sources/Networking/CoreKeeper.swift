import CEpoll
import Glibc

/// Keeps a core from falling asleep by running at the lowest priority there is (SCHED_IDLE: only when nobody else wants the
/// core). In a virtual machine a core that has nothing to do is given back to the host, and waking it costs CPU time that
/// depends on the host's mood: without this, CPU time a push moved by 20 % for seconds at a time (docs/gate.md).
public enum CoreKeeper {
    /// SCHED_IDLE of <sched.h>, which glibc declares under _GNU_SOURCE only.
    private static let idlePolicy: Int32 = 5
    /// Turns between looks at the parent, about 10 ms.
    private static let turns = 1 << 20

    /// Runs until the parent process is another one than now.
    ///
    /// - Returns: false at once when the kernel does not let it run at idle priority on this core: it would be in the way.
    public static func run(core: Int) -> Bool {
        guard CoreSplit.keep(pid: getpid(), to: [core]) else { return false }
        var parameters = sched_param()
        guard sched_setscheduler(0, idlePolicy, &parameters) == 0 else { return false }
        let parent = getppid()
        var seen: UInt64 = 0
        while getppid() == parent {
            for _ in 0..<turns { seen &+= pushload_cycles() }
        }
        return seen != 0
    }
}
