import Glibc

/// What one row says, read from the mapped file. Every place that the index gives is checked against the file's size first, so that
/// a damaged one gives wrong text at worst.
extension Registrations {
    @inline(__always)
    private func place(_ places: UnsafeBufferPointer<UInt64>, _ row: UInt32) -> UnsafeBufferPointer<UInt8> {
        guard Int(row) < places.count else { return .init(start: nil, count: 0) }
        let place = places[Int(row)]
        let start = IndexPlace.start(place)
        let length = IndexPlace.length(place)
        guard start + length <= file.size else { return .init(start: nil, count: 0) }
        return UnsafeBufferPointer(start: file.base + start, count: length)
    }

    /// Writes the token's digits; returns how many (at most `longestToken`). Hot: one number of a column, then a copy.
    @inline(__always)
    package func writeToken(_ row: UInt32, into output: UnsafeMutablePointer<UInt8>) -> Int {
        let digits = place(tokens, row)
        guard let base = digits.baseAddress else { return 0 }
        let length = min(digits.count, index.longestToken)
        memcpy(output, base, length)
        return length
    }

    /// The token as text.
    package func token(_ row: UInt32) -> String { String(decoding: place(tokens, row), as: UTF8.self) }

    /// The user; nil when the row names none.
    package func user(_ row: UInt32) -> String? {
        let bytes = place(users, row)
        return bytes.isEmpty ? nil : String(decoding: withoutEscapes(bytes) ?? Array(bytes), as: UTF8.self)
    }

    // MARK: Templates

    /// `file:line:column` of a row's template, for messages: the file is read up to it.
    package func templatePlace(_ row: UInt32) -> String {
        guard let reader = try? RegistrationReader(file) else { return path }
        for _ in 0...row {
            guard (try? reader.next()) == true else { return path }
        }
        return reader.place(reader.fields[.template].start)
    }

    /// What is wrong with the first row that has a template of its own which is none.
    package var templateProblem: AudienceError? {
        let wrong = templates.compactMap { template -> (row: UInt32, template: String)? in
            let use = TemplateUse(template, registration: "")
            guard use.isBody, (try? HubTemplate(parsing: template, name: "")) == nil,
                let row = rows(template: template)?.first
            else { return nil }
            return (row, template)
        }
        guard let first = wrong.min(by: { $0.row < $1.row }) else { return nil }
        do throws(AudienceError) {
            _ = try HubTemplate(parsing: first.template, name: "\(templatePlace(first.row)): template")
            return nil
        } catch { return error }
    }

    // MARK: Tags

    /// Every tag of a row in the file's order, and last `username:` with its user, where it is not among them.
    package func tags(_ row: UInt32) -> [String] {
        var tags: [String] = []
        forEachTag(row) {
            tags.append(String(decoding: $0, as: UTF8.self))
            return true
        }
        return tags
    }

    /// Writes tag `number` of a row, counted from 0, of at most 120 bytes; returns its length, 0 when the row has fewer.
    package func writeTag(_ row: UInt32, _ number: Int, into output: UnsafeMutablePointer<UInt8>) -> Int {
        var length = 0
        var current = 0
        forEachTag(row) { tag in
            if current == number, let base = tag.baseAddress {
                length = min(tag.count, RegistrationRules.longestTag)
                memcpy(output, base, length)
            }
            current += 1
            return current <= number
        }
        return length
    }

    /// Whether a row has a tag.
    func has(_ row: UInt32, _ tag: UnsafeBufferPointer<UInt8>) -> Bool {
        var isThere = false
        forEachTag(row) {
            isThere = $0.count == tag.count && memcmp($0.baseAddress!, tag.baseAddress!, tag.count) == 0
            return !isThere
        }
        return isThere
    }

    /// A tag or a user of NDJSON without its escapes; nil when it has none, as tags have no backslash themselves.
    private func withoutEscapes(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard let base = bytes.baseAddress, memchr(base, 0x5C, bytes.count) != nil else { return nil }
        return JSONText.read(base, bytes.count)
    }

    /// - Parameter body: takes a tag, never an empty one; false to stop.
    private func forEachTag(_ row: UInt32, _ body: (UnsafeBufferPointer<UInt8>) -> Bool) {
        let user = place(users, row)
        guard let plain = withoutEscapes(user) else { return forEachTag(row, user: user, body) }
        plain.withUnsafeBufferPointer { forEachTag(row, user: $0, body) }
    }

