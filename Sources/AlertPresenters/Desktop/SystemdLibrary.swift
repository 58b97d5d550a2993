import CSystemd
import Linux

/// libsystemd, which is loaded when something first needs it.
enum SystemdLibrary {
    private static let loaded: Result<csystemd, MissingLibrary> =
        SystemLibrary.load("libsystemd.so.0", package: "libsystemd0", csystemd_find)

    /// Its functions, by their names in C.
    ///
    /// - Throws: ``BusError/noLibrary(_:)``.
    static func functions() throws(BusError) -> csystemd {
        do { return try loaded.get() } catch { throw .noLibrary(error) }
    }

    static var isThere: Bool {
        if case .success = loaded { true } else { false }
    }
}
