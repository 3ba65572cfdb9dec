import Testing

@testable import Audience

@Suite("Tag expressions are read, limited and printed") struct TagExpressionTests {
    private func message(_ text: String, limits: TagExpressionLimits = .notificationHubs) -> String {
        do {
            return "no error: \(try TagExpression(parsing: text, limits: limits))"
        } catch { return error.description }
    }

    @Test("! binds closer than &&, && closer than ||")
    func precedence() throws {
        let parsed = try TagExpression(parsing: "!a && b || c && !(d || e)")
        #expect(
            parsed.root
                == .or([.and([.not(.tag("a")), .tag("b")]), .and([.tag("c"), .not(.or([.tag("d"), .tag("e")]))])]))
        #expect(parsed.tags == ["a", "b", "c", "d", "e"])
        #expect(try TagExpression(parsing: "a || b && c").root == .or([.tag("a"), .and([.tag("b"), .tag("c")])]))
        #expect(try TagExpression(parsing: "(a || b) && c").root == .and([.or([.tag("a"), .tag("b")]), .tag("c")]))
    }

    @Test(
        "Printing drops parentheses that change nothing, and reads back the same",
        arguments: [
            ("((a))", "a"), ("a&&(b&&c)", "a && (b && c)"), ("(a||b)||c", "(a || b) || c"), ("! ! (a)", "!!a"),
            ("!(a&&b)", "!(a && b)"), ("a||(b&&c)", "a || b && c"), ("\n*\t", "*"),
            ("username:user7 && x@y#z.1-2_3", "username:user7 && x@y#z.1-2_3"),
            ("and && or || not", "and && or || not"),
        ])
    func printing(_ text: String, _ printed: String) throws {
        let expression = try TagExpression(parsing: text)
        #expect(expression.description == printed)
        #expect(try TagExpression(parsing: printed) == expression)
    }

    @Test(
        "What is wrong is said with its place and what would be right",
        arguments: [
            ("", "line 1, column 1: nothing here; expected tags with && || ! and parentheses, or * for everyone"),
            (" \n ", "line 2, column 2: nothing here; expected tags with && || ! and parentheses, or * for everyone"),
            ("a & b", "line 1, column 3: \"&\" alone; expected \"&&\" (and)"),
            ("a &&\n  b | c", "line 2, column 5: \"|\" alone; expected \"||\" (or)"),
            ("a and b", "line 1, column 3: \"and\" as a word; expected && (or another operator before a tag)"),
            ("(a OR b)", "line 1, column 4: \"OR\" as a word; expected || (or another operator before a tag)"),
            ("a && NOT b", "line 1, column 6: \"NOT\" as a word; expected !"),
            ("(a || b", "line 1, column 8: \")\" is missing; the expression's \"(\" at line 1, column 1 is still open"),
            (
                "a && (b ||\n(c) || d",
                "line 2, column 9: \")\" is missing; the expression's \"(\" at line 1, column 6 is still open"
            ),
            ("a || b)", "line 1, column 7: \")\" without a \"(\" before it; expected && || or the end"),
            ("a b", "line 1, column 3: \"b\" without an operator before it; expected && or ||"),
            ("(a) (b)", "line 1, column 5: \"(\" without an operator before it; expected && or ||"),
            ("(a b)", "line 1, column 4: \"b\" without an operator before it; expected && or ||"),
            ("a !b", "line 1, column 3: \"!\" without an operator before it; expected && or ||"),
            ("&& a", "line 1, column 1: \"&&\" at the beginning; expected a tag, ! or ("),
            ("a && || b", "line 1, column 6: \"||\" after \"&&\"; expected a tag, ! or ("),
            ("a ||", "line 1, column 5: the end after \"||\"; expected a tag, ! or ("),
            ("!", "line 1, column 2: the end after \"!\"; expected a tag, ! or ("),
            ("()", "line 1, column 2: \")\" after \"(\"; expected a tag, ! or ("),
            (
                "a = b",
                "line 1, column 3: character '=' that no tag has; "
                    + "expected && || ! ( ) or a tag of letters, digits and _ @ # . : -"
            ),
            (
                "a && \u{1B}[31m",
                "line 1, column 6: character U+001B that no tag has; "
                    + "expected && || ! ( ) or a tag of letters, digits and _ @ # . : -"
            ),
            (
                "ort_München",
                "line 1, column 6: character 'ü' that no tag has; "
                    + "expected && || ! ( ) or a tag of letters, digits and _ @ # . : -"
            ),
            (
                "location_*",
                "line 1, column 10: \"*\" means everyone and stands alone; "
                    + "expected whole tags here (no patterns), everyone without a tag is !tag"
            ),
            (
                "* && !a",
                "line 1, column 1: \"*\" means everyone and stands alone; "
                    + "expected whole tags here (no patterns), everyone without a tag is !tag"
            ),
        ])
    func broken(_ text: String, _ expected: String) {
        #expect(message(text) == "audience, " + expected)
    }

    @Test("A tag has 120 characters at most")
    func longTags() {
        let tag = String(repeating: "a", count: 120)
        #expect(message("b && " + tag, limits: .none) == "no error: b && \(tag)")
        #expect(
            message("b && \(tag)a")
                == "audience, line 1, column 6: a tag of 121 characters; expected at most 120")
    }

    @Test("64 parentheses and negations may be open at once, one more is refused, however many there are")
    func nesting() {
        func nested(_ count: Int) -> String {
            String(repeating: "!(", count: count / 2) + "a" + String(repeating: ")", count: count / 2)
        }
        #expect(message(nested(64)) == "no error: " + String(repeating: "!", count: 32) + "a")
        #expect(
            message(nested(66))
                == "audience, line 1, column 65: nested deeper than 64 parentheses and negations; expected fewer")
        for open in ["(", "!", "!(", "a&&("] {
            let text = String(repeating: open, count: (64 << 10) / open.utf8.count)
            #expect(message(text, limits: .none).contains("nested deeper than 64"))
        }
    }

    @Test("64 KiB are read, one byte more is refused")
    func length() throws {
        let names = Array(repeating: "a", count: 16_384).joined(separator: "&&") + "||b "
        let text = String(names.suffix(64 << 10)).replacing("&&", with: "||", maxReplacements: 1)
        let padded = text + String(repeating: " ", count: (64 << 10) - text.utf8.count)
        #expect(try TagExpression(parsing: padded, limits: .none).mentions.count > 16_000)
        #expect(message(padded + " ") == "audience: an expression of 65537 bytes; expected at most 65536")
    }

    @Test("Notification Hubs' limits hold at their borders, and can be lifted")
    func limits() {
        func joined(_ count: Int, _ by: String) -> String { (1...count).map { "t\($0)" }.joined(separator: by) }
        for (text, most, kind) in [
            (joined(21, "||"), 20, "with only ||"), (joined(11, "&&"), 10, "with only &&"),
            ("t0||" + joined(6, "&&"), 6, "with && and ||"), ("!" + joined(7, "&&"), 6, "with !"),
            ("!" + joined(7, "||"), 6, "with !"),
        ] {
            #expect(
                message(text).hasSuffix(
                    ": \(most + 1) tags; Azure Notification Hubs takes at most \(most) in an expression \(kind)"))
            #expect(message(text, limits: .none).hasPrefix("no error"))
        }
        for text in [joined(20, "||"), joined(10, "&&"), "t0||" + joined(5, "&&"), "!" + joined(6, "&&")] {
            #expect(message(text).hasPrefix("no error"))
        }
        #expect(
            message(joined(22, " && "))
                == "audience, line 1, column 62: 22 tags; "
                + "Azure Notification Hubs takes at most 10 in an expression with only &&")
    }
}
