/// Writing the outcomes of gates.
package enum GateFile {
    /// The outcome as JSON text: sorted keys, pretty-printed, ending with a newline.
    package static func encode(_ gate: GateDocument) throws(ResultError) -> [UInt8] {
        try DocumentFile.encode(gate, "gate's outcome")
    }
}
