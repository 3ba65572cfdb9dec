import Glibc

/// How many files and connections this process may have open.
public enum FileLimit {
    /// Raises the soft limit to the hard one (RLIMIT_NOFILE): shells give 1,024, which is few for connections.
    public static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max
        else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// As many as there may be; `.max` when that is not known.
    package static var current: UInt64 {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? UInt64(limit.rlim_cur) : .max
    }
}
