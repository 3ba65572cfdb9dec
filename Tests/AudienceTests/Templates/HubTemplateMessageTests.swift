import Payloads
import Testing

@testable import Audience

private func message(_ body: String) -> String {
    do throws(AudienceError) {
        let template = try HubTemplate(parsing: body, name: "news.json")
        return "taken, asks for \(template.properties)"
    } catch {
        return error.description
    }
}

/// Broken templates are refused with their place and what would be right.
@Suite("What is wrong with a template is said with its place") struct HubTemplateMessageTests {
    @Test(
        "What is no JSON is refused with its place",
        arguments: [
            ("", "news.json:1:1: expected '{': a template's body is a JSON object; found the end of the text"),
            ("[]", "news.json:1:1: expected '{': a template's body is a JSON object; found '['"),
            (#"{"a":1}}"#, "news.json:1:8: expected nothing after the template's '}'; found '}'"),
            ("{\n \"é\": tru }", "news.json:2:10: expected true; found a space"),
            ("{\n  \"a\":1,\n}", "news.json:3:1: expected a key in quotes; found '}'"),
            (#"{"a" 1}"#, "news.json:1:6: expected ':' after the key \"a\"; found '1'"),
            (#"{"a":1 "b":2}"#, "news.json:1:8: expected ',' or '}'; found '\"'"),
            (#"{"a":[1 2]}"#, "news.json:1:9: expected ',' or ']'; found '2'"),
            (#"{"a":01}"#, "news.json:1:7: a number may not begin with 0"),
            (#"{"a":1.}"#, "news.json:1:8: expected a digit; found '}'"),
            (#"{"a":1,"\u0061":2}"#, "news.json:1:8: the key \"a\" stands twice"),
            (
                #"{"pushload-trace":1}"#,
                "news.json:1:2: the key \"pushload-trace\" is pushload's own: it is added to every payload"
            ),
            (#"{"a":"x"#, "news.json:1:6: this text has no closing quote"),
            (#"{"a":"\x"}"#, #"news.json:1:7: unknown escape; JSON has \" \\ \/ \b \f \n \r \t and \u0000"#),
            (#"{"a":"\u12g4"}"#, #"news.json:1:7: \u takes four hexadecimal digits"#),
            (#"{"a":"\ud800"}"#, "news.json:1:7: a high surrogate without its low one"),
            (#"{"a":"\udc00"}"#, "news.json:1:7: a low surrogate without its high one"),
            ("{\"a\":\"\t\"}", "news.json:1:7: a control character must be escaped in JSON; found character U+0009"),
            (#"{"a":$(b)}"#, "news.json:1:6: expected a JSON value; found '$': an expression stands in quotes"),
            (#"{"a":}"#, "news.json:1:6: expected a JSON value; found '}'"),
            (#"{"a":{{b}}}"#, "news.json:1:7: expected a key in quotes; found '{'"),
        ])
    func whatIs(_ body: String, _ expected: String) {
        #expect(message(body) == expected)
    }

    @Test(
        "A broken expression is refused with its place",
        arguments: [
            ("$()", 3, "expected a property's name after '$('; found ')'"),
            ("$(a b)", 5, "expected ')' after '$(a', or ',' and a length; found 'b'"),
            ("$(a", 4, "expected ')' after '$(a', or ',' and a length; found the end of the text"),
            ("%(a", 4, "expected ')' after '%(a'; found the end of the text"),
            ("$(a,", 5, "expected a whole number of characters after '$(a,'; found the end of the text"),
            ("$(a, -1)", 6, "expected a whole number of characters after '$(a,'; found '-'"),
            ("$(a, 0)", 6, "a length of 0 characters; expected 1 to 1000000"),
            ("$(a, 99999999999999999999999)", 6, "a length of 99999999999999999999 characters; expected 1 to 1000000"),
            ("$(a, 5", 7, "expected ')' after '$(a'; found the end of the text"),
            (".(a)", 1, ".(a) needs the length that it is cut to, as in .(a, 20)"),
            (".(a, 2)", 6, "a length of 2 characters; expected 3 to 1000000, the three dots among them"),
            ("%(a, 5)", 6, "%(a) takes no length; only $(property, n) and .(property, n) do"),
            ("#(a, 5)", 6, "#(a) takes no length; only $(property, n) and .(property, n) do"),
            ("#000000", 1, "a text that begins with # is an expression to the hub: #(property); write {'#000000'}"),
            (
                "$(a) ", 5,
                "text after an expression: it stands alone, or in braces with the text in quotes; write {$(a) + ' '}"
            ),
            // A proposal would have the line feed in it.
            ("$(\\nA)b", 7, "text after an expression: it stands alone, or in braces with the text in quotes"),
            ("$(a) + $(b)", 6, "a concatenation stands in braces, as in {$(a) + ' ' + $(b)}"),
            (
                "Hello, $(a)!", 8,
                "an expression within a text: it stands alone, or in braces with the text in quotes; write {'Hello, ' + $(a) + '!'}"
            ),
            (
                "it's $(a, 5)", 6,
                "an expression within a text: it stands alone, or in braces with the text in quotes; write {\\\"it's \\\" + $(a, 5)}"
            ),
            (
                "{}", 2,
                "expected $(property), .(property, n), %(property), #(property) or a text in quotes; found '}'; write {'{}'}"
            ),
            (
                "{name}", 2,
                "expected $(property), .(property, n), %(property), #(property) or a text in quotes; found 'n'; write {'{name}'}"
            ),
            ("{$(a)", 6, "expected + and another expression, or the closing '}'; found the end of the text"),
            ("{$(a) $(b)}", 7, "expected + and another expression, or the closing '}'; found '$'"),
            (
                "{$(a) + }", 9,
                "expected $(property), .(property, n), %(property), #(property) or a text in quotes; found '}'"
            ),
            ("{'a}", 2, "this text has no closing '"),
            ("{$(a)} b", 7, "expected nothing after the expression's '}'; found a space; text is added with + 'text'"),
            ("{'it''s'}", 6, "expected + and another expression, or the closing '}'; found '''"),
            ("{$(é)}", 4, "expected a property's name after '$('; found 'é'"),
        ])
    func aBroken(_ expression: String, _ column: Int, _ expected: String) {
        #expect(message("{\n\"a\":\"\(expression)\"}") == "news.json:2:\(column + 5): \(expected)")
    }

    @Test("Columns count what is written, escapes too")
    func columnsCount() {
        #expect(
            message(#"{"a":"{\"\u00e9\" + x}"}"#)
                == "news.json:1:21: expected $(property), .(property, n), %(property), #(property) or a text in quotes; found 'x'"
        )
    }

    @Test("A template nested deeper than Payloads takes it is refused")
    func aTemplate() throws {
        func nested(_ depth: Int) -> String {
            "{\"aps\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
        }
        #expect(try HubTemplate(parsing: nested(63), name: "n").profile(PropertyBag()).name == "n")
        #expect(message(nested(64)) == "news.json:1:71: nested deeper than 64 levels")
        #expect(message(nested(60_000)) == "news.json:1:71: nested deeper than 64 levels")
    }

    @Test("A template larger than 64 KiB is refused")
    func aTemplateLarger() {
        #expect(
            message("{\"a\":\"" + String(repeating: "x", count: 65_536) + "\"}")
                == "news.json:1:1: a template of 65544 bytes; at most 65536")
    }

    private func problem(_ body: String, _ flags: String..., pushType: PushType = .alert) throws -> String {
        let template = try HubTemplate(parsing: body, name: "news.json")
        let bag = try PropertyBag(flags: flags)
        do throws(AudienceError) { return try template.payload(bag, pushType: pushType) } catch {
            return error.description
        }
    }

    @Test("A missing property is refused with the nearest name")
    func aMissing() throws {
        #expect(
            try problem(#"{"aps":{"alert":"$(newsTitel)"}}"#, "newsTitle=x", "body=y")
                == "news.json:1:18: the property bag has no \"newsTitel\"; did you mean \"newsTitle\"?")
        #expect(
            try problem(#"{"aps":{"alert":"{'a' + $(city)}","b":"%(street)","c":"$(CITY)"}}"#, "title=x", "body=y")
                == "news.json:1:25: the property bag has no \"city\"; it has title, body; nor has it \"street\"")
        #expect(try problem(#"{"aps":"$(a)"}"#) == "news.json:1:9: the property bag has no \"a\"; it is empty")
    }

    @Test("A number that is none is refused")
    func aNumber() throws {
        let body = ##"{"aps":{"badge":"#(n)"}}"##
        let start = "news.json:1:18: #(n) is no number but "
        let end = ", which the hub would send as a text; expected one as 40 or 1.5e3"
        for text in ["", "abc", "040", "1.", ".5", "1e", "0x10", "NaN", " 1", "1 ", "١"] {
            #expect(try problem(body, "n=\(text)") == start + "\"\(text)\"" + end)
        }
        #expect(try problem(body, "n=-5") == start + "\"-5\"" + end + ", without a sign")
    }

    @Test("A template without aps is refused for what Apple wants it in")
    func aTemplateWithout() throws {
        #expect(
            try problem(#"{"alert":"x"}"#)
                == "news.json: the key \"aps\" is missing; an Apple payload of type alert is {\"aps\": {…}}")
        #expect(try problem(#"{"mdm":"x"}"#, pushType: .mdm) == #"{"mdm":"x"}"#)
    }
}
