import Foundation

/// The JSON Schema (draft 2020-12) of scenario files, for editors; made of `ScenarioKey`.
public enum ScenarioSchema {
    public static var text: String {
        var properties: [String: Any] = [
            "include": [
                "description": "Scenario files this one builds on, from where it lies.",
                "oneOf": [["type": "string"], ["type": "array", "items": ["type": "string"]]],
            ] as [String: Any]
        ]
        for key in ScenarioKey.all {
            var property = special[key.name] ?? type(key.kind)
            property["description"] = key.help
            properties[key.name] = property
        }
        let schema: [String: Any] = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "pushload scenario", "type": "object",
            "additionalProperties": false, "properties": properties,
            "patternProperties": ["^x-": ["description": "Nothing of pushload's: what aliases repeat."]],
        ]
        let data = try? JSONSerialization.data(
            withJSONObject: schema, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        return data.map { String(decoding: $0, as: UTF8.self) + "\n" } ?? ""
    }

    private static func type(_ kind: ScenarioKey.Kind) -> [String: Any] {
        let number = "^[0-9][0-9_]*(\\.[0-9]+)?"
        switch kind {
        case .text: return ["type": ["string", "number"]]
        case .count: return ["type": ["integer", "string"], "pattern": number + "[kKmMgG]?$"]
        case .number: return ["type": ["integer", "string"]]
        case .rate: return ["type": ["number", "string"], "pattern": number + "[kKmM]?(/s)?$"]
        case .duration: return zeroOr("^([0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h))+$")
        case .bytes: return zeroOr(number + "([kKmMgG][iI]?)?[bB]$")
        case .flag: return ["type": "boolean"]
        case .list: return ["oneOf": [["type": "string"], ["type": "array", "items": ["type": "string"]]]]
        case .choice(let choices): return ["enum": choices + choices.compactMap(Double.init).map { $0 as Any } as [Any]]
        }
    }

    /// Keys that take maps too.
    private static var special: [String: [String: Any]] {
        let text: [String: Any] = ["type": ["string", "number", "boolean"]]
        let pairs: [String: Any] = ["type": "object", "additionalProperties": text]
        let send: [String: Any] = [
            "type": "object", "additionalProperties": false, "required": ["name", "audience"],
            "properties": [
                "name": ["type": ["string", "number"]] as [String: Any], "audience": ["type": "string"],
                "start": type(.duration), "priority": ["enum": [10, 5, 1]], "profile": ["type": "string"],
                "template": ["type": "string"], "properties": pairs,
            ] as [String: Any],
        ]
        let texts: [String: Any] = ["type": "array", "items": ["type": "string"]]
        let devices: [String: Any] = [
            "type": "object", "additionalProperties": false, "required": ["registrations"],
            "properties": [
                "registrations": ["type": "string"], "audience": ["type": "string"],
                "environment": ["enum": Scenario.environments],
            ] as [String: [String: Any]],
        ]
        return [
            "devices": ["oneOf": [type(.count), devices]],
            "properties": ["oneOf": [["type": "string"], texts, pairs]],
            "sends": ["oneOf": [send, ["type": "array", "items": send] as [String: Any]]],
        ]
    }

    private static func zeroOr(_ pattern: String) -> [String: Any] {
        ["oneOf": [["const": 0] as [String: Any], ["type": "string", "pattern": pattern]]]
    }
}
