import Foundation
import Payloads
import Settings
import Testing

@testable import Audience

/// The payload of a template, with properties as `name=value`.
private func payload(_ body: String, _ flags: String..., pushType: PushType = .alert) throws -> String {
    try HubTemplate(parsing: body, name: "news").payload(PropertyBag(flags: flags), pushType: pushType)
}

/// What becomes of one text of a template.
private func text(_ expression: String, _ flags: String...) throws -> String {
    let body = "{\"aps\":{},\"x\":\(String(decoding: try JSONEncoder().encode([expression]), as: UTF8.self))}"
    let json = try HubTemplate(parsing: body, name: "news").payload(PropertyBag(flags: flags))
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    return try #require((object?["x"] as? [String])?.first)
}

/// The templates of Notification Hubs become payloads.
@Suite("Templates become what Notification Hubs makes of them") struct HubTemplateTests {
    @Test("A reference becomes the property's text")
    func aReference() throws {
        #expect(try payload(#"{"aps":{"alert":"$(newsTitle)"}}"#, "newsTitle=Rain") == #"{"aps":{"alert":"Rain"}}"#)
    }

    @Test("The case of a property's name makes no difference")
    func theCase() throws {
        #expect(try text("$(NEWSTITLE)", "newsTitle=Rain") == "Rain")
    }

    @Test(
        "An expression becomes what the documentation says",
        arguments: [
            ("$(t)", "abcdef", "abcdef"), ("$(t, 3)", "abcdef", "abc"), ("$(t,6)", "abcdef", "abcdef"),
            ("$( t , 100 )", "abcdef", "abcdef"), (".(t, 5)", "abcdef", "ab..."), (".(t, 6)", "abcdef", "abcdef"),
            (".(t, 3)", "abcdef", "..."), (".(title, 20)", "This is the title line", "This is the title..."),
            ("%(t)", "a b/ü~-._€😀", "a%20b%2F%C3%BC~-._%E2%82%AC%F0%9F%98%80"), ("{#(t)}", "12", "12"),
            ("{#(t)}", "x", "x"),
            ("{'Hi, ' + $(t)}", "you", "Hi, you"), ("{\"it's \" + $(t)}", "you", "it's you"),
            ("{'say \"' + $(t)+'\"'}", "a", "say \"a\""),
            ("{$(t) + ' ' + %(t)}", "ü", "ü %C3%BC"), ("{ 'text' }", "", "text"), ("{''+\"\"}", "", ""),
            ("{'$(t) + }'}", "", "$(t) + }"), ("{$(t,2)+.(t,4)}", "abcdef", "aba..."), ("$(t)", "", ""),
            (".(t,9)", "", ""),
        ])
    func anExpression(_ expression: String, _ value: String, _ outcome: String)
        throws
    {
        let name = expression.contains("title") ? "title" : "t"
        #expect(try text(expression, "\(name)=\(value)") == outcome)
    }

    @Test("Characters are UTF-16 code units and no pair is cut in half")
    func charactersAre() throws {
        #expect(try text("$(t, 2)", "t=a😀b") == "a")
        #expect(try text("$(t, 3)", "t=a😀b") == "a😀")
        #expect(try text(".(t, 4)", "t=😀😀b") == "...")
        #expect(try text(".(t, 5)", "t=😀😀b") == "😀😀b")
        #expect(try text("$(t, 1)", "t=e\u{301}") == "e")
    }

    @Test("A number stands without quotes as it is spelled")
    func aNumber() throws {
        for number in ["0", "40", "1.50", "1e3", "2.5E-10", "10e+2", "123456789012345678901234567890"] {
            #expect(try payload(##"{"aps":{"badge":"#(n)"}}"##, "n=\(number)") == #"{"aps":{"badge":\#(number)}}"#)
        }
    }

    @Test("JSON keeps its order and spelling, without white space between tokens")
    func jsonKeeps() throws {
        let body = """
            { "z" : [ 1 , -0.5e+3 , true , false , null , { } , [ ] ] ,\r\n\t"aps" : { "alert" : "a \\u00e9 \\/ b" , "badge" : 0 } , "a" : "" }

            """
        #expect(
            try payload(body)
                == #"{"z":[1,-0.5e+3,true,false,null,{},[]],"aps":{"alert":"a \u00e9 \/ b","badge":0},"a":""}"#)
    }

    @Test("Expressions stand in arrays and inner objects, not in keys")
    func expressionsStand() throws {
        let body = ##"{"aps":{"alert":{"loc-args":["$(a)",["#(b)"],{"$(a)":"{'<' + $(a) + '>'}"}]}}}"##
        #expect(
            try payload(body, "a=x", "b=7") == ##"{"aps":{"alert":{"loc-args":["x",[7],{"$(a)":"<x>"}]}}}"##)
    }

