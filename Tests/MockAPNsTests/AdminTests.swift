import Testing

@testable import MockAPNs

@Suite struct AdminTests {
    @Test("The most memory is never less than the memory now")
    func memory() {
        #expect(StatsDocument.Memory(now: 29_892_608, peak: 29_888_512).peak == 29_892_608)
        #expect(StatsDocument.Memory(now: 1, peak: 2).peak == 2)
    }

    @Test("Texts are escaped as JSON wants it")
    func json() {
        #expect(JSONText.quoted("a\"b\\c\n\u{1}é") == "\"a\\\"b\\\\c\\u000a\\u0001é\"")
    }
}
