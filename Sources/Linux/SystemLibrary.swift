import CLinux
import Glibc

/// Why a library of the system can't be used.
package enum MissingLibrary: Error, Sendable, Hashable {
    /// dlopen(3) failed, mostly because it is not installed.
    case notLoaded(_ reason: String, package: String)
    /// It is too old, and lacks a function.
    case lacks(_ function: String, file: String, package: String)
    /// The program is a static executable, which has no dynamic linker.
    case staticExecutable(file: String)
}

extension MissingLibrary: CustomStringConvertible {
    /// What is needed, after a subject, and how to get it.
    package var description: String {
        switch self {
        case .notLoaded(let reason, let package):
            "needs a library that can't be loaded (\(reason)); on Debian: apt-get install \(package)"
        case .lacks(let function, let file, let package):
            "needs \(file) with the function \(function), which this one lacks; on Debian, for a "
                + "newer one: apt-get install \(package)"
        case .staticExecutable(let file):
            "needs \(file), and this alertq is a static executable, which loads no libraries; use "
                + "one that was built without -static-executable"
        }
    }
}

/// Libraries that a program loads when something first needs them; see dlopen(3).
///
/// Linked with the program, they would be loaded by every verb, with those that they need
/// themselves: with libpq or libsystemd, many verbs would take longer to load than to run.
package enum SystemLibrary {
    /// Loads a library for as long as the process lives, and finds its functions.
    ///
    /// - Parameters:
    ///   - file: Its name with the version of its interface, such as `libpq.so.5`.
    ///   - package: The Debian package that has it.
    ///   - find: Stores the functions of a library, and returns the name of one that it lacks, or
    ///     `nil`.
    package static func load<Functions>(
        _ file: String, package: String,
        _ find: (UnsafeMutableRawPointer, UnsafeMutablePointer<Functions>) -> UnsafePointer<CChar>?
    ) -> Result<Functions, MissingLibrary> {
        guard !clinux_is_static() else { return .failure(.staticExecutable(file: file)) }
        guard let library = dlopen(file, RTLD_NOW | RTLD_LOCAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? file
            return .failure(.notLoaded(reason, package: package))
        }
        let functions = UnsafeMutablePointer<Functions>.allocate(capacity: 1)
        defer { functions.deallocate() }
        if let name = find(library, functions) {
            return .failure(.lacks(String(cString: name), file: file, package: package))
        }
        return .success(functions.pointee)
    }

    /// Whether this release calls packages of some libraries “…t64”: Debian since 13, Ubuntu since
    /// 24.04. See <https://wiki.debian.org/ReleaseGoals/64bit-time> and os-release(5).
    package static var hasRenamedPackages: Bool {
        let lines = LinuxFile.whole("/etc/os-release")
            .split(separator: "\n")
        let version = lines.first { $0.hasPrefix("VERSION_ID=") }?.drop { !$0.isNumber }
        // What has no number is newer than what has one.
        guard let release = version.flatMap({ Int($0.prefix { $0.isNumber }) }) else { return true }
        return release >= (lines.contains("ID=ubuntu") ? 24 : 13)
    }
}
