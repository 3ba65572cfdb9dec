import Glibc

/// The index beside a registrations file, `FILE.index`: used when it is of the file as it is, made anew otherwise.
enum IndexStore {
    static func path(of file: String) -> String { file + ".index" }

    /// - Parameter tagLimit: how many different tags get a bitmap each, when the index is made.
    /// - Parameter isNew: it is made anew, whatever is there.
    /// - Returns: the index; whether it was made now; and a note when it could not be kept.
    /// - Throws: what is wrong with the file.
    static func index(
        of file: MappedFile, tagLimit: Int = IndexLayout.mostTags, isNew: Bool = false, progress: ((UInt64) -> Void)?
    ) throws(AudienceError) -> (index: RegistrationIndex, isNew: Bool, note: String?) {
        let path = path(of: file.path)
        TemporaryFile.removeLeftovers(of: path)
        if !isNew, let index = RegistrationIndex.open(path, of: file.fingerprint) { return (index, false, nil) }
        let changed = AudienceError(
            "\(file.path): changed while it was indexed; expected a file that nobody writes to meanwhile")
        // A change within the same tick of the clock as the last one could not be seen.
        file.settle()
        guard file.isUnchanged else { throw changed }
        madvise(UnsafeMutableRawPointer(mutating: file.base), file.size, MADV_SEQUENTIAL)
        let contents = try build(file, tagLimit, progress)
        madvise(UnsafeMutableRawPointer(mutating: file.base), file.size, MADV_NORMAL)
        guard file.isUnchanged else { throw changed }
        if IndexWriter.write(contents, file.fingerprint, to: path, mode: file.mode | S_IWUSR | S_IRUSR) {
            if let index = RegistrationIndex.open(path, of: file.fingerprint) { return (index, true, nil) }
            errno = EIO
        }
        let note =
            "cannot write the index \(path): \(FileIO.reason); it is kept in memory, and made again the next time"
        guard let memory = IndexWriter.memory(contents, file.fingerprint),
            let index = RegistrationIndex(memory, of: file.fingerprint)
        else { throw AudienceError("\(file.path): not enough memory for its index") }
        return (index, true, note)
    }

    private static func build(
        _ file: MappedFile, _ tagLimit: Int, _ progress: ((UInt64) -> Void)?
    ) throws(AudienceError) -> IndexContents {
        let builder = IndexBuilder(try RegistrationReader(file), tagLimit: tagLimit)
        do throws(AudienceError) {
            try builder.read(progress: progress)
        } catch {
            // What was read half is not a mistake of who wrote the file.
            guard file.isUnchanged else {
                throw AudienceError("\(error) (and the file has changed since it was opened)")
            }
            throw error
        }
        return builder.sections()
    }
}
