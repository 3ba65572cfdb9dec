import Glibc
import Testing

@testable import Networking

@Suite struct CoreSplitTests {
    @Test("Cores are parted in two, the client's half the larger; one core cannot be")
    func halves() {
        #expect(CoreSplit(cores: [3]) == nil)
        #expect(CoreSplit(cores: [0, 5])?.mock == [0] && CoreSplit(cores: [0, 5])?.client == [5])
        #expect(CoreSplit(cores: [0, 1, 2])?.client == [1, 2])
    }

    @Test("A process is kept to the cores it has already; one that is not there is not")
    func kept() {
        let cores = CoreSplit.allowed()
        #expect(!cores.isEmpty && CoreSplit.keep(pid: getpid(), to: cores) && CoreSplit.allowed() == cores)
        #expect(!CoreSplit.keep(pid: 1 << 29, to: cores))
    }
}