    @Test("Texts that only look a little like expressions stay")
    func textsThat() throws {
        for constant in ["costs $5", "$5 off", "...and more", "50% (about)", ".5", "a {brace}", "a.(b)", "x %( y"] {
            #expect(try text(constant) == constant)
        }
    }

    @Test("Values are escaped as JSON asks")
    func valuesAre() throws {
        let value = "\"\\/\u{8}\t\n\u{c}\r\u{0}\u{1f}\u{7f}\u{2028}é😀"
        #expect(try text("$(t)", "t=\(value)") == value)
        #expect(try payload(#"{"aps":"$(t)"}"#, "t=\"\\\n\u{1}") == #"{"aps":"\"\\\n\u0001"}"#)
    }

    @Test("An expression may be written with JSON's escapes")
    func anExpressionMay() throws {
        #expect(
            try payload(#"{"aps":"\u0024(\u0074)","\u0061":"{\"it's \" + $(t)}"}"#, "t=x")
                == #"{"aps":"x","a":"it's x"}"#)
    }

    @Test("Two braces are no hole of Payloads, wherever they come from")
    func twoBraces() throws {
        let body = #"{"aps":{"alert":"$(t)"},"{{k}}":"a {{run_id}} {{{","l":"{'{' + '{run_id}}'}","m":"{'{'+$(t)}"}"#
        let template = try HubTemplate(parsing: body, name: "news")
        let bag = try PropertyBag(flags: ["t={{device_token}} {{{{"])
        let json = try template.payload(bag)
        #expect(!json.contains("{{"))
        let profile = try template.profile(bag)
        #expect(
            profile.template.minimumSize == json.utf8.count + PayloadTemplate.traceOverhead - TraceTag.capacity + 18)
        #expect(profile.template.maximumSize == json.utf8.count + PayloadTemplate.traceOverhead)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect((object["aps"] as? [String: String])?["alert"] == "{{device_token}} {{{{")
        #expect(object["{{k}}"] as? String == "a {{run_id}} {{{")
        #expect(object["l"] as? String == "{{run_id}}")
        #expect(object["m"] as? String == "{{{device_token}} {{{{")
    }

    @Test("A template tells the properties it asks for, each once")
    func aTemplate() throws {
        let body = ##"{"aps":{"a":"$(One)","b":"{$(two) + 'x' + %(ONE)}","badge":"#(n)","c":"$(three)"}}"##
        #expect(try HubTemplate(parsing: body, name: "news").properties == ["One", "two", "n", "three"])
    }

    @Test(
        "A payload as large as Apple takes fits with its trace tag, one byte more does not",
        arguments: [(PushType.alert, 4096), (.background, 4096), (.voip, 5120)])
    func aPayload(
        _ type: PushType, _ limit: Int
    ) throws {
        let template = try HubTemplate(parsing: #"{"aps":{"alert":"$(t)"}}"#, name: "news.json")
        let free = limit - PayloadTemplate.traceOverhead - #"{"aps":{"alert":""}}"#.utf8.count
        let fits = try PropertyBag(flags: ["t=" + String(repeating: "é", count: free / 2) + (free % 2 == 1 ? "x" : "")])
        #expect(try template.profile(fits, pushType: type).template.maximumSize == limit)
        let tooLarge = try PropertyBag(flags: ["t=" + String(repeating: "x", count: free + 1)])
        let shown = limit == 4096 ? ("4,097", "4,096") : ("5,121", "5,120")
        #expect(
            throws: AudienceError(
                "news.json: the payload has \(shown.0) bytes, \(PayloadTemplate.traceOverhead) of them for the trace tag; type "
                    + "\(type.rawValue) takes at most \(shown.1); its longest property is \"t\" with "
                    + "\(Units.grouped(UInt64(free + 1))) bytes")
        ) { try template.payload(tooLarge, pushType: type) }
    }

    @Test("A body that asks for a long property very often ends in time")
    func aBody() throws {
        let items = Array(repeating: "\"$(t)\"", count: 9000).joined(separator: ",")
        let template = try HubTemplate(parsing: "{\"aps\":[\(items)]}", name: "n")
        let bag = try PropertyBag(flags: ["t=" + String(repeating: "x", count: 60_000)])
        #expect(throws: AudienceError("n: the payload is longer than 1 MiB; at most 4,096 bytes")) {
            try template.payload(bag)
        }
    }
}
