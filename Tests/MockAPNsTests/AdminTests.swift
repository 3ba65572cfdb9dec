import Testing

@testable import MockAPNs

@Suite struct AdminTests {
    @Test("Texts are escaped as JSON wants it")
    func json() {
        #expect(JSONText.quoted("a\"b\\c\n\u{1}é") == "\"a\\\"b\\\\c\\u000a\\u0001é\"")
    }
}
