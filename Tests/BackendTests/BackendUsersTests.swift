import Foundation
import Settings
import Testing

@testable import Backend

@Suite struct BackendUsersTests {
    private func header(_ text: String) -> String { "Basic " + Data(text.utf8).base64EncodedString() }

    @Test("Without a file anybody may ask whose password is the user's name")
    func derived() {
        let users = BackendUsers()
        #expect(users.user(header("bob:bob")) == "bob" && users.user("bAsIc Ym9iOmJvYg==") == "bob")
        #expect(users.user(header("jürgen:jürgen")) == "jürgen")
        for wrong in [header("bob:eve"), header(":"), header("bob"), "Basic ?", "Bearer x", "Basic", ""] {
            #expect(users.user(wrong) == nil, "\(wrong)")
        }
        #expect(users.user(nil) == nil)
    }

    @Test("A file says who may ask, also with colons in passwords")
    func file() throws {
        let users = try BackendUsers(parsing: "# ours\nbob:a:b\r\n\neve:\n", file: "u")
        #expect(users.user(header("bob:a:b")) == "bob" && users.user(header("eve:")) == "eve")
        #expect(users.user(header("bob:bob")) == nil && users.user(header("dan:dan")) == nil)
    }

    @Test(
        "A file that cannot be used is told with the line",
        arguments: [
            ("bob:x\neve", "u:2: expected a user as name:password"),
            ("bob:x\nbob:y", "u:2: user \"bob\" is there already"),
            ("# none\n", "u: no user in it; expected name:password a line"),
        ])
    func wrong(_ text: String, _ message: String) {
        #expect { try BackendUsers(parsing: text, file: "u") } throws: { "\($0)" == message }
    }
}
