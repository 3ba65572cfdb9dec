import Glibc
import Testing

@testable import Networking

@Suite struct CoreAffinityTests {
    @Test("A process is kept to the cores it has already; one that is not there is not")
    func kept() {
        let cores = CoreAffinity.allowed()
        #expect(!cores.isEmpty && CoreAffinity.keep(pid: getpid(), to: cores) && CoreAffinity.allowed() == cores)
        #expect(!CoreAffinity.keep(pid: 1 << 29, to: cores))
    }
}
