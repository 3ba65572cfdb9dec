import Payloads
import Settings

/// A registration's body template in the language of Notification Hubs (`TemplateExpression`), checked once.
///
/// Bound to a property bag it is a payload's JSON, in the order it was written, without white space between tokens.
package struct HubTemplate: Sendable {
    package let name: String
    /// The names it asks for, in order, each once, as first spelled.
    package let properties: [String]
    private let pieces: [HubTemplateParser.Piece]
    private let topKeys: Set<String>
    /// The file it was read from, for places.
    private let source: [UInt8]
    /// Most bytes of a body.
    package static let longestBody = 64 * 1024
    /// Rendering ends here, far above what Apple takes: a body can ask for one long property very often.
    private static let longestOutcome = 1 << 20

    /// - Parameters:
    ///   - body: a JSON object with expressions in its texts, at most 64 KiB.
    ///   - name: its file, or the registration that has it, for messages.
    /// - Throws: `name:line:column: …`
    package init(parsing body: String, name: String) throws(AudienceError) {
        var cursor = JSONCursor(body, name: name)
        try self.init(at: &cursor)
        cursor.skipSpace()
        guard cursor.position == cursor.text.count else {
            throw cursor.error("expected nothing after the template's '}'; found \(cursor.found)")
        }
    }

    /// Reads the object where the cursor stands, and moves it on.
    init(at cursor: inout JSONCursor) throws(AudienceError) {
        let start = cursor.position
        var parser = HubTemplateParser(cursor)
        cursor.position = try parser.template()
        guard cursor.position - start <= Self.longestBody else {
            throw cursor.error("a template of \(cursor.position - start) bytes; at most \(Self.longestBody)", at: start)
        }
        self.name = cursor.name
        source = cursor.text
        pieces = parser.pieces
        topKeys = parser.topKeys
        var seen: Set<String> = []
        properties = Self.references(parser.pieces).map(\.name).filter {
            seen.insert(PropertyBag.folded($0)).inserted
        }
    }

    private static func references(_ pieces: [HubTemplateParser.Piece]) -> [PropertyReference] {
        pieces.flatMap { piece -> [PropertyReference] in
            switch piece {
            case .constant: []
            case .number(let reference): [reference]
            case .text(let expression):
                expression.terms.compactMap { if case .property(let reference) = $0 { reference } else { nil } }
            }
        }
    }

    private func error(_ reason: String, at place: Int) -> AudienceError {
        JSONCursor.error(reason, name: name, text: source, at: place)
    }

    // MARK: Bound to a property bag

    /// The payload's JSON without the trace tag, for `PayloadTemplate(json:)`: no `{{` is left in it, so that nothing in it is a hole.
    ///
    /// - Throws: `name:line:column: …` for a property that the bag does not have, where the hub puts an empty text, and for a
    ///   `#(property)` that is no number, where the hub puts a text: a load test of either would send what nobody meant. Also when
    ///   `aps` is missing, or Apple's limit would be passed.
    package func payload(_ bag: PropertyBag, pushType: PushType = .alert) throws(AudienceError) -> String {
        // As PayloadTemplate has it.
        guard pushType == .mdm || topKeys.contains("aps") else {
            throw AudienceError(
                "\(name): the key \"aps\" is missing; an Apple payload of type \(pushType.rawValue) is {\"aps\": {…}}")
        }
        try checkProperties(bag)
        var json: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .constant(let bytes): json += bytes
            case .number(let reference): json += try number(reference, bag).utf8
            case .text(let expression):
                for term in expression.terms {
                    switch term {
                    case .literal(let text): HubText.appendEscaped(text, to: &json)
                    case .property(let reference):
                        HubText.appendEscaped(reference.render(bag[reference.name] ?? ""), to: &json)
                    }
                    if json.count > Self.longestOutcome { break }
                }
            }
            guard json.count <= Self.longestOutcome else {
                throw AudienceError(
                    "\(name): the payload is longer than \(Self.longestOutcome >> 20) MiB; "
                        + "at most \(grouped(pushType.payloadLimit)) bytes")
            }
        }
        try checkSize(json.count, bag, pushType)
        return String(decoding: json, as: UTF8.self)
    }

    /// The payload as what a run sends.
    ///
    /// - Parameter longestToken: digits of the longest device token.
    package func profile(
        _ bag: PropertyBag, name profileName: String? = nil, pushType: PushType = .alert, priority: Int? = nil,
        longestToken: Int = SyntheticDevices.tokenLength
    ) throws(AudienceError) -> Profile {
        let json = try payload(bag, pushType: pushType)
        do throws(TemplateError) {
            let template = try PayloadTemplate(
                json: json, name: profileName ?? name, pushType: pushType, longestToken: longestToken)
            return Profile(name: profileName ?? name, pushType: pushType, priority: priority, template: template)
        } catch {
            throw AudienceError(error.description)
        }
    }

    private func checkProperties(_ bag: PropertyBag) throws(AudienceError) {
        var missing: [PropertyReference] = []
        var seen: Set<String> = []
        for reference in Self.references(pieces) where bag[reference.name] == nil {
            if seen.insert(PropertyBag.folded(reference.name)).inserted { missing.append(reference) }
        }
        guard let first = missing.first else { return }
        let others = missing.dropFirst().prefix(4).map { "\"\($0.name)\"" }.joined(separator: ", ")
        let rest = missing.count > 5 ? " and \(missing.count - 5) more" : ""
        throw error(
            "the property bag has no \"\(first.name)\"" + bag.hint(first.name)
                + (others.isEmpty ? "" : "; nor has it \(others)\(rest)"), at: first.place)
    }

    private func number(_ reference: PropertyReference, _ bag: PropertyBag) throws(AudienceError) -> String {
        let value = bag[reference.name] ?? ""
        if HubText.isNumber(value) { return value }
        let isSigned = (value.hasPrefix("-") || value.hasPrefix("+")) && HubText.isNumber(String(value.dropFirst()))
        throw error(
            "#(\(reference.name)) is no number but \"\(HubText.short(value))\", which the hub would send as a text; expected "
                + "one as 40 or 1.5e3" + (isSigned ? ", without a sign" : ""), at: reference.place)
    }

    private func checkSize(_ count: Int, _ bag: PropertyBag, _ pushType: PushType) throws(AudienceError) {
        let trace = PayloadTemplate.traceOverhead
        guard count + trace > pushType.payloadLimit else { return }
        let longest = Self.references(pieces).max {
            (bag[$0.name] ?? "").utf8.count < (bag[$1.name] ?? "").utf8.count
        }
        let advice = longest.map {
            "; its longest property is \"\($0.name)\" with \(grouped((bag[$0.name] ?? "").utf8.count)) bytes"
        }
        throw AudienceError(
            "\(name): the payload has \(grouped(count + trace)) bytes, \(trace) of them for the trace tag; "
                + "type \(pushType.rawValue) takes at most \(grouped(pushType.payloadLimit))\(advice ?? "")")
    }

    private func grouped(_ count: Int) -> String { Units.grouped(UInt64(max(0, count))) }
}
