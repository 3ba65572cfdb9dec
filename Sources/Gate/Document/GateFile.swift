import Results

/// Writing the outcomes of gates.
enum GateFile {
    /// The outcome as JSON text: sorted keys, pretty-printed, ending with a newline.
    static func encode(_ gate: GateDocument) throws(ResultError) -> [UInt8] {
        try DocumentFile.encode(gate, "gate's outcome")
    }
}
