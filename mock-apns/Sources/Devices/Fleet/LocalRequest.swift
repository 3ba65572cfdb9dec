/// A notification that the app on the device asks for: content, trigger and request identifier.
package struct LocalRequest: Sendable {
    package enum Trigger: Sendable, Equatable {
        /// Nanoseconds from now; repeated ones at least 60 s.
        case interval(UInt64, repeats: Bool)
        case calendar(CalendarTime, repeats: Bool)
        /// Entering or leaving a place, or a beacon's range.
        case region(String, entering: Bool, repeats: Bool)

        var repeats: Bool {
            switch self {
            case .interval(_, let repeats), .calendar(_, let repeats), .region(_, _, let repeats): repeats
            }
        }
    }

    /// 1 to 64 bytes.
    package var identifier: String
    package var title = ""
    package var subtitle = ""
    /// With title and subtitle at most 1,000 bytes.
    package var body: String
    package var category = ""
    package var thread = ""
    package var hasSound = false
    package var badge: Int32?
    package var trigger: Trigger

    package init(identifier: String, body: String, trigger: Trigger) {
        self.identifier = identifier
        self.body = body
        self.trigger = trigger
    }

    static let leastRepeated: UInt64 = 60_000_000_000

    var isUsable: Bool {
        guard (1...64).contains(identifier.utf8.count), thread.utf8.count <= 64, category.utf8.count <= 64,
            title.utf8.count + subtitle.utf8.count + body.utf8.count <= 1000
        else { return false }
        switch trigger {
        case .interval(let time, let repeats): return repeats ? time >= Self.leastRepeated : time > 0
        case .calendar(let time, _): return time.isUsable
        case .region: return true
        }
    }
}

/// A date as the device's clock has it, of which some is given: units before the first that is given are any, those after it the least
/// they can be.
package struct CalendarTime: Sendable, Equatable {
    /// 1 to 12.
    package var month: Int?
    /// 1 to 31.
    package var day: Int?
    /// 1, Sunday, to 7.
    package var weekday: Int?
    package var hour: Int?
    package var minute: Int?
    package var second: Int?

    package init(
        month: Int? = nil, day: Int? = nil, weekday: Int? = nil, hour: Int? = nil, minute: Int? = nil,
        second: Int? = nil
    ) {
        self.month = month
        self.day = day
        self.weekday = weekday
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    var isUsable: Bool {
        func fits(_ value: Int?, _ range: ClosedRange<Int>) -> Bool { value.map(range.contains) ?? true }
        return fits(month, 1...12) && fits(day, 1...31) && fits(weekday, 1...7) && fits(hour, 0...23)
            && fits(minute, 0...59) && fits(second, 0...59)
            && (month ?? day ?? weekday ?? hour ?? minute ?? second) != nil
    }

    /// The next such moment after `time`, seconds since 1970; nil: none within eight years.
    ///
    /// - Parameter offset: seconds that the device's clock is ahead of UTC.
    func next(after time: Int64, offset: Int64) -> Int64? {
        let local = time + offset
        let today = local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
        for ahead in 0...Int64(8 * 366) where matches(day: today + ahead) {
            let day = today + ahead
            // What is any comes first within the day; there are at most 86,400 of them, stepped over by the unit that is given.
            let least = ahead == 0 ? local - day * 86_400 + 1 : 0
            if let found = secondOfDay(from: least) { return day * 86_400 + found - offset }
        }
        return nil
    }

    private func matches(day number: Int64) -> Bool {
        // 1 January 1970 was a Thursday.
        if let weekday, Int((number % 7 + 7 + 4) % 7) + 1 != weekday { return false }
        guard month != nil || day != nil else { return true }
        let date = Self.date(number)
        if let month, date.month != month { return false }
        if let day { return date.day == day }
        // A month alone begins on its first, unless a weekday is asked for.
        return weekday != nil || date.day == 1
    }

    /// The first second of a day, from `least` on, that has what is given.
    private func secondOfDay(from least: Int64) -> Int64? {
        let hasDay = month != nil || day != nil || weekday != nil
        let hours = hour.map { $0...$0 } ?? (hasDay ? 0...0 : 0...23)
        let minutes = minute.map { $0...$0 } ?? (hasDay || hour != nil ? 0...0 : 0...59)
        let seconds = Int64(second ?? 0)
        for hour in hours {
            for minute in minutes {
                let found = Int64(hour * 3600 + minute * 60) + seconds
                if found >= least { return found }
            }
        }
        return nil
    }

    /// Month and day of a day since 1970 (Howard Hinnant's civil_from_days).
    private static func date(_ number: Int64) -> (month: Int, day: Int) {
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        return (Int(month < 10 ? month + 3 : month - 9), Int(ofYear - (153 * month + 2) / 5 + 1))
    }
}
