import Foundation
import Results
import Settings

/// Writing plans; reading and writing the calibrations they are made from.
enum PlanFile {
    /// The plan as JSON text: sorted keys, pretty-printed, ending with a newline.
    static func encode(_ plan: PlanDocument) throws(ResultError) -> [UInt8] { try text(plan, "plan") }

    /// Writes the whole calibration or nothing.
    static func write(_ calibration: CalibrationDocument, to path: String) throws(ResultError) {
        try ResultFile.write(try text(calibration, "calibration"), to: path)
    }

    static func readCalibration(_ path: String) throws(ResultError) -> CalibrationDocument {
        let data = Data(
            try ResultFile.contents(path, hint: "expected a calibration, as pushload plan --calibration writes it"))
        guard let object = try? JSONSerialization.jsonObject(with: data) else {
            throw ResultError("\(path): \(UnreadableJSON.why(data))")
        }
        let schema = (object as? [String: Any])?["schema"] as? String ?? ""
        guard schema.hasPrefix("pushload.calibration/") else {
            throw ResultError("\(path): not a pushload calibration: \"schema\" is missing or foreign")
        }
        guard schema == CalibrationDocument.currentSchema else {
            throw ResultError("\(path): schema \(schema); this version reads \(CalibrationDocument.currentSchema)")
        }
        let calibration: CalibrationDocument
        do {
            calibration = try JSONDecoder().decode(CalibrationDocument.self, from: data)
        } catch {
            throw ResultError("\(path): a field is missing or has the wrong type")
        }
        for (index, sample) in calibration.samples.enumerated() {
            if let field = sample.implausible {
                throw ResultError("\(path): samples[\(index)].\(field): no such number can have been measured")
            }
        }
        return calibration
    }

    private static func text(_ value: some Encodable, _ what: String) throws(ResultError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value)) + [0x0A]
        } catch {
            throw ResultError("cannot write the \(what) as JSON: \(error)")
        }
    }
}
