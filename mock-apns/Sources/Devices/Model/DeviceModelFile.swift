import Settings

/// Reads a device model from YAML (docs/devices.md). What a file does not say is as in the bundled model.
package enum DeviceModelFile {
    /// - Parameters:
    ///   - name: `on`, the bundled model, or a file.
    ///   - orPipe: false where somebody else is to read it too.
    /// - Throws: `file:line:column: …`
    package static func named(_ name: String, orPipe: Bool = true) throws(SettingsError) -> DeviceModel {
        if name == "on" { return DeviceModel() }
        guard !["on", "off", "yes", "no", "true", "false"].contains(name.lowercased()) else {
            throw SettingsError("\"\(name)\": expected on, or a file")
        }
        return try parse(try FileContents.text(name, "device model", limit: 16 << 20, orPipe: orPipe), file: name)
    }

    package static func parse(_ text: String, file: String) throws(SettingsError) -> DeviceModel {
        let value = try YAMLValue(parsing: text, file: file)
        let model = try changed(value, DeviceModel(), readModel)
        // Where the curve is highest no more than all devices can be unlocked.
        let peak = model.hours.max()! / model.hours.reduce(0, +) * 24
        guard model.unlocked.share * peak <= 1.000_000_1 else {
            throw value.error(
                "unlocked.share times the highest of \"hours\" is more than 100% of the devices; expected at most a share of "
                    + "\((1000 / peak).rounded(.down) / 10)%")
        }
        return model
    }

    private static func readModel(_ model: inout DeviceModel, _ map: inout YAMLMap) throws(SettingsError) {
        if let shares = map.take("platforms") {
            model.platforms = try choices(shares) { (name) throws(SettingsError) in
                try name.reading { (text) throws(SettingsError) in
                    try named(text, DeviceModel.Platform.allCases, "platform")
                }
            }
        }
        if let share = map.take("development") { model.development = try share.share() }
        if let offsets = map.take("utc_offsets") { model.utcOffsets = try choices(offsets, utcOffset) }
        if let time = map.take("rhythm") { model.rhythm = try duration(time, 0, 12 * hour) }
        if let curve = map.take("hours") { model.hours = try hours(curve) }
        if let spell = map.take("online") { model.online = try self.spell(spell, model.online) }
        if let spell = map.take("unlocked") { model.unlocked = try self.spell(spell, model.unlocked) }
        if let spell = map.take("foreground") { model.foreground = try self.spell(spell, model.foreground) }
        if let spell = map.take("running") { model.running = try self.spell(spell, model.running) }
        if let levels = map.take("authorization") {
            model.authorization = try authorization(levels, model.authorization)
        }
        if let options = map.take("will_present") { model.willPresent = try presentation(options) }
        if let silent = map.take("silent") { model.silent = try self.silent(silent, model.silent) }
        if let ending = map.take("service_extension") {
            model.serviceExtension = try serviceExtension(ending, model.serviceExtension)
        }
        if let reaction = map.take("reaction") {
            model.reaction = try changed(reaction, model.reaction, readReaction)
            try check(model.reaction, [], reaction)
        }
        if let list = map.take("categories") { model.categories = try categories(list, model.reaction) }
    }

    private static let hour = DeviceModel.Authorization.hour

    /// What a map says of `old`; what it does not say stays, and a key that nobody takes is an error.
    private static func changed<Value>(
        _ value: YAMLValue, _ old: Value, _ read: (inout Value, inout YAMLMap) throws(SettingsError) -> Void
    ) throws(SettingsError) -> Value {
        var changed = old
        var map = try value.map()
        try read(&changed, &map)
        try map.finish()
        return changed
    }

    // MARK: Traits

    private static func named<Value: RawRepresentable<String>>(
        _ text: String, _ all: [Value], _ what: String
    ) throws(SettingsError) -> Value {
        guard let found = Value(rawValue: text) else {
            throw SettingsError("\"\(text)\" is no \(what)" + NearestName.hint(text, among: all.map(\.rawValue)))
        }
        return found
    }

    /// `{phone: 90%, watch: 10%}`, which add up to 100 %.
    private static func choices<Value: Sendable & Equatable>(
        _ value: YAMLValue, _ read: (YAMLValue) throws(SettingsError) -> Value
    ) throws(SettingsError) -> [DeviceModel.Choice<Value>] {
        var found: [DeviceModel.Choice<Value>] = []
        for entry in try value.map().entries {
            let name = try read(entry.key)
            guard !found.contains(where: { $0.value == name }) else {
                throw entry.key.error("\"\(entry.name)\" is given twice")
            }
            found.append(.init(value: name, share: try entry.value.share()))
        }
        let sum = found.reduce(0) { $0 + $1.share }
        guard abs(sum - 1) < 1e-6 else {
            throw value.error("the shares add up to \(percent(sum)); expected 100%")
        }
        return found
    }

    private static func percent(_ share: Double) -> String { "\((share * 1000).rounded() / 10)%" }

    private static func utcOffset(_ value: YAMLValue) throws(SettingsError) -> Int {
        let text = try value.text()
        guard let hours = Int(text), (-12...14).contains(hours) else {
            throw value.error("\"\(text)\" is no offset from UTC; expected whole hours from -12 to 14")
        }
        return hours
    }

    private static func duration(
        _ value: YAMLValue, _ least: UInt64, _ most: UInt64
    ) throws(SettingsError) -> UInt64 {
        let time = try value.duration()
        guard (least...most).contains(time) else {
            let limit = least > 0 ? "\(written(least)) to \(written(most))" : "at most \(written(most))"
            throw value.error("\(written(time)): expected \(limit)")
        }
        return time
    }

    /// Whole hours as such, anything else in seconds or less.
    private static func written(_ time: UInt64) -> String {
        time > 0 && time % hour == 0 ? "\(time / hour)h" : Units.written(duration: time)
    }

    private static func hours(_ value: YAMLValue) throws(SettingsError) -> [Double] {
        let items = try value.list()
        guard items.count == 24 else {
            throw value.error("\(Units.counted(items.count, "number")); expected 24, one an hour from midnight")
        }
        var found: [Double] = []
        for item in items {
            let text = try item.text()
            guard let number = Double(text), number >= 0, number <= 1e6 else {
                throw item.error("\"\(text)\": expected a number from 0 to 1,000,000")
            }
            found.append(number)
        }
        guard found.contains(where: { $0 > 0 }) else { throw value.error("all are 0; expected at least one above") }
        return found
    }

    private static func spell(
        _ value: YAMLValue, _ old: DeviceModel.Spell
    ) throws(SettingsError) -> DeviceModel.Spell {
        try changed(value, old) { (spell, map) throws(SettingsError) in
            if let share = map.take("share") { spell.share = try share.share() }
            if let time = map.take("dwell") { spell.dwell = try duration(time, 1_000_000_000, 8760 * hour) }
        }
    }

    private static func authorization(
        _ value: YAMLValue, _ old: DeviceModel.Authorization
    ) throws(SettingsError) -> DeviceModel.Authorization {
        try changed(value, old) { (levels, map) throws(SettingsError) in
            if let share = map.take("never_asked") { levels.neverAsked = try share.share() }
            if let share = map.take("alert") { levels.alert = try share.share() }
            if let share = map.take("sound") { levels.sound = try share.share() }
            if let share = map.take("badge") { levels.badge = try share.share() }
            if let change = map.take("changed") { levels = try changed(change, levels, readChange) }
        }
    }

    private static func readChange(
        _ levels: inout DeviceModel.Authorization, _ map: inout YAMLMap
    ) throws(SettingsError) {
        levels.changed = try map.need("share").share()
        if let time = map.take("within") { levels.changedWithin = try duration(time, 1_000_000_000, 8760 * hour) }
    }

    // MARK: The app and its users

    /// `none`, or a list of what is presented.
    private static func presentation(_ value: YAMLValue) throws(SettingsError) -> Presentation {
        if !value.isList, try value.text() == "none" { return [] }
        var options: Presentation = []
        for item in try value.oneOrMore() {
            let text = try item.text()
            guard let option = Presentation.names.first(where: { $0.0 == text })?.1 else {
                throw item.error(
                    "\"\(text)\" cannot be presented"
                        + NearestName.hint(text, among: Presentation.names.map(\.0) + ["none"]))
            }
            options.insert(option)
        }
        return options
    }

    private static func silent(
        _ value: YAMLValue, _ old: DeviceModel.Silent
    ) throws(SettingsError) -> DeviceModel.Silent {
        try changed(value, old) { (silent, map) throws(SettingsError) in
            if let limit = map.take("per_hour") { silent.perHour = try perHour(limit) }
            if let share = map.take("fetches") { silent.fetches = try share.share() }
            if let path = map.take("path") { silent.path = try path.reading(requestPath) }
        }
    }

    private static func perHour(_ limit: YAMLValue) throws(SettingsError) -> Int? {
        if try limit.text() == "unlimited" { return nil }
        let text = try limit.text()
        guard let count = try? Units.count(text), count <= 10_000 else {
            throw limit.error("\"\(text)\": expected 0 to 10,000, or unlimited")
        }
        return Int(count)
    }

    private static func requestPath(_ text: String) throws(SettingsError) -> String {
        guard text.hasPrefix("/"), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), text.utf8.count <= 1000 else {
            throw SettingsError("\"\(text)\" is no path of a request; expected for example /api/content")
        }
        return text
    }

    private static func serviceExtension(
        _ value: YAMLValue, _ old: DeviceModel.Extension
    ) throws(SettingsError) -> DeviceModel.Extension {
        try changed(value, old) { (found, map) throws(SettingsError) in
            if let time = map.take("time") { found.time = try logNormal(time, old.time) }
            if let share = map.take("crashes") { found.crashes = try share.share() }
            if let share = map.take("best_attempt") { found.bestAttempt = try share.share() }
        }
    }

    private static func logNormal(
        _ value: YAMLValue, _ old: DeviceModel.LogNormal
    ) throws(SettingsError) -> DeviceModel.LogNormal {
        try changed(value, old) { (time, map) throws(SettingsError) in
            if let median = map.take("median") { time.median = try duration(median, 0, 8760 * hour) }
            if let sigma = map.take("sigma") { time.sigma = try deviation(sigma) }
        }
    }

    private static func deviation(_ value: YAMLValue) throws(SettingsError) -> Double {
        let text = try value.text()
        guard let number = Double(text), number >= 0, number <= 10 else {
            throw value.error("\"\(text)\": expected a number from 0 to 10, the logarithm's standard deviation")
        }
        return number
    }

    private static func readReaction(
        _ reaction: inout DeviceModel.Reaction, _ map: inout YAMLMap
    ) throws(SettingsError) {
        if let share = map.take("opens") { reaction.opens = try share.share() }
        if let share = map.take("dismisses") { reaction.dismisses = try share.share() }
        if let delay = map.take("delay") { reaction.delay = try logNormal(delay, reaction.delay) }
    }

    private static func check(
        _ reaction: DeviceModel.Reaction, _ actions: [DeviceModel.Action], _ value: YAMLValue
    ) throws(SettingsError) {
        let sum = actions.reduce(reaction.opens + reaction.dismisses) { $0 + $1.share }
        guard sum <= 1.000_000_1 else {
            throw value.error("opening, dismissing and actions add up to \(percent(sum)); expected at most 100%")
        }
    }

    /// The app registers all its categories at once: a file that names some has no others.
    private static func categories(
        _ value: YAMLValue, _ usual: DeviceModel.Reaction
    ) throws(SettingsError) -> [DeviceModel.Category] {
        var found: [DeviceModel.Category] = []
        for entry in try value.map().entries {
            let plain = DeviceModel.Category(
                identifier: entry.name, reaction: usual, hasDismissAction: false, actions: [])
            let category = try changed(entry.value, plain) { (category, map) throws(SettingsError) in
                try readReaction(&category.reaction, &map)
                category.hasDismissAction = try map.take("dismiss_action")?.flag() ?? false
                if let list = map.take("actions") { category.actions = try actions(list) }
            }
            try check(category.reaction, category.actions, entry.value)
            found.append(category)
        }
        guard found.count <= DeviceModel.mostCategories else {
            throw value.error("\(found.count) categories; expected at most \(DeviceModel.mostCategories)")
        }
        return found
    }

    private static func actions(_ list: YAMLValue) throws(SettingsError) -> [DeviceModel.Action] {
        var actions: [DeviceModel.Action] = []
        for action in try list.map().entries { actions.append(try self.action(action.name, action.value)) }
        guard actions.count <= DeviceModel.mostActions else {
            throw list.error("\(actions.count) actions; expected at most \(DeviceModel.mostActions)")
        }
        return actions
    }

    private static func action(
        _ identifier: String, _ value: YAMLValue
    ) throws(SettingsError) -> DeviceModel.Action {
        var map = try value.map()
        let effect = try map.need("does").reading { (text) throws(SettingsError) in
            try named(text, DeviceModel.Action.Effect.allCases, "kind of action")
        }
        let share = try map.need("share").share()
        let needsUnlock = try map.take("unlock")?.flag() ?? false
        let text = map.take("text")
        if let text, effect != .text { throw text.error("only an action that does text has one") }
        let typed = try text?.text() ?? ""
        try map.finish()
        return .init(
            identifier: identifier, share: share, effect: effect, needsUnlock: needsUnlock || effect == .foreground,
            text: typed)
    }
}