    private func forEachTag(
        _ row: UInt32, user: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Bool
    ) {
        let isCSV = index.format == .csv
        var isUserThere = user.isEmpty
        let field = place(tagPlaces, row)
        if let base = field.baseAddress {
            var at = 0
            while at < field.count {
                // In NDJSON a tag begins behind a quote; in CSV at once.
                if !isCSV {
                    while at < field.count, base[at] != 0x22 { at += 1 }
                    at += 1
                }
                var end = at
                while end < field.count, base[end] != (isCSV ? 0x3B : 0x22) { end += 1 }
                guard end > at else { break }
                func take(_ tag: UnsafeBufferPointer<UInt8>) -> Bool {
                    if !isUserThere { isUserThere = isUserTag(tag, user) }
                    return body(tag)
                }
                let tag = UnsafeBufferPointer(start: base + at, count: end - at)
                let goesOn = withoutEscapes(tag).map { $0.withUnsafeBufferPointer(take) } ?? take(tag)
                if !goesOn { return }
                at = end + 1
            }
        }
        guard !isUserThere, user.count <= RegistrationRules.longestUser else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: RegistrationRules.longestTag) { tag in
            let prefix = RegistrationRules.userPrefix.utf8CodeUnitCount
            memcpy(tag.baseAddress!, RegistrationRules.userPrefix.utf8Start, prefix)
            memcpy(tag.baseAddress! + prefix, user.baseAddress!, user.count)
            _ = body(UnsafeBufferPointer(start: tag.baseAddress!, count: prefix + user.count))
        }
    }

    private func isUserTag(_ tag: UnsafeBufferPointer<UInt8>, _ user: UnsafeBufferPointer<UInt8>) -> Bool {
        let prefix = RegistrationRules.userPrefix.utf8CodeUnitCount
        return tag.count == prefix + user.count && TagName.isUser(tag.baseAddress!, tag.count)
            && memcmp(tag.baseAddress! + prefix, user.baseAddress!, user.count) == 0
    }

    /// Rows of a tag without a bitmap: those of its hash that have it.
    func pairedRows(_ tag: String) -> [UInt32] {
        var tag = tag
        return tag.withUTF8 { tag in
            guard let base = tag.baseAddress, tag.count > 0, tag.count <= RegistrationRules.longestTag else {
                return []
            }
            let pairs = index.numbers(.tagPairs, as: UInt64.self)
            var found: [UInt32] = []
            for at in NumberPairs.range(pairs, key: TagName.key(ByteHash.of(base, tag.count))) {
                let row = NumberPairs.row(pairs[at])
                // A row whose tag stands twice is there twice.
                if row < rows, found.last != row, has(row, tag) { found.append(row) }
            }
            return found
        }
    }

    // MARK: Devices

    /// The rows of a token, ascending; its letters may be large or small.
    package func rows(token: String) -> [UInt32] { Self.rows(index, file, token: token) }

    static func rows(_ index: RegistrationIndex, _ file: MappedFile, token: String) -> [UInt32] {
        var token = token
        return token.withUTF8 { token in
            guard let base = token.baseAddress, token.count <= RegistrationRules.longestToken else { return [] }
            let pairs = index.numbers(.tokenPairs, as: UInt64.self)
            let tokens = index.numbers(.tokens, as: UInt64.self)
            var found: [UInt32] = []
            for at in NumberPairs.range(pairs, key: TokenGroups.hash(base, token.count)) {
                let row = NumberPairs.row(pairs[at])
                guard row < index.rows else { continue }
                let place = tokens[Int(row)]
                let start = IndexPlace.start(place)
                let length = IndexPlace.length(place)
                guard start + length <= file.size,
                    TokenGroups.order(base, token.count, file.base + start, length) == 0
                else { continue }
                found.append(row)
            }
            return found
        }
    }

    /// How many tokens several rows have.
    package var devicesWithSeveral: UInt64 {
        // Groups are numbered from 0, and sorted.
        index.numbers(.groups, as: UInt64.self).last.map { UInt64(NumberPairs.key($0)) + 1 } ?? 0
    }

    /// How many different tokens some rows have: exact. A bit for every row of the file while it counts.
    package func devices(in set: RowSet) -> UInt64 {
        let groups = index.numbers(.groups, as: UInt64.self)
        guard !groups.isEmpty else { return set.count }
        let selection = set.selection(of: rows)
        var again: UInt64 = 0
        var group: UInt32?
        for pair in groups where selection.contains(NumberPairs.row(pair)) {
            if group == NumberPairs.key(pair) { again += 1 } else { group = NumberPairs.key(pair) }
        }
        return set.count &- again
    }
}
