import Payloads
import Settings

/// The templates that a run is given, by name; registrations have such a name, or a body of their own.
package struct TemplateSet: Sendable {
    private var templates: [String: HubTemplate] = [:]
    /// Templates a set may have.
    package static let most = 10_000
    static let longestName = 120

    /// With none: registrations with bodies of their own need no other.
    package init() {}

    package var names: [String] { templates.keys.sorted() }

    package subscript(name: String) -> HubTemplate? { templates[name] }

    /// Adds a template.
    ///
    /// - Parameter place: where its name stands, for messages.
    /// - Throws: for a name that is there already, or cannot be one: it has 1 to 120 characters, no control characters among them,
    ///   and does not begin with `{`, as a body does.
    package mutating func add(_ template: HubTemplate, name: String, place: String) throws(AudienceError) {
        let isName =
            !name.isEmpty && name.utf8.count <= Self.longestName && name.utf8.first != 0x7B
            && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        guard isName else {
            throw AudienceError(
                "\(place): \"\(HubText.short(name))\" as a template's name; expected 1 to \(Self.longestName) characters, "
                    + "the first not '{'")
        }
        guard templates[name] == nil else { throw AudienceError("\(place): the template \"\(name)\" is there twice") }
        guard templates.count < Self.most else {
            throw AudienceError("\(place): the template \"\(name)\" is one too many; at most \(Self.most)")
        }
        templates[name] = template
    }

    // MARK: What registrations make of it

    /// Renders every template that registrations ask for, each once.
    ///
    /// - Parameter uses: one for each distinct template; further ones with the same text are passed over.
    package func render(_ uses: some Sequence<TemplateUse>, _ bag: PropertyBag, pushType: PushType = .alert)
        -> TemplateRendering
    {
        var rendering = TemplateRendering()
        var seen: Set<[UInt8]> = []
        for use in uses where seen.insert(Array(use.template.utf8)).inserted {
            do throws(AudienceError) {
                let template = try template(use)
                do throws(AudienceError) {
                    let json = try template.payload(bag, pushType: pushType)
                    rendering.rendered.append(RenderedTemplate(use: use, template: template, json: json))
                } catch {
                    throw use.isBody ? error : AudienceError("\(use.registration): \(error)")
                }
            } catch {
                rendering.failed += 1
                if rendering.problems.count < TemplateRendering.mostProblems { rendering.problems.append(error) }
            }
        }
        return rendering
    }

    /// - Throws: `registrations.csv:17: …`
    package func template(_ use: TemplateUse) throws(AudienceError) -> HubTemplate {
        if use.isBody { return try HubTemplate(parsing: use.template, name: "\(use.registration): template") }
        if let template = templates[use.template] { return template }
        let shown = HubText.short(use.template)
        guard !templates.isEmpty else {
            throw AudienceError("\(use.registration): no template \"\(shown)\": none was given")
        }
        // Looking through more takes longer than the hint is worth.
        let near = templates.count > 500 ? nil : NearestName.of(String(use.template.prefix(40)), among: names)
        let known = names.prefix(10).joined(separator: ", ") + (templates.count > 10 ? " …" : "")
        throw AudienceError(
            "\(use.registration): no template \"\(shown)\"; "
                + (near.map { "did you mean \"\($0)\"?" } ?? "there are \(known)"))
    }
}

/// A template as registrations have it, with one of them.
package struct TemplateUse: Sendable, Equatable {
    /// The template's name; if it begins with `{`, its body.
    package let template: String
    /// One registration that has it, as `registrations.csv:17`.
    package let registration: String

    package init(_ template: String, registration: String) {
        self.template = template
        self.registration = registration
    }

    package var isBody: Bool { template.utf8.first == 0x7B }
}

/// What came of a set's templates.
package struct TemplateRendering: Sendable {
    /// In the order of the uses, without those that failed.
    package fileprivate(set) var rendered: [RenderedTemplate] = []
    /// One a template that failed, the first 100: `registrations.csv:17: templates/news.json:1:19: …`.
    package fileprivate(set) var problems: [AudienceError] = []
    /// How many templates failed.
    package fileprivate(set) var failed = 0
    static let mostProblems = 100
}

/// A template bound to a property bag.
package struct RenderedTemplate: Sendable {
    package let use: TemplateUse
    package let template: HubTemplate
    /// The payload without its trace tag, for `PayloadTemplate(json:)`.
    package let json: String
}
