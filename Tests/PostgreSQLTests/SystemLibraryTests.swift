import CLinux
import Linux
import TestSupport
import Testing

@Suite("System library", .inParallel)
struct SystemLibraryTests {
    private func load(_ file: String, lacking function: StaticString? = nil) -> MissingLibrary? {
        let result: Result<Int, MissingLibrary> = SystemLibrary.load(file, package: "libc6") {
            (_, functions) in
            functions.initialize(to: 7)
            return function.map {
                UnsafeRawPointer($0.utf8Start).assumingMemoryBound(to: CChar.self)
            }
        }
        switch result {
        case .success(let value):
            #expect(value == 7)
            return nil
        case .failure(let error): return error
        }
    }

    @Test("A library that is there is loaded")
    func there() { #expect(load("libc.so.6") == nil) }

    @Test("One that is not there, or lacks a function, is named with its package")
    func missing() throws {
        let absent = "\(try #require(load("libnowhere.so.1")))"
        #expect(absent.contains("libnowhere.so.1: cannot open shared object file"))
        #expect(absent.hasSuffix("on Debian: apt-get install libc6"))
        let old = "\(try #require(load("libc.so.6", lacking: "c_new_function")))"
        #expect(old.contains("libc.so.6") && old.contains("c_new_function"))
        #expect(old.hasSuffix("apt-get install libc6"))
    }

    @Test("A program that a dynamic linker has started is no static executable")
    func dynamic() { #expect(!clinux_is_static()) }
}
