import Settings
import Testing

@Suite struct CoreListTests {
    @Test("Cores are read as taskset writes them, and given to threads in turn")
    func read() throws {
        #expect(try CoreList(parsing: "3").cores == [3])
        #expect(try CoreList(parsing: "8,2-5,0-0").cores == [8, 2, 3, 4, 5, 0])
        #expect(try CoreList(parsing: "0-1023").cores.count == 1024)
        let list = try CoreList(parsing: "4,1")
        #expect((0..<5).map(list.core(ofThread:)) == [4, 1, 4, 1, 4])
    }

    @Test(
        "What is no list of cores is refused, and what would be one is said",
        arguments: [
            "", ",", "1,", "-", "1-", "-1", "2-1", "1-2-3", "a", "1024", "0-99999999999999999999", "+1", "1 ", "1.5",
            "１",
        ])
    func wrong(_ text: String) {
        #expect {
            try CoreList(parsing: text)
        } throws: {
            "\($0)" == "\"\(text)\": expected cores from 0 to 1023, such as 2-5 or 0,2,4"
        }
    }

    @Test("A core that is named twice, or may not be used, is named")
    func problems() throws {
        #expect {
            try CoreList(parsing: "1,0-2")
        } throws: {
            "\($0)" == "\"1,0-2\": core 1 is named twice"
        }
        let list = try CoreList(parsing: "0-2")
        #expect(list.problem(allowed: [0, 1, 2, 3]) == nil)
        #expect(list.problem(allowed: [0, 2, 3]) == "core 1: this process may use 0,2,3")
    }
}
