/// A kind of push: its payload template and its headers.
public struct Profile: Sendable {
    public let name: String
    public let pushType: PushType
    public let template: PayloadTemplate
    public let priority: Int

    public init(name: String, pushType: PushType, priority: Int? = nil, template: PayloadTemplate) {
        self.name = name
        self.pushType = pushType
        self.priority = priority ?? pushType.defaultPriority
        self.template = template
    }

    /// Its pushes are meant to be seen: alerts, and rich pushes, which are shown once they are fetched.
    public var shows: Bool { pushType == .alert || template.isRichPush }

    /// Its pushes may have content that a device fetches or decrypts.
    public var hasContent: Bool {
        ["content-available", "encrypted-content", "mutable-content", "attachment-url", "richId"].contains(
            where: template.hasKey)
    }

    /// The names of the bundled profiles.
    public static let names = ["alert", "silent", "rich", "rich-push", "live-activity", "voip"]

    /// A bundled profile.
    ///
    /// - Throws: one line with the known names when there is no such profile.
    public static func named(_ name: String, longestToken: Int = SyntheticDevices.tokenLength) throws(PayloadError)
        -> Profile
    {
        guard let (pushType, json) = texts(name) else {
            throw PayloadError("unknown profile \"\(name)\"; known: \(names.joined(separator: ", "))")
        }
        do throws(TemplateError) {
            return Profile(
                name: name, pushType: pushType,
                template: try PayloadTemplate(
                    json: json, name: "profile \(name)", pushType: pushType, longestToken: longestToken))
        } catch {
            throw PayloadError(error.description)
        }
    }

    private static func texts(_ name: String) -> (PushType, String)? {
        switch name {
        case "alert":
            (
                .alert,
                """
                {"aps":{"alert":{"title":"Breaking news","subtitle":"{{tag(1)}}","body":"{{pick(Late goal decides the \
                final|Storm warning for the coast|Markets close higher|Election results are in)}}: story \
                {{random(1,999999)}}. Tap to read more."},"badge":{{random(1,99)}},"sound":"default",\
                "thread-id":"news","interruption-level":"active","relevance-score":0.75},\
                "story":{"id":{{random(1,999999)}},"device":{{device_index}}}}
                """
            )
        case "silent":
            (
                .background,
                """
                {"aps":{"content-available":1},"sync":{"revision":{{random(1,4294967295)}},"at":{{unix_time}}}}
                """
            )
        case "rich":
            (
                .alert,
                """
                {"aps":{"alert":{"title":"New message","body":"You have a new message"},"badge":{{random(1,99)}},\
                "sound":"default","mutable-content":1,"category":"MESSAGE"},\
                "encrypted-content":"{{sealed(120,1200)}}"}
                """
            )
        case "rich-push":
            (
                .background,
                """
                {"aps":{"content-available":1,"sound":""},"richId":"{{notification_id}}","richMessage":"New picture",\
                "richType":"img"}
                """
            )
        case "live-activity":
            (
                .liveactivity,
                """
                {"aps":{"timestamp":{{unix_time}},"event":"update","content-state":{"home":{{random(0,9)}},\
                "away":{{random(0,9)}},"minute":{{random(1,120)}},"scorer":"{{text(3,24)}}"},\
                "stale-date":{{unix_time}},"relevance-score":0.5}}
                """
            )
        case "voip":
            (
                .voip,
                """
                {"aps":{},"call":{"id":"{{run_id}}-{{sequence}}","caller":"{{text(5,40)}}",\
                "has-video":{{random(0,1)}}}}
                """
            )
        default: nil
        }
    }
}
