import Harness
import Testing

@testable import Workers

@Suite struct WorkerRankTests {
    private func rank(_ flag: String?, _ environment: [String: String] = [:]) -> (index: Int, workers: Int)? {
        (try? WorkerRank(flag, environment)).map { ($0.index, $0.workers) }
    }

    private func problem(_ flag: String?, _ environment: [String: String] = [:]) -> String {
        do throws(HarnessError) {
            _ = try WorkerRank(flag, environment)
            return ""
        } catch { return error.description }
    }

    @Test("A flag says it, or else a launcher, the inner one before the outer")
    func sources() throws {
        #expect(try #require(rank("3/4")) == (3, 4))
        let slurm = ["SLURM_PROCID": "1", "SLURM_NTASKS": "2"]
        #expect(try #require(rank(nil, slurm)) == (1, 2))
        #expect(try #require(rank(nil, slurm.merging(["SLURM_STEP_NUM_TASKS": "3"]) { $1 })) == (1, 3))
        let mpi = slurm.merging(["OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "6"]) { $1 }
        #expect(try #require(rank(nil, mpi)) == (5, 6))
        #expect(try #require(rank(nil, ["PMI_RANK": "0", "PMI_SIZE": "1"])) == (0, 1))
        #expect(try #require(rank("0/9", mpi)) == (0, 9))
        #expect(try #require(rank("/7", ["JOB_COMPLETION_INDEX": "6"])) == (6, 7))
    }

    @Test("What is none is refused with what would be one")
    func refused() {
        for flag in ["", "4", "4/4", "-1/2", "0/0", "a/b", "1/2/3", "0/1000000", "99999999999999999999/2", "/"] {
            #expect(problem(flag, ["PMI_RANK": "0"]).contains("expected"), "\(flag): \(problem(flag))")
        }
        #expect(problem("/4").contains("no launcher says which"))
        #expect(problem(nil).contains("give --worker I/N"))
        #expect(problem(nil, ["JOB_COMPLETION_INDEX": "1"]).contains("give --worker /N"))
        #expect(problem(nil, ["SLURM_PROCID": "1"]).contains("give --worker I/N"))
        #expect(problem(nil, ["SLURM_PROCID": "x"]) == "SLURM_PROCID=x: expected the rank, a whole number")
        #expect(problem(nil, ["PMI_RANK": "x", "PMI_SIZE": "2"]).contains("PMI_RANK=x"))
    }
}
