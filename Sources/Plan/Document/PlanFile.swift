import Foundation
import Results
import Settings

/// Writing plans; reading and writing the calibrations they are made from.
enum PlanFile {
    /// The plan as JSON text: sorted keys, pretty-printed, ending with a newline.
    static func encode(_ plan: PlanDocument) throws(ResultError) -> [UInt8] { try DocumentFile.encode(plan, "plan") }

    /// Writes the whole calibration or nothing.
    static func write(_ calibration: CalibrationDocument, to path: String) throws(ResultError) {
        try ResultFile.write(try DocumentFile.encode(calibration, "calibration"), to: path)
    }

    static func readCalibration(_ path: String) throws(ResultError) -> CalibrationDocument {
        let bytes = try ResultFile.contents(
            path, hint: "expected a calibration, as pushload plan --calibration writes it")
        let schema = try DocumentFile.schema(bytes, origin: path) ?? ""
        guard schema.hasPrefix("pushload.calibration/") else {
            throw ResultError("\(path): not a pushload calibration: \"schema\" is missing or foreign")
        }
        guard schema == CalibrationDocument.currentSchema else {
            throw ResultError("\(path): schema \(schema); this version reads \(CalibrationDocument.currentSchema)")
        }
        let calibration: CalibrationDocument = try DocumentFile.decode(bytes, origin: path)
        for (index, sample) in calibration.samples.enumerated() {
            if let field = sample.implausible {
                throw ResultError("\(path): samples[\(index)].\(field): no such number can have been measured")
            }
        }
        return calibration
    }
}
