import Glibc
import Testing

@testable import Networking

@Suite struct CoreSplitTests {
    @Test("Each side gets a core a thread; where there are too few, half of them; one core cannot be parted")
    func halves() {
        func split(_ cores: [Int], _ client: Int, _ mock: Int) -> [[Int]]? {
            CoreSplit(cores: cores, client: client, mock: mock).map { [$0.mock, $0.client] }
        }
        #expect(split([3], 1, 1) == nil)
        #expect(split([0, 5], 1, 1) == [[0], [5]])
        #expect(split([0, 1, 2, 3, 4], 2, 1) == [[0], [1, 2]])
        #expect(split([0, 1, 2], 2, 2) == [[0], [1, 2]])
    }

    @Test("A process is kept to the cores it has already; one that is not there is not")
    func kept() {
        let cores = CoreSplit.allowed()
        #expect(!cores.isEmpty && CoreSplit.keep(pid: getpid(), to: cores) && CoreSplit.allowed() == cores)
        #expect(!CoreSplit.keep(pid: 1 << 29, to: cores))
    }
}
