import Dispatch

// A user of the library as a process of its own: it reads one JSON object a line, does what that
// says with one manager, and prints one JSON object a line. See `Session` for the requests.
Task.detached { await Session.main() }
dispatchMain()
