import Harness
import Settings

/// Which of a run's workers this process is: by `--worker`, or as the launcher that started it says.
package struct WorkerRank: Sendable, Equatable {
    /// 0 ..< `workers`.
    package let index: Int
    package let workers: Int
    /// Who said so.
    package let source: String
    /// More cannot be told apart in a folder that people look into.
    package static let most = 65_536

    package init(index: Int, workers: Int, source: String = "--worker") {
        self.index = index
        self.workers = workers
        self.source = source
    }

    /// Rank and size as launchers hand them to what they start: Open MPI, PMI (MPICH, Intel MPI), Slurm. A launcher inside another
    /// one's job comes before it.
    static let launchers = [
        ("OMPI_COMM_WORLD_RANK", ["OMPI_COMM_WORLD_SIZE"]), ("PMI_RANK", ["PMI_SIZE"]),
        ("SLURM_PROCID", ["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"]),
    ]
    /// Kubernetes tells the index of an Indexed Job's pod, and not how many there are.
    static let jobIndex = "JOB_COMPLETION_INDEX"

    /// - Parameter flag: of `--worker`: `I/N`, or `/N` where the environment says which.
    /// - Throws: one line: no rank, or none that can be.
    package init(_ flag: String?, _ environment: [String: String]) throws(HarnessError) {
        if let flag {
            let parts = flag.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let workers = Int(parts[1]) else { throw Self.wrong(flag) }
            if !parts[0].isEmpty {
                guard let index = Int(parts[0]) else { throw Self.wrong(flag) }
                try self.init(index, workers, "--worker \(flag)")
                return
            }
            for name in Self.launchers.map(\.0) + [Self.jobIndex] {
                guard let text = environment[name] else { continue }
                try self.init(text, flag.dropFirst(), "--worker \(flag) with \(name)=\(text)")
                return
            }
            throw HarnessError(
                "--worker \(flag): no launcher says which of them this is (\(Self.names)); give --worker I/\(workers)")
        }
        for (rank, sizes) in Self.launchers {
            guard let text = environment[rank] else { continue }
            guard Int(text) != nil else { throw HarnessError("\(rank)=\(text): expected the rank, a whole number") }
            guard let size = sizes.first(where: { environment[$0] != nil }), let number = environment[size] else {
                throw HarnessError("\(rank)=\(text): \(sizes[0]) does not say of how many; give --worker I/N")
            }
            try self.init(text, Substring(number), "\(rank)=\(text), \(size)=\(number)")
            return
        }
        if let text = environment[Self.jobIndex] {
            throw HarnessError(
                "\(Self.jobIndex)=\(text): a Kubernetes Job does not say of how many; give --worker /N, N its completions"
            )
        }
        throw HarnessError(
            "--rendezvous: which worker is this? give --worker I/N, or start it with srun or mpirun, or as an Indexed Job "
                + "(none of \(Self.names) is set)")
    }

    private init(_ rank: String, _ size: Substring, _ source: String) throws(HarnessError) {
        guard let index = Int(rank), let workers = Int(size) else {
            throw HarnessError("\(source): expected a rank and a number of workers")
        }
        try self.init(index, workers, source)
    }

    private init(_ index: Int, _ workers: Int, _ source: String) throws(HarnessError) {
        guard workers >= 1, workers <= Self.most, index >= 0, index < workers else {
            throw HarnessError(
                "\(source): expected 1 to \(Units.grouped(UInt64(Self.most))) workers, and one of 0 to one less than there are"
            )
        }
        self.init(index: index, workers: workers, source: source)
    }

    private static var names: String { (launchers.map(\.0) + [jobIndex]).joined(separator: ", ") }

    private static func wrong(_ flag: String) -> HarnessError {
        HarnessError("--worker \(flag): expected I/N, such as 0/4 for the first of four, or /4 under a launcher")
    }
}
