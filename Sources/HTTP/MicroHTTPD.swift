import CMicroHTTPD
import Linux

/// libmicrohttpd, which is loaded when something first serves HTTP.
///
/// Its functions never change, which Swift can't tell of variadic ones.
struct MicroHTTPD: @unchecked Sendable {
    /// Its functions, by their names in C.
    let mhd: cmicrohttpd

    private static let loaded: Result<MicroHTTPD, MissingLibrary> =
        SystemLibrary.load(
            "libmicrohttpd.so.12",
            package: SystemLibrary.hasRenamedPackages ? "libmicrohttpd12t64" : "libmicrohttpd12",
            cmicrohttpd_find
        ).map(MicroHTTPD.init)

    /// The library, or the error that it can't be loaded.
    static func load() throws(MissingLibrary) -> MicroHTTPD { try loaded.get() }

    /// What it returns where the connection goes on, or ends.
    static let (yes, no) = (UInt32(cmicrohttpd_yes), UInt32(cmicrohttpd_no))
}

/// A connection, as the library names it: a number for us, which only the library looks behind.
struct ConnectionPointer: @unchecked Sendable, Hashable {
    let raw: OpaquePointer
}
