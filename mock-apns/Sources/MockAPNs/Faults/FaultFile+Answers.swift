import Settings

/// Raw answers in a fault file.
extension FaultFile {
    /// A status, or a map.
    static func answer(_ value: YAMLValue) throws(SettingsError) -> RawAnswer {
        guard value.isMap else { return RawAnswer(status: try status(value)) }
        var map = try value.map()
        var answer = RawAnswer(status: try status(try map.need("status")))
        if let headers = map.take("headers") { answer.headers = try fields(headers) }
        if let trailers = map.take("trailers") { answer.trailers = try fields(trailers) }
        if let body = map.take("body") {
            answer.body = Array(try body.text().utf8)
            guard answer.body.count <= RawAnswer.mostBodyBytes else {
                throw body.error("expected at most \(RawAnswer.mostBodyBytes) bytes")
            }
        }
        if let rate = map.take("body_rate") {
            answer.bodyRate = try rate.reading(Units.bandwidth)
            guard answer.bodyRate! > 0 else { throw rate.error("expected more than 0 bytes a second") }
        }
        if let ending = map.take("end") { answer.ending = try choice(ending, "an end of an answer") }
        if let identifier = map.take("apns_id") { answer.hasIdentifier = try identifier.flag() }
        if let late = map.take("after_reset") { answer.isAfterReset = try late.flag() }
        try map.finish()
        if answer.isAfterReset, !answer.trailers.isEmpty || answer.ending != .stream || answer.bodyRate != nil {
            throw value.error(
                "\"after_reset\" is answered in one piece; expected no trailers, body_rate or end beside it")
        }
        if answer.isAfterReset, answer.body.count > RawAnswer.mostLateBytes {
            throw value.error(
                "\(answer.body.count) bytes of body; expected at most \(RawAnswer.mostLateBytes) with \"after_reset\", one frame"
            )
        }
        if !answer.trailers.isEmpty, answer.ending != .stream {
            throw value.error("trailers end the answer; expected no \"end\" beside them")
        }
        return answer
    }

    private static func status(_ value: YAMLValue) throws(SettingsError) -> Int {
        let text = try value.text()
        guard let status = Int(text), RawAnswer.statuses.contains(status) else {
            throw value.error(
                "\"\(text)\" is not a status; expected \(RawAnswer.statuses.lowerBound) to \(RawAnswer.statuses.upperBound)"
            )
        }
        return status
    }

    private static func fields(_ value: YAMLValue) throws(SettingsError) -> [RawAnswer.Field] {
        var fields: [RawAnswer.Field] = []
        for entry in try value.map().entries {
            guard isName(entry.name) else {
                throw entry.key.error(
                    "\"\(entry.name)\" is not a header's name in HTTP/2; expected lower case, as in retry-after")
            }
            let text = try entry.value.text()
            guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw entry.value.error("expected a header's value without line ends and other control characters")
            }
            fields.append(.init(entry.name, text))
        }
        let size = fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size <= RawAnswer.mostHeaderBytes else {
            throw value.error(
                "\(size) bytes of headers, with 4 for each; expected at most \(RawAnswer.mostHeaderBytes)")
        }
        return fields
    }

    /// RFC 9110 section 5.1, in lower case (RFC 9113 section 8.2.1).
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy(isNameByte)
    }

    static func isNameByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}
