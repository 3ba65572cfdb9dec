import Testing

@testable import Networking

@Suite struct ThreadTimeTests {
    @Test("Run-queue delay is the second of schedstat's three numbers")
    func schedstat() {
        #expect(ThreadTime.runQueueDelay(schedstat: "26683832 1813497 17\n") == 1_813_497)
        for text in ["", "1", "1 2", "a b c", "1 -2 3", "1 99999999999999999999999 3"] {
            #expect(ThreadTime.runQueueDelay(schedstat: text) == nil)
        }
    }
}
