import Glibc

/// The client under examination as a process, in a group of its own: what it starts ends with it.
struct ClientCommand {
    private let pid: pid_t

    /// Starts a program, found as a shell finds it. It reads nothing, and what it prints goes to standard error.
    ///
    /// - Parameter environment: set beside what this process has.
    /// - Throws: one line when it cannot be run.
    init(_ words: [String], environment: [String: String]) throws(ExamError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        posix_spawnattr_setpgroup(&attributes, 0)
        // What this process blocks and ignores is its own affair.
        var (none, pipes) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&pipes)
        sigaddset(&pipes, SIGPIPE)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &pipes)
        var arguments = words.map { strdup($0) } + [nil]
        var variables = Self.variables(environment).map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        // Where it is ignored, as some that start programs leave it, nobody could be waited for.
        signal(SIGCHLD, SIG_DFL)
        var started: pid_t = 0
        let status = posix_spawnp(&started, words[0], &actions, &attributes, &arguments, &variables)
        guard status == 0 else { throw ExamError("cannot run \(words[0]): \(String(cString: strerror(status)))") }
        pid = started
    }

    private static func variables(_ added: [String: String]) -> [String] {
        var all: [String] = []
        var place = environ
        while let text = place.pointee {
            let entry = String(cString: text)
            if added[String(entry.prefix { $0 != "=" })] == nil { all.append(entry) }
            place += 1
        }
        return all + added.map { "\($0.key)=\($0.value)" }
    }

    /// How it ended, and what it had left running with it; nil while it runs. To be asked until it tells.
    func poll() -> ClientEnd? {
        var found = siginfo_t()
        // Until it is waited for, its number can be no other group's.
        guard waitid(P_PID, id_t(pid), &found, WEXITED | WNOHANG | WNOWAIT) == 0, found.si_signo != 0 else {
            return nil
        }
        Glibc.kill(-pid, SIGKILL)
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        let number = status & 0x7F
        return number == 0 ? .exited(status >> 8 & 0xFF) : .signaled(number)
    }

    /// Ends it and all it has started: SIGTERM, and SIGKILL a second later.
    func kill() {
        Glibc.kill(-pid, SIGTERM)
        for _ in 0..<100 {
            if poll() != nil { return }
            usleep(10_000)
        }
        Glibc.kill(-pid, SIGKILL)
        var status: Int32 = 0
        waitpid(pid, &status, 0)
    }
}
