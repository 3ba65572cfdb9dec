import Testing

@testable import Reference

@Suite struct ReferenceKernelTests {
    @Test("The work of record/1 is what it always was: the bytes it ends with")
    func frozen() throws {
        let kernel = try ReferenceKernel()
        #expect(kernel.measure(records: 3) > 0)
        #expect(ReferenceKernel.version == "record/1")
        // The same in C, over the same OpenSSL calls.
        #expect(kernel.checksum == 0x24E3_27CD_3F9F_B200)
        let other = try ReferenceKernel()
        _ = other.measure(records: 2)
        #expect(kernel.checksum != other.checksum)
        _ = other.measure(records: 1)
        #expect(kernel.checksum == other.checksum)
    }
}
